import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { dispatchPersistent } from './dispatch-transpose.ts'
import { compileTranspose } from './transpose-kernels.ts'

describeOnBackends('kernels that work beside messages', (backend) => {
  it('transpose and copy any block with any number of workgroups, and write nothing else', async (context) => {
    const group = await backend.group(1)
    const { maxWorkgroupInvocations } = group.devices[0]!.limits
    if (maxWorkgroupInvocations < 1024)
      context.skip(`Workgroups of 1,024 invocations: this device takes ${maxWorkgroupInvocations}.`)
    const kernel = await compileTranspose(group, { type: 'u32', persistent: true })
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.integer({ min: 1, max: 200 }),
          columns: fc.integer({ min: 1, max: 200 }),
          gap: fc.nat(3),
          workgroups: fc.integer({ min: 1, max: 20 }),
          pass: fc.constantFrom('transpose', 'copy'),
          bindable: fc.boolean(),
        }),
        async ({ rows, columns, gap, workgroups, pass, bindable }) => {
          const [device] = group.devices
          const shape = pass === 'copy' ? ([rows, columns] as const) : ([columns, rows] as const)
          const input = await device!.allocate('u32', [rows, columns + gap])
          const output = await device!.allocate('u32', [shape[0] + 1, shape[1] + gap])
          const source = Uint32Array.from({ length: rows * (columns + gap) }, (_, i) => i + 1)
          await group.queue.write(input, source)
          const program = group.record((recorder) => {
            const limits = { maxStorageBindingByteLength: 4 * 64 * 256 }
            const from = input.block(0, 0, rows, columns)
            const to = output.block(0, 0, ...shape)
            const of = bindable ? withLimits(recorder, limits) : recorder
            const block = { device: 0, source: from, target: to, label: 'pass' }
            dispatchPersistent(of, kernel.persistent!, pass, block, workgroups)
          })
          await group.queue.run(program)
          const expected = new Uint32Array((shape[0] + 1) * (shape[1] + gap))
          for (let row = 0; row < rows; row++)
            for (let column = 0; column < columns; column++) {
              const [r, c] = pass === 'copy' ? [row, column] : [column, row]
              expected[r * (shape[1] + gap) + c] = source[row * (columns + gap) + column]!
            }
          expect(await group.queue.read(output)).toEqual(expected)
          for (const resource of [program, input, output]) resource.destroy()
        },
      ),
      { numRuns: 60 },
    )
    kernel.destroy()
  })
})
