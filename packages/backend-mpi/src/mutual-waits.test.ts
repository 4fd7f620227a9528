import { expect, it } from 'vitest'
import { MutualWaits } from './mutual-waits.ts'

const never = new Promise<never>(() => {})

/** Two ranks with the same clock. */
function twoRanks() {
  let now = 0
  const [here, there] = [0, 1].map(() => new MutualWaits(1000, () => now)) as [MutualWaits, MutualWaits]
  return {
    here,
    there,
    pass(milliseconds: number) {
      now += milliseconds
    },
  }
}

it('finds two ranks that each wait for a call of the other, once both have waited long enough', () => {
  const { here, there, pass } = twoRanks()
  here.call(1, 5, 'runs "a"', never)
  there.call(1, 4, 'writes', never)
  there.call(2, 0, 'opens a group', never)
  pass(999)
  expect(there.report()).toBeUndefined()
  pass(1)
  const found = here.conflict(there.report()!)
  expect(found).toMatchObject({
    own: { group: 1, what: 'runs "a"' },
    other: { group: 2, what: 'opens a group' },
  })
})

it('reports nothing while one of the ranks has not waited long enough, or may still arrive', async () => {
  const { here, there, pass } = twoRanks()
  there.call(2, 0, 'opens a group', never)
  pass(5000)
  expect(here.conflict(there.report()!)).toBeUndefined()
  // It has only just arrived.
  here.call(1, 0, 'runs "a"', never)
  expect(here.conflict(there.report()!)).toBeUndefined()
  pass(5000)
  expect(here.conflict(there.report()!)).toBeDefined()
  // The other opens the group too, regardless of what else it waits for.
  here.call(2, 0, 'opens a group', never)
  expect(here.conflict(there.report()!)).toBeUndefined()
})

it('reports nothing about a rank that is busy in a run, however long, whatever else is waiting', async () => {
  const { here, there, pass } = twoRanks()
  let end = () => {}
  const run = new Promise<void>((resolve) => {
    end = resolve
  })
  there.works(1, run)
  here.call(1, 9, 'runs "a"', never)
  there.call(2, 0, 'opens a group', never)
  pass(5000)
  expect(here.conflict(there.report()!)).toBeUndefined()
  end()
  await run
  expect(here.conflict(there.report()!)).toBeDefined()
})

it('forgets a call that is answered, and a group that makes no more calls', async () => {
  const { here, there, pass } = twoRanks()
  await here.call(1, 0, 'runs "a"', Promise.resolve())
  await there.call(1, 0, 'runs "a"', Promise.resolve())
  there.call(2, 0, 'opens a group', never)
  pass(5000)
  expect(here.report()).toBeUndefined()
  expect(here.conflict(there.report()!)).toBeUndefined()
  there.forget(1)
  expect(there.report()!.called).toEqual([[2, 0]])
})
