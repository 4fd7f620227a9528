import { describe, expect, test } from 'vitest'
import type { DeviceGroup } from '../group/group.ts'
import { printPlan } from '../plan/print-plan.ts'
import type { Program } from '../running/program.ts'
import { accumulate } from '../testing/conformance/kernels.ts'
import { RandomProgram } from '../testing/conformance/random-program.ts'
import { type OpenRanks, openRanks } from '../testing/open-ranks.ts'
import { type PlanEdge, removableEdges, withoutEdge } from '../testing/plan-edges.ts'
import type { MessageRule } from '../testing/simulated-messages.ts'

const long = process.env.TANDEM_LONG === '1'

/** The values that every rank must have after a run. */
interface Case {
  readonly ranks: OpenRanks
  readonly programs: readonly Program[]
  /**
   * Fills all memory, runs the programs, and returns whether every rank has the results of the recorded
   * order.
   */
  isRight(): Promise<boolean>
}

/** One u32 buffer per device, filled with the device's ordinal + 1, and a program that uses them. */
async function makeCase(
  ranks: OpenRanks,
  times: number,
  record: Parameters<DeviceGroup['record']>[0] extends infer Body
    ? (group: DeviceGroup, buffers: Awaited<ReturnType<typeof buffersOf>>) => Body
    : never,
  expected: (times: number) => readonly (readonly number[])[],
): Promise<Case> {
  const sides = await ranks.each(async (group) => {
    const buffers = await buffersOf(group)
    return { group, buffers, program: group.record(record(group, buffers)) }
  })
  return {
    ranks,
    programs: sides.map(({ program }) => program),
    async isRight() {
      try {
        const results = await Promise.all(
          sides.map(async ({ group: { queue }, buffers, program }) => {
            for (const [i, buffer] of buffers.entries())
              await queue.write(buffer, new Uint32Array(buffer.length).fill(i + 1))
            await queue.run(program, times)
            return Promise.all(buffers.map(async (buffer) => [...(await queue.read(buffer))]))
          }),
        )
        return results.every((result) => JSON.stringify(result) === JSON.stringify(expected(times)))
      } catch (error) {
        // A run that cannot continue is wrong, too.
        if (String(error).includes('nothing can happen')) return false
        throw error
      }
    },
  }
}

function buffersOf(group: DeviceGroup) {
  return Promise.all(group.devices.map((device) => device.allocate('u32', 4)))
}

/**
 * Copies T to V, S to T, and V to S, over three ranks that own one each. The edge that a reduction of the
 * whole program would drop is necessary.
 */
function rotation(ranks: OpenRanks, times: number): Promise<Case> {
  return makeCase(
    ranks,
    times,
    (_group, [t, s, v]) =>
      (r) => {
        r.copy(t!, v!)
        r.copy(s!, t!)
        r.copy(v!, s!)
      },
    (repetitions) => {
      let [t, s, v] = [1, 2, 3]
      for (let i = 0; i < repetitions; i++) [v, t, s] = [t, s, t]
      return [t, s, v].map((value) => new Array<number>(4).fill(value))
    },
  )
}

/**
 * Each device adds its neighbour's value to its own and passes on its old value, so that everything depends
 * on everything.
 */
async function circulation(ranks: OpenRanks, times: number): Promise<Case> {
  const kernels = await ranks.each((group) => group.compile({ wgsl: accumulate }))
  return makeCase(
    ranks,
    times,
    (group, buffers) => (r) => {
      const { devices } = group
      const arrived = devices.map((device) => r.scratch(device, 'u32', 4))
      for (const [i, buffer] of buffers.entries()) r.copy(buffer, arrived[(i + 1) % devices.length]!)
      for (const [i, buffer] of buffers.entries())
        r.dispatch(kernels[group.rank]!, {
          workgroups: 1,
          args: { x: arrived[i]!, y: buffer, addend: i },
        })
    },
    (repetitions) => {
      let values = ranks.groups[0]!.devices.map((_, i) => i + 1)
      for (let i = 0; i < repetitions; i++)
        values = values.map(
          (value, d) => (Math.imul(3, value) + values[(d + values.length - 1) % values.length]! + d) >>> 0,
        )
      return values.map((value) => new Array<number>(4).fill(value))
    },
  )
}

