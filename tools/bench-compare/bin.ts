import { readFileSync } from 'node:fs'
import { compareDocuments, parseBenchDocument } from './compare.ts'

/*
 * node tools/bench-compare/bin.ts BEFORE.json AFTER.json [TOLERANCE]
 * Exit 0: no ratio against a peer or limit fell by more than TOLERANCE (0.05). 1: one did. 2: bad usage or files.
 */
const [beforePath, afterPath, toleranceText = '0.05'] = process.argv.slice(2)
const tolerance = Number(toleranceText)
if (beforePath === undefined || afterPath === undefined || !(tolerance >= 0 && tolerance < 1)) {
  console.error('usage: bench-compare BEFORE.json AFTER.json [TOLERANCE, 0 to 1, default 0.05]')
  process.exit(2)
}
try {
  const [before, after] = [beforePath, afterPath].map((path) =>
    parseBenchDocument(readFileSync(path, 'utf8'), path),
  ) as [ReturnType<typeof parseBenchDocument>, ReturnType<typeof parseBenchDocument>]
  const rows = compareDocuments(before, after, tolerance)
  if (rows.length === 0) throw new Error(`${beforePath} holds no result that a peer computes too`)
  for (const row of rows) {
    const change = row.change === undefined ? 'missing' : `${(100 * row.change).toFixed(1)} %`
    console.log(
      `${row.failed ? 'FELL' : 'ok  '} ${row.key}: ${row.before.toFixed(3)} -> ${row.after?.toFixed(3) ?? '-'} (${change})`,
    )
  }
  const failed = rows.filter((row) => row.failed).length
  console.log(`${rows.length - failed} held, ${failed} fell by more than ${100 * tolerance} %`)
  process.exitCode = failed > 0 ? 1 : 0
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
}
