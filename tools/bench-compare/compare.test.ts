import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { BenchDocument, BenchResult } from '../../packages/cli/src/bench/document.ts'
import { compareDocuments, parseBenchDocument, ratiosOf } from './compare.ts'

const result = (variant: string, rate: number, more: Partial<BenchResult> = {}): BenchResult => ({
  work: 'transpose',
  variant,
  devices: 4,
  shape: { rows: 2048, columns: 2048 },
  seconds: 1 / rate,
  rate,
  unit: 'B/s',
  verified: true,
  ...more,
})
const document = (ours: BenchResult[], peers: BenchResult[]): BenchDocument => ({
  schema: 1,
  kind: 'bench',
  date: '2026-11-20',
  commit: 'abc',
  machine: {},
  ours,
  peers,
})

describe('ratiosOf', () => {
  it('pairs results of the same work, shape and devices, whatever block either chose', () => {
    const ours = [result('tandem', 300, { shape: { columns: 2048, rows: 2048, tile: '32x32' } })]
    const peers = [
      result('PyTorch', 100),
      result('PyTorch', 100, { devices: 2 }),
      result('x', 1, { unit: 'FLOP/s' }),
    ]
    expect(ratiosOf(document(ours, peers)).map((r) => r.ratio)).toEqual([3])
  })
  it('leaves out what is not verified', () => {
    expect(ratiosOf(document([result('tandem', 300, { verified: false })], [result('PyTorch', 1)]))).toEqual(
      [],
    )
  })
})

describe('compareDocuments', () => {
  const before = document([result('tandem', 300)], [result('PyTorch', 100)])
  it('holds when a slower machine slows both', () => {
    const after = document([result('tandem', 150)], [result('PyTorch', 50)])
    expect(compareDocuments(before, after)[0]).toMatchObject({ failed: false, change: 0 })
  })
  it('fails on a ratio that fell by more than 5 %, and only then', () => {
    const fell = (rate: number) =>
      compareDocuments(before, document([result('tandem', rate)], [result('PyTorch', 100)]))
    expect(fell(286)[0]?.failed).toBe(false)
    expect(fell(284)[0]?.failed).toBe(true)
  })
  it('fails on a pair that is no longer measured', () => {
    expect(compareDocuments(before, document([], []))[0]).toMatchObject({ failed: true, after: undefined })
  })
})

describe('parseBenchDocument', () => {
  it('refuses other files and says why', () => {
    expect(() => parseBenchDocument('{', 'a.json')).toThrow(/a\.json is not JSON/)
    expect(() => parseBenchDocument('{"schema":2}', 'a.json')).toThrow(/schema 2/)
  })
})

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-compare-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, value: unknown) => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(value))
    return path
  }
  const bin = new URL('./bin.ts', import.meta.url).pathname
  const good = file('good.json', document([result('tandem', 300)], [result('PyTorch', 100)]))
  const bad = file('bad.json', document([result('tandem', 200)], [result('PyTorch', 100)]))
  it('exits 0 when ratios hold', () => {
    expect(execFileSync(process.execPath, [bin, good, good], { encoding: 'utf8' })).toContain(
      '1 held, 0 fell',
    )
  })
  it('exits 1 when one fell and 2 on a file that cannot be compared', () => {
    expect(spawnSync(process.execPath, [bin, good, bad]).status).toBe(1)
    expect(spawnSync(process.execPath, [bin, good, join(folder, 'none.json')]).status).toBe(2)
  })
})
