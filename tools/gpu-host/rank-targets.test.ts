import { describe, expect, it } from 'vitest'
import { type MeasuredRanks, rankTargetsOf } from './rank-targets.ts'

const result = (work: string, size: number, way: string, seconds: number) => ({
  work,
  size,
  way,
  seconds,
  rounds: [seconds],
})
const cost = { variant: '', side: 16384, seconds: 0.0475, withoutMessages: 0.047, messages: 0.002 }
const run = { variant: '', program: 'rows go round', repetitions: 1000 }

const rows = (measured: Partial<MeasuredRanks>) =>
  rankTargetsOf({ ranks: 4, results: [], rings: [], runs: [], ...measured }).map(
    ({ row, target, measured, met }) => `${row}: ${target}: ${measured} ${met}`,
  )

describe('rankTargetsOf', () => {
  it('holds transports against one process and against bounds', () => {
    const results = [
      result('jacobi', 16384, 'one', 56e-6),
      result('jacobi', 16384, 'ipc', 58e-6),
      result('jacobi', 16384, 'nccl', 65e-6),
      result('jacobi', 16384, 'NVIDIA nccl_graphs', 313e-6),
      result('transpose', 2048, 'ipc', 15.9e-6),
    ]
    expect(rows({ results })).toEqual([
      'Jacobi 16384², `ipc`: ≤ 1.05 × one process: 1.036 true',
      'Jacobi 16384², `nccl`: ≤ 1.15 × one process: 1.161 false',
      'transpose 2048², `ipc`: ≤ 16 µs: 15.9 true',
      'Jacobi 16384², `nccl`: ≥ 4.8 × NVIDIA’s `nccl_graphs`: 4.82 × true',
    ])
    expect(rows({ results: results.filter(({ way }) => way !== 'one') })).toHaveLength(2)
  })
  it('calls nothing met or missed that was measured with other than four ranks', () => {
    const results = [result('jacobi', 2048, 'ipc', 5e-6), result('jacobi', 2048, 'nccl', 9e-6)]
    expect(rankTargetsOf({ ranks: 2, results, rings: [], runs: [] })).toEqual([
      { row: 'Jacobi 2048², `ipc`', target: '≤ 6.5 µs', measured: '5.0' },
      { row: 'Jacobi 2048², `nccl`', target: '≤ 8 µs', measured: '9.0' },
    ])
  })
  it('wants gpu-aware to be quicker than the sample over MPI', () => {
    const results = [
      result('jacobi', 2048, 'gpu-aware', 34e-6),
      result('jacobi', 2048, 'NVIDIA mpi', 33.8e-6),
    ]
    expect(rows({ results })).toEqual([
      'Jacobi 2048², `gpu-aware`: quicker than NVIDIA’s `mpi`: 0.99 × false',
    ])
  })
  it('says what a ring hides and what a run costs, by the median of the rounds', () => {
    const rings = [0.5, 0.75, 0.95].map((hidden) => ({ way: 'ipc', cost: { ...cost, hidden } }))
    const runs = [
      { way: 'ipc', cost: { ...run, seconds: 0.007, added: 140e-6 } },
      { way: 'nccl', cost: { ...run, seconds: 0.02, added: 500e-6 } },
    ]
    expect(rows({ rings, runs })).toEqual([
      'ring product 16384³ with messages between devices, `ipc`: hides ≥ 0.9 of the messages: 0.75 false',
      'run(program, 1000), rows go round, 7.0 ms, `ipc`: adds ≤ 150 µs: 140 µs true',
      'run(program, 1000), rows go round, 20.0 ms, `nccl`: adds ≤ 2 %: 2.50 % false',
    ])
  })
})
