// Writes the document of scans, histograms, sorts and transforms, which docs/performance/primitives.md
// quotes, from JSON lines, and prints its tables:
//   cat *.jsonl | node tools/gpu-host/primitives-table.ts [--out TABLE.json --machine NAME --commit ID]
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { figures } from './figures.ts'
import type { PrimitivesFigure, PrimitivesTable } from './table-documents.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    machine: { type: 'string', default: 'unknown' },
    commit: { type: 'string', default: 'unknown' },
  },
})
const { out = 'no file', machine, commit } = values
const results = readFileSync(0, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line): PrimitivesFigure => JSON.parse(line))
const date = new Date().toISOString()
const table: PrimitivesTable = { kind: 'primitives', date, commit, machine, results }
for (const name of ['vectors', 'fft', 'several']) console.log(figures(name, table, out))
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(table, null, 1)}\n`)
