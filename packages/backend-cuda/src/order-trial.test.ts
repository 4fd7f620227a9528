import { describe, expect, it } from 'vitest'
import { OrderTrial } from './order-trial.ts'
import { plan, region } from './testing/plan-text.ts'

const copies = (byteLength: number) =>
  plan(
    [
      { device: 0, byteLength },
      { device: 1, byteLength },
    ],
    Array.from({ length: 64 }, () => ({
      kind: 'copy' as const,
      device: 1,
      source: region(0, 0, byteLength),
      target: region(1, 0, byteLength),
      after: [],
      afterPrevious: [],
    })),
  )
const repetitionsOf = (steps: ReturnType<OrderTrial['steps']>) =>
  steps.reduce((sum, { repetitions, launches }) => sum + repetitions * launches, 0)

describe('the order of commands on one GPU', () => {
  it('is tried within one long run, which still does exactly its work', () => {
    const trial = new OrderTrial(copies(64))
    for (const times of [32, 33, 1000]) {
      const steps = trial.steps(times)
      expect(repetitionsOf(steps)).toBe(times)
      expect(new Set(steps.map(({ order }) => order))).toEqual(new Set(['chain', 'branches']))
    }
    const steps = trial.steps(40)
    trial.record(
      steps,
      steps.map(({ order, launches }) => launches * (order === 'chain' ? 2 : 1)),
    )
    expect(trial.current).toBe('branches')
    expect(trial.steps(40).map(({ order }) => order)).toEqual(['branches'])
  })

  it('is tried over several short runs, the first of each order as a warm-up', () => {
    const trial = new OrderTrial(copies(64))
    const seen: string[] = []
    for (let run = 0; run < 8; run += 1) {
      const steps = trial.steps(2)
      seen.push(steps[0]!.order)
      // The warm-ups are slow, and do not count.
      const slow = run % 3 === 0 ? 100 : 1
      trial.record(steps, [steps[0]!.order === 'chain' ? 1 * slow : 2 * slow])
    }
    expect(seen).toEqual(['chain', 'chain', 'chain', 'branches', 'branches', 'chain', 'chain', 'chain'])
    expect(trial.current).toBe('chain')
  })

  it('begins with branches where copies are large', () => {
    expect(new OrderTrial(copies(2 ** 20)).current).toBe('branches')
    expect(new OrderTrial(copies(2 ** 19)).current).toBe('chain')
  })
})
