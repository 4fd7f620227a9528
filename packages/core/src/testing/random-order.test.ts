import { expect, test } from 'vitest'
import { openGroup } from '../group/group.ts'
import type { Plan, PlanCommand } from '../plan/plan.ts'
import { removableEdges, withoutEdge } from './plan-edges.ts'
import { seededRandom } from './random.ts'
import { RandomOrder } from './random-order.ts'
import { referenceBackend } from './reference-backend.ts'

function planOf(orders: readonly { after: number[]; afterPrevious: number[] }[]): Plan {
  const commands = orders.map((order, index) => ({ kind: 'fill', index, label: '', device: 0, ...order }))
  return {
    label: 'test',
    schedule: 'overlapped',
    buffers: [],
    kernels: [],
    commands: commands as unknown as PlanCommand[],
    uniformBlock: new Uint8Array(),
  }
}

function takeAll(plan: Plan, times: number, seed: number): string[] {
  const order = new RandomOrder(plan, times, seededRandom(seed))
  const taken: string[] = []
  for (let next = order.take(); next !== undefined; next = order.take())
    taken.push(`${next.repetition}.${next.command}`)
  return taken
}

const diamond = planOf([
  { after: [], afterPrevious: [3] },
  { after: [0], afterPrevious: [] },
  { after: [0], afterPrevious: [] },
  { after: [1, 2], afterPrevious: [] },
])

test('every order respects the edges within and across repetitions, and orders differ by seed', () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 40; seed++) {
    const taken = takeAll(diamond, 5, seed)
    expect(taken).toHaveLength(20)
    const at = (repetition: number, command: number) => taken.indexOf(`${repetition}.${command}`)
    for (let repetition = 0; repetition < 5; repetition++)
      for (const { from, to, previous } of removableEdges(diamond)) {
        if (previous && repetition === 4) continue
        expect(at(repetition, from)).toBeLessThan(at(repetition + (previous ? 1 : 0), to))
      }
    orders.add(taken.join(' '))
  }
  expect(orders.size).toBeGreaterThan(10)
})

test('without an edge, its target runs before its source under every seed', () => {
  for (const { from, to, previous } of removableEdges(diamond))
    for (let seed = 0; seed < 10; seed++) {
      const taken = takeAll(withoutEdge(diamond, from, to, previous), 3, seed)
      expect(taken).toHaveLength(12)
      expect(taken.indexOf(`${previous ? 1 : 0}.${to}`)).toBeLessThan(taken.indexOf(`0.${from}`))
    }
  expect(() => withoutEdge(diamond, 0, 3)).toThrow(RangeError)
})

test('independent repetitions overlap', () => {
  const free = planOf([
    { after: [], afterPrevious: [] },
    { after: [], afterPrevious: [] },
  ])
  const inOrder = (taken: string[]) =>
    taken.every((entry, i) => Number(entry.split('.')[0]) === Math.floor(i / 2))
  expect(
    Array.from({ length: 20 }, (_, seed) => takeAll(free, 4, seed)).some((taken) => !inOrder(taken)),
  ).toBe(true)
})

test('a ring of copies has the same result in every order, and a wrong one without any one edge', async () => {
  const reference = referenceBackend({ devices: 2 })
  const group = await openGroup({ backends: [reference], devices: 2 })
  const [a, b, c] = await Promise.all([
    group.devices[0]!.allocate('u32', 8),
    group.devices[1]!.allocate('u32', 8),
    group.devices[1]!.allocate('u32', 8),
  ])
  const program = group.record((r) => {
    r.copy(a, b)
    r.copy(b.slice(0, 7), c.slice(1, 7))
    r.fill(b, 9)
    r.copy(c, a)
  })
  const result = async () => {
    await group.queue.write(a, Uint32Array.from([1, 2, 3, 4, 5, 6, 7, 8]))
    await group.queue.write(c, Uint32Array.from([100, 200, 300, 400, 500, 600, 700, 800]))
    await group.queue.write(b, new Uint32Array(8).fill(7))
    await group.queue.run(program, 3)
    return (await Promise.all([a, b, c].map((buffer) => group.queue.read(buffer)))).map((data) => [...data])
  }
  const expected = await result()
  expect(expected[0]).toEqual([100, 100, 100, 1, 2, 3, 4, 5])
  for (let seed = 0; seed < 20; seed++) {
    reference.seed = seed
    expect(await result()).toEqual(expected)
  }
  for (const edge of removableEdges(program.plan)) {
    reference.transformPlan = (plan) => withoutEdge(plan, edge.from, edge.to, edge.previous)
    expect(await result()).not.toEqual(expected)
  }
  for (const resource of [program, a, b, c]) resource.destroy()
  expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
  expect(await group.destroy()).toEqual({ leaks: [] })
})
