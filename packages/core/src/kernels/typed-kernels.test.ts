import { expect, it } from 'vitest'
import type { BufferView } from '../group/device.ts'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { compileAll } from './compile-all.ts'
import type { CompileOptions } from './kernel.ts'
import type { Parameter } from './parameter.ts'

/** As `tandem-wgsl` writes it. */
type ScaleArguments = {
  readonly x: BufferView<'f32'>
  readonly x_length?: number | Parameter
  readonly alpha: number | Parameter
}
const scale: CompileOptions<ScaleArguments> = {
  label: 'scale',
  wgsl: `
    struct Params { x_length: u32, alpha: f32 }
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @group(0) @binding(1) var<uniform> params: Params;
    @compute @workgroup_size(64) fn scale(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < params.x_length) { x[id.x] *= params.alpha; }
    }`,
}

// The compiler checks this file: if one of the marked lines were correct, `tsc -b` would fail.
it('TypeScript checks the arguments of a typed kernel, but not those of a string', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const typed = await group.compile(scale)
  const untyped = await group.compile({ wgsl: scale.wgsl })
  const { kernels } = await compileAll(group, { scale, none: undefined })
  const x = await group.devices[0]!.allocate('f32', 4)
  const wrong = await group.devices[0]!.allocate('u32', 4)
  await group.queue.write(x, new Float32Array([1, 2, 3, 4]))
  const program = group.record((r) => {
    r.dispatch(typed, { workgroups: 1, args: { x, alpha: 2 } })
    r.dispatch(kernels.scale, { workgroups: 1, args: { x, alpha: r.parameter('alpha', 'f32', 5) } })
    r.dispatch(untyped, { workgroups: 1, args: { x, alpha: 1 } })
  })
  await group.queue.run(program)
  expect([...(await group.queue.read(x))]).toEqual([10, 20, 30, 40])
  const record = (body: Parameters<typeof group.record>[0]) => () => group.record(body)
  expect(
    record((r) => {
      // @ts-expect-error: a name that the kernel does not have.
      r.dispatch(typed, { workgroups: 1, args: { x, tpyo: 1 } })
    }),
  ).toThrow('an argument "tpyo"')
  expect(
    record((r) => {
      // @ts-expect-error: alpha is missing.
      r.dispatch(kernels.scale, { workgroups: 1, args: { x } })
    }),
  ).toThrow('has no value for uniform member alpha')
  expect(
    record((r) => {
      // @ts-expect-error: a buffer of another type.
      r.dispatch(typed, { workgroups: 1, args: { x: wrong, alpha: 1 } })
    }),
  ).toThrow('holds u32')
  expect(record((r) => r.dispatch(untyped, { workgroups: 1, args: { x, tpyo: 1 } }))).toThrow(
    'an argument "tpyo"',
  )
  await group.destroy()
})
