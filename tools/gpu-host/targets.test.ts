import { describe, expect, it } from 'vitest'
import type { BenchResult } from '../../packages/cli/src/bench/document.ts'
import { targetsOf } from './targets.ts'

const result = (more: Partial<BenchResult>): BenchResult => ({
  work: 'transpose',
  variant: 'tandem cuda overlapped',
  devices: 4,
  shape: { rows: 2048, columns: 2048 },
  seconds: 20e-6,
  rate: 100,
  unit: 'B/s',
  verified: true,
  ...more,
})

describe('targetsOf', () => {
  it('holds each row against its bound, and leaves out what was not measured', () => {
    const peers = [result({ variant: 'PyTorch P2P', rate: 5 })]
    const rows = targetsOf({ ours: [result({})], peers })
    expect(rows.map((r) => [r.row, r.measured, r.met])).toEqual([
      ['transpose 2048², 4 GPUs', '20.0 µs', true],
      ['transpose 2048², 4 GPUs', '20.000', true],
    ])
    expect(targetsOf({ ours: [result({ seconds: 31e-6, rate: 70 })], peers }).map((r) => r.met)).toEqual([
      false,
      false,
    ])
  })
  it('says in every row that no check stands behind its results', () => {
    const peers = [result({ variant: 'PyTorch P2P', rate: 5 })]
    const rows = targetsOf({ ours: [result({ verified: false })], peers })
    expect(rows.map(({ measured }) => measured)).toEqual([
      '20.0 µs (not verified in this run)',
      '20.000 (not verified in this run)',
    ])
  })
})