/**
 * Device 0 sends two numbers that change in each repetition, without waiting for anything; device 1 combines
 * them into one that reveals their order.
 */
async function stream(ranks: OpenRanks, times: number): Promise<Case> {
  const kernels = await ranks.each((group) => group.compile({ wgsl: accumulate }))
  return makeCase(
    ranks,
    times,
    (group, [a, result]) =>
      (r) => {
        const kernel = kernels[group.rank]!
        const [first, second] = [0, 1].map((i) => a!.slice(2 * i, 2))
        const [p, q] = [0, 1].map(() => r.scratch(1, 'u32', 2))
        r.dispatch(kernel, {
          workgroups: 1,
          args: { x: r.scratch(0, 'u32', 2, { zero: true }), y: first!, addend: 1 },
        })
        r.dispatch(kernel, {
          workgroups: 1,
          args: { x: r.scratch(0, 'u32', 2, { zero: true }), y: second!, addend: 5 },
        })
        r.copy(first!, p!)
        r.copy(second!, q!)
        for (const x of [p!, q!])
          r.dispatch(kernel, { workgroups: 1, args: { x, y: result!.slice(0, 2), addend: 0 } })
      },
    (repetitions) => {
      let [first, second, sum] = [1, 1, 2]
      for (let i = 0; i < repetitions; i++) {
        ;[first, second] = [3 * first + 1, 3 * second + 5]
        sum = (Math.imul(3, Math.imul(3, sum) + first) + second) >>> 0
      }
      return [
        [first, first, second, second],
        [sum, sum, 2, 2],
        [3, 3, 3, 3],
      ]
    },
  )
}

describe('the rotation of three copies over three ranks', () => {
  for (const messages of ['eager', 'rendezvous', 'mixed'] as const)
    for (const order of ['random', 'adversarial'] as const)
      test(`has the recorded results, with ${messages} messages in ${order} order`, async () => {
        const ranks = await openRanks({ ranks: 3, messages, order })
        for (const times of [1, 5]) {
          const rotated = await rotation(ranks, times)
          for (let seed = 1; seed <= 20; seed++) {
            ranks.simulation.network.seed = seed
            expect(await rotated.isRight(), `seed ${seed}, ${times} times`).toBe(true)
          }
        }
        await ranks.destroy()
      })

  test('orders parts on each rank that the whole program would leave to other ranks', async () => {
    const ranks = await openRanks({ ranks: 3 })
    const { programs } = await rotation(ranks, 1)
    const lines = programs.map(({ plan }) => printPlan(plan).split('\n').slice(2))
    expect(lines).toEqual([
      [
        '0 d0 send "copy buffer 0 of device 0 to buffer 0 of device 2" b0[0..16) to rank 2, message 0 after previous 1',
        '1 d0 receive "copy buffer 0 of device 1 to buffer 0 of device 0" b0[0..16) from rank 1, message 0 after 0',
      ],
      [
        '0 d1 send "copy buffer 0 of device 1 to buffer 0 of device 0" b0[0..16) to rank 0, message 0 after previous 1',
        '1 d1 receive "copy buffer 0 of device 2 to buffer 0 of device 1" b0[0..16) from rank 2, message 0 after 0',
      ],
      [
        '0 d2 receive "copy buffer 0 of device 0 to buffer 0 of device 2" b0[0..16) from rank 0, message 0 after previous 1',
        '1 d2 send "copy buffer 0 of device 2 to buffer 0 of device 1" b0[0..16) to rank 1, message 0 after 0',
      ],
    ])
    await ranks.destroy()
  })
})

/** Whether some order of execution produces a wrong result. */
async function goesWrong({ ranks, isRight }: Case): Promise<boolean> {
  for (const messages of ['eager', 'rendezvous', 'mixed'] as const)
    for (const order of ['adversarial', 'random'] as const)
      for (let seed = 1; seed <= 10; seed++) {
        Object.assign(ranks.simulation.network, { messages, order, seed })
        if (!(await isRight())) return true
      }
  return false
}

