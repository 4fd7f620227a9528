import { expect, test } from 'vitest'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { kernelKey } from './compile-kernel.ts'

test('kernels whose constants differ have different keys', () => {
  const values = [0, -0, 1, true, false, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const keys = values.map((value) => kernelKey({ wgsl: '', constants: { c: value } }))
  expect(new Set(keys).size).toBe(values.length)
  expect(kernelKey({ wgsl: '', constants: { a: 1, b: 2 } })).toBe(
    kernelKey({ wgsl: '', constants: { b: 2, a: 1 } }),
  )
})

test('a constant of -0 does not get the kernel of 0', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const wgsl = `
    override sign: f32;
    @group(0) @binding(0) var<storage, read_write> bits: array<u32>;
    @compute @workgroup_size(1) fn main() { bits[0] = bitcast<u32>(sign); }`
  const bits = await group.devices[0]!.allocate('u32', 1)
  for (const sign of [0, -0, 0]) {
    const kernel = await group.compile({ wgsl, constants: { sign } })
    await group.queue.run(group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { bits } })))
    expect((await group.queue.read(bits))[0]).toBe(Object.is(sign, -0) ? 0x8000_0000 : 0)
  }
  await group.destroy()
})

test('the number of workgroups per multiprocessor is a whole number, and distinguishes kernels', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const wgsl = '@compute @workgroup_size(1) fn main() {}'
  for (const workgroupsPerMultiprocessor of [0, 1.5, 33])
    await expect(group.compile({ wgsl, workgroupsPerMultiprocessor })).rejects.toMatchObject({
      code: 'validation',
      message: expect.stringMatching(/it must be a whole number from 1 to 32/),
    })
  const kernels = [
    await group.compile({ wgsl }),
    await group.compile({ wgsl, workgroupsPerMultiprocessor: 2 }),
  ]
  for (const kernel of kernels) kernel.destroy()
  expect(kernelKey({ wgsl, workgroupsPerMultiprocessor: 2 })).not.toBe(kernelKey({ wgsl }))
  expect(await group.destroy()).toEqual({ leaks: [] })
})
