import { describe, expect } from 'vitest'
import { expectGpuError, type Suite } from './suite.ts'

const stores = (condition: string) => `
  @group(0) @binding(0) var<storage, read_write> x: array<u32>;
  @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { ${condition} x[id.x] = id.x; }`

export function describeDebug(suite: Suite): void {
  describe('a group with debug', () => {
    suite.test('names a dispatch of more invocations than its view has elements', async (suite) => {
      const group = await suite.open({ debug: true })
      const kernel = await group.compile({ label: 'squares', wgsl: stores('') })
      const x = await group.devices[0]!.allocate('u32', 192, { label: 'x' })
      const record = (workgroups: number, length: number) =>
        group.record((r) => r.dispatch(kernel, { workgroups, args: { x: x.slice(0, length) } }))
      const reaches = 'Each accesses x[global_invocation_id.x], and the view has'
      await expectGpuError(
        () => record(1, 10),
        'validation',
        `The dispatch "squares" runs 64 invocations in x. ${reaches} 10 elements: no workgroup of 64 fits.`,
      )
      await expectGpuError(
        () => record(3, 191),
        'validation',
        `${reaches} 191 elements: at most 2 workgroups fit in x.`,
      )
      const fits = record(3, 192)
      await group.queue.run(fits)
      expect(await group.queue.read(x)).toEqual(Uint32Array.from({ length: 192 }, (_, i) => i))
      for (const resource of [fits, kernel, x]) resource.destroy()
      expect(await group.destroy()).toEqual({ leaks: [] })
    })

    suite.test('lets kernels run that compare the index with the length', async (suite) => {
      const group = await suite.open({ debug: true })
      const kernel = await group.compile({ wgsl: stores('if (id.x >= arrayLength(&x)) { return; }') })
      const x = await group.devices[0]!.allocate('u32', 10)
      const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
      await group.queue.run(program)
      expect(await group.queue.read(x)).toEqual(Uint32Array.from({ length: 10 }, (_, i) => i))
      for (const resource of [program, kernel, x]) resource.destroy()
      expect(await group.destroy()).toEqual({ leaks: [] })
    })

    suite.test(
      'traps where the devices can, and says what it does not check where they cannot',
      async (suite) => {
        const group = await suite.open({ debug: true })
        const { reason } = group.selection
        if (group.devices.every(({ features }) => features.has('trap'))) {
          expect(reason).toContain('With debug, kernels trap')
          const kernel = await group.compile({
            wgsl: stores('').replace('x[id.x]', 'x[id.x * 2u]'),
            label: 'even',
          })
          const x = await group.devices[0]!.allocate('u32', 100)
          const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
          await expectGpuError(() => group.queue.run(program), 'validation', 'even')
        } else
          expect(reason).toContain(
            'other indices are not checked, because these devices do not support bounds "trap"',
          )
        await group.destroy()
      },
    )
  })
}
