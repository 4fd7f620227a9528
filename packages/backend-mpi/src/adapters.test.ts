import { portableLimits } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { bindingNote, dealt } from './adapters.ts'

function gpu(uuid: string, software = false) {
  return {
    backend: 'x',
    id: uuid,
    name: uuid,
    vendor: 'v',
    software,
    uuid,
    limits: portableLimits,
    features: [],
  } as const
}

/** The adapters that each rank of one host gets, given the names that it sees. */
function deal(seen: readonly (readonly string[])[], virtual = false): string[][] {
  const ranks = seen.map((names, rank) => ({
    rank,
    adapters: names.map((name) => gpu(name, name.startsWith('software'))),
  }))
  return ranks.map(({ rank, adapters }) =>
    dealt(rank, adapters, ranks, virtual).map((index) => adapters[index]!.name),
  )
}

it('divides the GPUs of a host among its ranks as equally as possible', () => {
  const four = ['a', 'b', 'c', 'd']
  expect(deal([four, four, four, four])).toEqual([['a'], ['b'], ['c'], ['d']])
  expect(deal([four, four])).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  expect(deal([four, four, four])).toEqual([['a'], ['b'], ['c', 'd']])
  expect(deal([four])).toEqual([four])
})

it('leaves ranks without a GPU if there are too few, or lets them share with virtual: true', () => {
  const two = ['a', 'b']
  expect(deal([two, two, two, two])).toEqual([['a'], ['b'], [], []])
  expect(deal([two, two, two, two], true)).toEqual([['a'], ['a'], ['b'], ['b']])
})

it('keeps the GPUs that a launcher binds to each rank, and gives a GPU that several ranks see to the lowest', () => {
  expect(deal([['a'], ['b']])).toEqual([['a'], ['b']])
  expect(deal([['a', 'b'], ['b']])).toEqual([['a', 'b'], []])
})

it('gives every rank its software adapter', () => {
  expect(deal([['software'], ['software']])).toEqual([['software'], ['software']])
})

it('reports a process that is bound to fewer cores than it has threads, on machines with more cores', () => {
  expect(bindingNote(1, 32)).toMatch(/^The process is bound to 1 of 32 CPU cores\. /)
  expect(bindingNote(3, 32)).toBeUndefined()
  expect(bindingNote(2, 2)).toBeUndefined()
})
