/*
 * Times the transpose's choices on this machine: transport, and how programs become CUDA graphs.
 *   node tools/gpu-host/tune-transpose.ts [SIDES, default 32768,8192] [DEVICES, default all]
 * The matrix holds a repeated block of random elements; results are the table's to verify.
 */
import {
  allocateSharded,
  compileTranspose,
  type RecordTransposeOptions,
  recordTranspose,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'

const sides = (process.argv[2] ?? '32768,8192').split(',').map(Number)
const choices: Pick<RecordTransposeOptions<'f32'>, 'transport'>[] = [
  { transport: 'direct' },
  { transport: 'scatter' },
  { transport: 'copy' },
]

for (const lowering of ['auto', 'graph-per-gpu', 'one-graph'] as const) {
  const group = await openGroup({
    backends: [cuda({ lowering })],
    ...(process.argv[3] === undefined ? {} : { devices: Number(process.argv[3]) }),
  })
  for (const side of sides) {
    const input = await allocateSharded(group, 'f32', side, side)
    const block = Float32Array.from({ length: Math.min(64, side) * side }, Math.random)
    for (const { view } of input.slices)
      await group.queue.write(
        view.block(0, 0, Math.min(64, view.rows), side),
        block.subarray(0, Math.min(64, view.rows) * side),
      )
    // Doubled on the devices: from the host it would take longer than all measurements.
    const repeat = group.record((r) => {
      for (const { view } of input.slices)
        for (let rows = 64; rows < view.rows; rows *= 2) {
          const count = Math.min(rows, view.rows - rows)
          r.copy(view.block(0, 0, count, side), view.block(rows, 0, count, side))
        }
    })
    await group.queue.run(repeat)
    repeat.destroy()
    const output = await allocateSharded(group, 'f32', side, side)
    for (const choice of choices) {
      const kernel = await compileTranspose(group, 'f32', undefined, choice.transport === 'scatter')
      const program = group.record(
        (r) => void recordTranspose(r, group, { ...choice, kernel, input, output }),
      )
      await group.queue.run(program, 3)
      const samples = []
      for (let i = 0; i < 7; i++) samples.push((await group.queue.run(program, 5)).seconds / 5)
      samples.sort((a, b) => a - b)
      console.log(
        `${side} on ${group.devices.length} ${lowering} ${JSON.stringify(choice)}: ${(samples[3]! * 1e3).toFixed(4)} ms (${(samples[0]! * 1e3).toFixed(4)})`,
      )
      if (process.argv[4] === 'spans' && choice.transport === 'copy') {
        const { spans } = await group.queue.run(program, 1, { profile: true })
        for (const s of spans ?? [])
          console.log(
            `  ${s.device} ${(1e6 * s.startSeconds).toFixed(0)}..${(1e6 * s.endSeconds).toFixed(0)} ${s.label}`,
          )
      }
      program.destroy()
      kernel.destroy()
    }
    for (const matrix of [input, output]) matrix.destroy()
  }
  await group.destroy()
}
