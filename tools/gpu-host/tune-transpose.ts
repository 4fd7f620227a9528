/*
 * Times the transpose's choices on this machine: transport, gathering tiles, pieces a tile, arrival slots, and how programs become CUDA graphs.
 *   node tools/gpu-host/tune-transpose.ts [SIDES, default 8192,32768] [DEVICES, default all]
 * The matrix holds a repeated block of random elements; results are the table's to verify.
 */
import {
  allocateSharded,
  compileTranspose,
  type GatherTile,
  gatherTileNames,
  type RecordTransposeOptions,
  recordTranspose,
  writeSharded,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'

const sides = (process.argv[2] ?? '8192,32768').split(',').map(Number)
interface Choice extends Pick<RecordTransposeOptions<'f32'>, 'transport' | 'piecesPerTile' | 'arrivalSlots'> {
  readonly gatherTile?: GatherTile
}
const choices: Choice[] = [
  { transport: 'direct' },
  ...gatherTileNames.map((gatherTile) => ({ transport: 'gather' as const, gatherTile })),
  ...[1, 2, 4, 8].map((piecesPerTile) => ({ transport: 'copy' as const, piecesPerTile })),
  ...[2, 3].map((arrivalSlots) => ({ transport: 'copy' as const, piecesPerTile: 4, arrivalSlots })),
]

for (const lowering of ['graph-per-gpu', 'one-graph'] as const) {
  const group = await openGroup({
    backends: [cuda({ lowering })],
    ...(process.argv[3] === undefined ? {} : { devices: Number(process.argv[3]) }),
  })
  for (const side of sides) {
    const input = await allocateSharded(group, 'f32', side, side)
    const block = Float32Array.from({ length: 1_048_573 }, Math.random)
    await writeSharded(group, input, (_, into) => {
      for (let at = 0; at < into.length; at += block.length)
        into.set(block.subarray(0, Math.min(block.length, into.length - at)), at)
    })
    const output = await allocateSharded(group, 'f32', side, side)
    for (const choice of choices) {
      const kernel = await compileTranspose(group, 'f32', undefined, choice.gatherTile)
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
      if (process.argv[4] === 'spans' && choice.piecesPerTile === 4) {
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