describe.each([
  ['the rotation', rotation],
  ['a circulation with kernels', circulation],
  ['a stream', stream],
] as const)('%s goes wrong', (_name, make) => {
  test('without any one edge of any rank', async () => {
    const ranks = await openRanks({ ranks: 3 })
    const made = await make(ranks, 5)
    const unnoticed: string[] = []
    let edges = 0
    for (const [rank, { plan }] of made.programs.entries())
      for (const edge of removableEdges(plan)) {
        edges++
        weaken(ranks, rank, edge)
        if (!(await goesWrong(made))) unnoticed.push(`rank ${rank}: ${JSON.stringify(edge)}`)
      }
    expect(edges).toBeGreaterThanOrEqual(6)
    expect(unnoticed).toEqual([])
    await ranks.destroy()
  })
})

function weaken({ simulation }: OpenRanks, rank: number, { from, to, previous }: PlanEdge): void {
  simulation.transformPlan = (plan, of) => (of === rank ? withoutEdge(plan, from, to, previous) : plan)
}

describe('a program goes wrong when a message', () => {
  const rules: readonly [MessageRule, string][] = [
    ['source', 'is sent from memory that the sender may already have overwritten'],
    ['target', 'counts as received before its bytes are in place'],
    ['credit', 'may overtake by two repetitions one that the receiver has not taken'],
    ['identity', 'is known by the order of arrival alone'],
  ]
  test.each(rules)('%s: it %s', async (rule) => {
    const ranks = await openRanks({ ranks: 3 })
    const made = await stream(ranks, 6)
    const right = await made.isRight()
    ranks.simulation.network.brokenRule = rule
    const wrong = await goesWrong(made)
    expect({ right, wrong }).toEqual({ right: true, wrong: true })
    await ranks.destroy()
  })
})

describe('random programs on 1 to 8 ranks', () => {
  const count = long ? 10_000 : 500
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('of them, %i, give what was recorded', async (rankCount) => {
    // Some ranks have no device, some have two.
    const shapes = [
      Array.from({ length: rankCount }, () => 1),
      Array.from({ length: rankCount }, (_, rank) => (rank === 0 ? 2 : rank % 3)),
    ]
    for (const [shape, adapters] of shapes.entries()) {
      const ranks = await openRanks({ ranks: rankCount, adapters })
      for (let i = 0; i < count / 16; i++) {
        const seed = 1000 * rankCount + 2 * i + shape
        const { network } = ranks.simulation
        network.seed = seed
        network.order = i % 3 === 0 ? 'adversarial' : 'random'
        const schedule = i % 5 === 0 ? 'serial' : 'overlapped'
        const times = 1 + (i % 4)
        await ranks.each(async (group) => {
          const random = await RandomProgram.create(group, seed)
          const program = random.record(schedule)
          await random.reset()
          await group.queue.run(program, times)
          await random.expectResult(times, `rank ${group.rank} of ${rankCount}, seed ${seed}, ${schedule}`)
          program.destroy()
          random.destroy()
        })
      }
      await ranks.destroy()
    }
  })

  test('notice many a missing edge of a rank in the one order that is tried', async () => {
    let edges = 0
    let noticed = 0
    const ranks = await openRanks({ ranks: 3, order: 'adversarial' })
    for (let seed = 1; seed <= 12; seed++) {
      const sides = await ranks.each(async (group) => {
        const random = await RandomProgram.create(group, seed, false)
        return { group, random, program: random.record('overlapped') }
      })
      const expected = sides[0]!.random.expected(3)
      for (const [rank, { program }] of sides.entries())
        for (const edge of removableEdges(program.plan)) {
          weaken(ranks, rank, edge)
          ranks.simulation.network.seed = edges++
          const right = await Promise.all(
            sides.map(async (side) => {
              await side.random.reset()
              await side.group.queue.run(side.program, 3)
              const result = await side.random.result()
              return result.every((array, i) => array?.every((value, j) => value === expected[i]![j]) ?? true)
            }),
          )
          if (right.includes(false)) noticed++
        }
      ranks.simulation.transformPlan = undefined
      for (const { program, random } of sides) {
        program.destroy()
        random.destroy()
      }
    }
    expect(edges).toBeGreaterThan(200)
    expect(noticed / edges).toBeGreaterThan(0.25)
    await ranks.destroy()
  })
})
