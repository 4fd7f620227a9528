import { describe, expect, it } from 'vitest'
import { type Arrangement, ArrangementTrial } from './arrangement-trial.ts'
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
const all: readonly Arrangement[] = ['one-graph', 'branches', 'chain']
const repetitionsOf = (steps: ReturnType<ArrangementTrial['steps']>) =>
  steps.reduce((sum, { repetitions, launches }) => sum + repetitions * launches, 0)

describe('the arrangement of a program over several GPUs', () => {
  it('is found within one long run, which still does exactly its work', () => {
    const trial = new ArrangementTrial(copies(64), all)
    for (const times of [36, 37, 1000]) {
      const steps = trial.steps(times)
      expect(repetitionsOf(steps)).toBe(times)
      expect(new Set(steps.map(({ arrangement }) => arrangement))).toEqual(new Set(all))
    }
    const steps = trial.steps(40)
    const speed = { chain: 2, branches: 1, 'one-graph': 3 }
    trial.record(
      steps,
      steps.map(({ arrangement, launches }) => launches * speed[arrangement]),
    )
    expect(trial.current).toBe('branches')
    expect(trial.steps(40).map(({ arrangement }) => arrangement)).toEqual(['branches'])
  })

  it('is found over several short runs, the first of each arrangement as a warm-up', () => {
    const trial = new ArrangementTrial(copies(64), ['branches', 'chain'])
    const seen: string[] = []
    for (let run = 0; run < 8; run += 1) {
      const steps = trial.steps(2)
      seen.push(steps[0]!.arrangement)
      // The warm-ups are slow, and do not count.
      const slow = run % 3 === 0 ? 100 : 1
      trial.record(steps, [steps[0]!.arrangement === 'chain' ? 1 * slow : 2 * slow])
    }
    expect(seen).toEqual(['chain', 'chain', 'chain', 'branches', 'branches', 'chain', 'chain', 'chain'])
    expect(trial.current).toBe('chain')
  })

  it('begins with branches where copies are large, and needs no trial of one candidate', () => {
    expect(new ArrangementTrial(copies(2 ** 20), all).current).toBe('branches')
    expect(new ArrangementTrial(copies(2 ** 19), all).current).toBe('chain')
    const only = new ArrangementTrial(copies(64), ['one-graph'])
    expect(only.steps(1000)).toEqual([
      { arrangement: 'one-graph', repetitions: 4, launches: 250, timed: false },
    ])
  })
})
