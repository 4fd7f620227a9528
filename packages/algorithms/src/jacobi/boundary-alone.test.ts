import { expect, it } from 'vitest'
import { describeOnBackends } from '../testing-groups.ts'
import { jacobi } from './jacobi.ts'

describeOnBackends('jacobi on a grid that is all boundary', (backend) => {
  it.each([
    [0, 0],
    [2, 7],
  ])('counts the sweeps of %i × %i cells, and says that they change nothing', async (rows, columns) => {
    const group = await backend.group(2)
    const progress: unknown[] = []
    const options = { rows, columns, iterations: 9, residualEvery: 4, startIteration: 5 } as const
    const report = await jacobi(group, { ...options, onProgress: (at) => progress.push(at) })
    expect(report).toMatchObject({ iterations: 14, residual: 0, verified: true, seconds: 0, rate: 0 })
    expect(report.notes).toEqual([
      'The grid has no inner cells: every cell is on the boundary, which sweeps do not change.',
    ])
    expect(progress).toEqual([{ iteration: 14, residual: 0 }])
    const early = await jacobi(group, { ...options, tolerance: 0 })
    expect(early).toMatchObject({ iterations: 9, converged: { iteration: 9, residual: 0 }, verified: true })
    const none = await jacobi(group, { ...options, iterations: 0 })
    expect([none.iterations, none.residual, none.notes]).toEqual([5, undefined, []])
  })
})
