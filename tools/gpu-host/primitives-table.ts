// Prints how Tandem compares with CUB and PyTorch, from JSON lines: cat *.jsonl | node tools/gpu-host/primitives-table.ts
// A ratio is the peer's time over Tandem's, both on one GPU; the target is the least ratio that is wanted.
import { readFileSync } from 'node:fs'

interface Figure {
  readonly work: string
  readonly by: string
  readonly elements: number
  readonly devices: number
  readonly seconds: number
}

/** By work, peer and binary logarithm of the elements. */
const targets: Readonly<Record<string, number>> = {
  'scan f32/CUB/28': 0.88,
  'scan f32/PyTorch, deterministic/28': 1.25,
  'histogram f32 even/CUB/28': 0.95,
  'sort u32/CUB/28': 0.67,
  'sort u32 pairs/CUB/28': 0.6,
  'sort u32 pairs/PyTorch/28': 0.85,
}

const figures = readFileSync(0, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Figure)
for (const own of figures.filter(({ by }) => by === 'Tandem')) {
  const rate = own.elements / own.seconds / 1e9
  const log = Math.log2(own.elements)
  console.log(
    `${own.work}, 2^${log}, ${own.devices} GPUs: ${(own.seconds * 1e6).toFixed(1)} µs, ${rate.toFixed(1)} Gelements/s`,
  )
  for (const peer of figures) {
    if (peer.by === 'Tandem' || peer.work !== own.work || peer.elements !== own.elements) continue
    const ratio = peer.seconds / own.seconds
    const target = own.devices === 1 ? targets[`${own.work}/${peer.by}/${log}`] : undefined
    const verdict = target === undefined ? '' : ` (target ${target}: ${ratio >= target ? 'met' : 'MISSED'})`
    console.log(`    ${peer.by} ${(peer.seconds * 1e6).toFixed(1)} µs: ratio ${ratio.toFixed(2)}${verdict}`)
  }
}
