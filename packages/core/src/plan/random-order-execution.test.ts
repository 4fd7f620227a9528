import { expect, test } from 'vitest'
import { openGroup } from '../group/group.ts'
import { RandomProgram } from '../testing/conformance/random-program.ts'
import { removableEdges, withoutEdge } from '../testing/plan-edges.ts'
import { referenceBackend } from '../testing/reference-backend.ts'

test('random programs have the recorded results in random orders, with overlapping repetitions', async () => {
  const backend = referenceBackend()
  const group = await openGroup({ backends: [backend], devices: 2 })
  let edges = 0
  let noticed = 0
  for (let seed = 100; seed < 140; seed++) {
    const random = await RandomProgram.create(group, seed, false)
    const program = random.record('overlapped')
    for (let order = 0; order < 4; order++) {
      backend.seed = seed * 7 + order
      await random.reset()
      await group.queue.run(program, 4)
      await random.expectResult(4, `program ${seed}, order ${backend.seed}`)
    }
    // Random commands overwrite each other, and the contents settle after one repetition, so many missing
    // edges cannot have an effect; a good part of them must.
    const expected = random.expected(4)
    for (const edge of removableEdges(program.plan)) {
      backend.transformPlan = (plan) => withoutEdge(plan, edge.from, edge.to, edge.previous)
      await random.reset()
      await group.queue.run(program, 4)
      edges++
      const result = await random.result()
      if (result.some((array, i) => array!.some((value, j) => value !== expected[i]![j]))) noticed++
    }
    backend.transformPlan = undefined
    program.destroy()
    random.destroy()
  }
  expect(edges).toBeGreaterThan(300)
  expect(noticed / edges).toBeGreaterThan(0.4)
  expect(await group.destroy()).toEqual({ leaks: [] })
})
