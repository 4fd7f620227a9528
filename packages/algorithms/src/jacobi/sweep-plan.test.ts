import { describe, expect, it } from 'vitest'
import {
  passesOf,
  planInterval,
  planSweeps,
  repeatedBody,
  residualsOf,
  type SweepPlan,
} from './sweep-plan.ts'

/** What a plan does, sweep by sweep: the copy that is read, and the sweeps after which the residual is. */
function carriedOut({ runs }: SweepPlan, from: 0 | 1, fused: boolean) {
  let sweeps = 0
  let parity = from
  let passes = 0
  const residuals: number[] = []
  for (const { body, times } of runs)
    for (let run = 0; run < times; run++) {
      expect(body.parity, 'the copy in which the program before ends').toBe(parity)
      const count = passesOf(body.sweeps, residualsOf(body), fused).length
      residuals.push(...residualsOf(body).map((sweep) => sweeps + sweep))
      sweeps += body.sweeps
      passes += count
      parity = ((parity + count) % 2) as 0 | 1
    }
  return { sweeps, parity, passes, residuals }
}

describe.each([false, true])('sweeps (fused: %s)', (fused) => {
  it('are as many as requested; each program begins in the copy in which the previous one ends, and the last one reads the residual', () => {
    for (const iterations of [1, 2, 3, 4, 5, 7, 8, 99, 100, 101, 127, 128, 129, 256, 257, 400, 999, 1000])
      for (const residualEvery of [1, 2, 3, 4, 5, 7, 10, 100, 127, 128, 129, 250, 300, 5000])
        for (const pieces of [1, 20]) {
          const plan = planSweeps({ iterations, residualEvery, fused }, pieces)
          const done = carriedOut(plan, 0, fused)
          expect(done).toMatchObject({ sweeps: iterations, parity: plan.parity })
          expect(done.residuals.at(-1)).toBe(iterations)
          for (let look = residualEvery; look < iterations; look += residualEvery)
            expect(done.residuals).toContain(look)
          const last = passesOf(iterations, done.residuals, fused).at(-1)!.count
          expect(plan.behind, `${iterations} by ${residualEvery}`).toBe(last)
        }
  })

  it('of one interval begin in either copy, and look at the residual once', () => {
    for (const length of [1, 3, 4, 6, 128, 129, 131, 300])
      for (const parity of [0, 1] as const) {
        const plan = planInterval(length, parity, 1, fused)
        const done = carriedOut(plan, parity, fused)
        expect(done).toMatchObject({ sweeps: length, parity: plan.parity, residuals: [length] })
        expect(plan.runs.every(({ body }) => body.slot === 1)).toBe(true)
      }
  })

  it('are repeated by a program that ends in the copy where it begins, or that is all of them', () => {
    for (const residualEvery of [1, 2, 3, 7, 100, 127, 1000])
      for (const iterations of [1, 5, 1000]) {
        const body = repeatedBody({ iterations, residualEvery, fused })
        const passes = passesOf(body.sweeps, residualsOf(body), fused).length
        expect(passes % 2 === 0 || body.sweeps === iterations).toBe(true)
      }
  })
})
