// Prints how Tandem compares with CUB, PyTorch and cuFFT, from JSON lines, and writes the document that docs/performance/primitives.md quotes:
//   cat *.jsonl | node tools/gpu-host/primitives-table.ts [--out TABLE.json --machine NAME --commit ID]
// A ratio is the peer's time over Tandem's, both on one GPU; the target is the least ratio that is wanted.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  comparedFigures,
  elementsText,
  type PrimitivesDocument,
  type PrimitivesFigure,
} from './primitives-figures.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    machine: { type: 'string', default: 'unknown' },
    commit: { type: 'string', default: 'unknown' },
  },
})
const results = readFileSync(0, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line): PrimitivesFigure => JSON.parse(line))
for (const { work, elements, devices, seconds, peers } of comparedFigures(results)) {
  const on = devices === 1 ? '' : `, ${devices} GPUs`
  const beside = peers.map(({ by, ratio, target }) => {
    const verdict = target === undefined ? '' : ` (${target.ratio}: ${target.met ? 'met' : 'MISSED'})`
    return `${by} ${ratio.toFixed(2)}${verdict}`
  })
  console.log(
    `${work}, ${elementsText(elements)}${on}: ${(seconds * 1e6).toFixed(1)} µs, ${(elements / seconds / 1e9).toFixed(1)} G/s; ${beside.join('; ')}`,
  )
}
if (values.out !== undefined) {
  const { machine, commit } = values
  const date = new Date().toISOString()
  const document: PrimitivesDocument = { schema: 1, kind: 'primitives', date, commit, machine, results }
  writeFileSync(values.out, `${JSON.stringify(document, null, 1)}\n`)
}
