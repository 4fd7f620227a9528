import { expect, test } from 'vitest'
import { openGroup } from './group.ts'
import { segmentPlan } from './host-segments.ts'
import { RandomProgram } from './testing/conformance/random-program.ts'
import { removableEdges, withoutEdge } from './testing/plan-edges.ts'
import { seededRandom } from './testing/random.ts'
import { referenceBackend } from './testing/reference-backend.ts'

test('random programs give the recorded meaning in random orders, repetitions overlapping', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], devices: 2 })
  let edges = 0
  let noticed = 0
  for (let seed = 100; seed < 140; seed++) {
    const random = await RandomProgram.create(group, seed)
    const program = random.record('overlapped')
    for (let order = 0; order < 4; order++) {
      backend.seed = seed * 7 + order
      await random.reset()
      await group.queue.run(program, 4)
      await random.expectResult(4, `program ${seed}, order ${backend.seed}`)
    }
    // Random commands overwrite each other and settle after a repetition, so that many missing edges cannot show; a good part must.
    const expected = random.expected(4)
    for (const edge of removableEdges(program.plan)) {
      backend.transformPlan = (plan) => withoutEdge(plan, edge.from, edge.to, edge.previous)
      await random.reset()
      await group.queue.run(program, 4)
      edges++
      const result = await random.result()
      if (result.some((array, i) => array.some((value, j) => value !== expected[i]![j]))) noticed++
    }
    backend.transformPlan = undefined
    program.destroy()
    random.destroy()
  }
  expect(edges).toBeGreaterThan(300)
  expect(noticed / edges).toBeGreaterThan(0.3)
  expect(await group.destroy()).toEqual({ leaks: [] })
})

test('plans split at exchanges keep their order', async () => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  for (let seed = 0; seed < 30; seed++) {
    const random = seededRandom(seed)
    const pick = (n: number) => Math.floor(random() * n)
    const hosts = [0, 1, 2].map(() => group.allocateHost('u32', 2))
    const buffers = await Promise.all([0, 1, 1].map((device) => group.devices[device]!.allocate('u32', 2)))
    const model = { hosts: hosts.map(() => [0, 0]), buffers: buffers.map(() => [0, 0]) }
    const effects: (() => void)[] = []
    const program = group.record((r) => {
      for (let i = 0; i < 12; i++) {
        const [h, b, c, e] = [pick(3), pick(3), pick(3), pick(2)] as const
        switch (pick(4)) {
          case 0:
            r.upload(hosts[h]!.slice(e, 1), buffers[b]!.slice(e, 1))
            effects.push(() => (model.buffers[b]![e] = model.hosts[h]![e]!))
            break
          case 1:
            r.download(buffers[b]!, hosts[h]!)
            effects.push(() => (model.hosts[h] = [...model.buffers[b]!]))
            break
          case 2:
            if (b === c) break
            r.copy(buffers[b]!.slice(0, 1), buffers[c]!.slice(1, 1))
            effects.push(() => (model.buffers[c]![1] = model.buffers[b]![0]!))
            break
          default: {
            const step = (array: { [index: number]: number }) => {
              array[e] = (array[e]! * 3 + i + 1) % 1000
            }
            r.exchange({
              reads: [hosts[h]!.slice(e, 1)],
              writes: [hosts[h]!.slice(e, 1)],
              perform: async () => {
                await new Promise((resolve) => setTimeout(resolve, 0))
                step(hosts[h]!.array)
              },
            })
            effects.push(() => step(model.hosts[h]!))
          }
        }
      }
    })
    const { segments, exchanges } = segmentPlan(program.plan)
    const covered = [
      ...segments.flatMap(({ originalIndex }) => originalIndex),
      ...exchanges.map(({ command }) => command.index),
    ]
    expect(covered.sort((a, b) => a - b)).toEqual(program.plan.commands.map(({ index }) => index))
    await group.queue.run(program, 3)
    for (let repetition = 0; repetition < 3; repetition++) for (const effect of effects) effect()
    for (const [i, buffer] of buffers.entries())
      expect([...(await group.queue.read(buffer))], `seed ${seed}`).toEqual(model.buffers[i])
    for (const [i, host] of hosts.entries()) expect([...host.array], `seed ${seed}`).toEqual(model.hosts[i])
    for (const resource of [program, ...hosts, ...buffers]) resource.destroy()
  }
  expect(await group.destroy()).toEqual({ leaks: [] })
})

test('an exchange waits for what it needs while the rest is issued', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const host = group.allocateHost('u32', 1)
  const [edge, interior] = await Promise.all([1, 2].map(() => group.devices[0]!.allocate('u32', 1)))
  const program = group.record((r) => {
    r.fill(edge!, 1)
    r.fill(interior!, 2)
    r.download(edge!, host)
    r.exchange({ reads: [host], writes: [host], perform: async () => {} })
    r.upload(host, edge!)
    r.copy(edge!, interior!)
  })
  const { segments, exchanges } = segmentPlan(program.plan)
  expect(segments.map(({ gate, originalIndex }) => ({ gate, originalIndex }))).toEqual([
    { gate: -1, originalIndex: [0, 2] },
    { gate: -1, originalIndex: [1] },
    { gate: 0, originalIndex: [4, 5] },
  ])
  expect(exchanges).toMatchObject([{ segments: [0], exchanges: [] }])
  expect(segments[0]!.plan.commands.map(({ index, after }) => ({ index, after }))).toEqual([
    { index: 0, after: [] },
    { index: 1, after: [0] },
  ])
  await group.destroy()
})
