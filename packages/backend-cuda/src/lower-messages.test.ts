import { type BufferView, openGroup } from '@tandem-gpu/core'
import type { PlanPart } from '@tandem-gpu/core/backend'
import { imaginedRanks, seededRandom } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import type { CudaCommand, RecordedPlan } from './cuda-plan.ts'
import { lowerMessages, type PlanOfExchanges } from './lower-messages.ts'
import { simulateExchanges } from './testing/simulated-exchanges.ts'

const dense = (buffer: number) => ({ buffer, byteOffset: 0, rows: 4, rowByteLength: 16, rowByteStride: 16 })
const withGaps = (buffer: number) => ({ buffer, byteOffset: 8, rows: 4, rowByteLength: 8, rowByteStride: 16 })

interface Part {
  readonly kind: 'fill' | 'dispatch' | 'send' | 'receive'
  readonly region?: ReturnType<typeof dense>
  readonly after?: readonly number[]
  readonly afterPrevious?: readonly number[]
  readonly peer?: number
}

/** Buffers 0 and 1 are on the device, buffer 2 is on the host. */
function lower(parts: readonly Part[], schedule: RecordedPlan['schedule'] = 'overlapped'): PlanOfExchanges {
  const commands = parts.map(
    ({ kind, region, after = [], afterPrevious = [], peer = 1 }, index): PlanPart => {
      const base = { index, label: `${kind} ${index}`, device: 0, after, afterPrevious }
      if (kind === 'fill')
        return { ...base, kind, target: region ?? dense(0), pattern: 0, patternByteLength: 4 }
      if (kind === 'dispatch') return { ...base, kind, kernel: 0, workgroups: [1, 1, 1], bindings: [] }
      return { ...base, kind, peer, program: 0, ordinal: index, ...(region && { region }) }
    },
  )
  const allocation = { device: 0, byteLength: 64, gpu: 0, address: 0 }
  const device = { kind: 'device' as const, label: 'd', device: 0, byteLength: 64, allocation }
  const host = { arrayBuffer: new ArrayBuffer(64), locked: Promise.resolve(), mapped: false, address: 0 }
  return lowerMessages({
    label: 'plan',
    schedule,
    commands,
    kernels: [],
    uniformBlock: new Uint8Array(0),
    buffers: [device, device, { kind: 'host', label: 'h', byteLength: 64, allocation: host }],
  })
}

/** "kind (after; after previous)", with the directions of messages. */
function shown({ plan }: PlanOfExchanges): string[] {
  return plan.commands.map((command: CudaCommand) => {
    const what =
      command.kind === 'exchange'
        ? command.messages.map(({ kind, buffer, byteOffset }) => `${kind} ${buffer}+${byteOffset}`).join(', ')
        : command.kind
    return `${what} (${command.after}; ${command.afterPrevious})`
  })
}

describe('exchanges', () => {
  it('combine consecutive messages whose predecessors precede all of them, and follow one another', () => {
    const { plan, recorded } = lower([
      { kind: 'fill' },
      { kind: 'send', region: dense(0), after: [0], afterPrevious: [2] },
      { kind: 'receive', region: dense(1) },
      { kind: 'fill', region: dense(1), after: [2] },
      // Waits for work after the first message of the previous exchange.
      { kind: 'send', region: dense(1), after: [3] },
    ])
    expect(shown({ plan, recorded, stagingByteLength: 0 })).toEqual([
      'fill (; )',
      'send 0+0, receive 1+0 (0; 1,3)',
      'fill (1; )',
      'send 1+0 (1,2; )',
    ])
    expect(recorded).toEqual([[0], [1, 2], [3], [4]])
  })

  it('end before a command that waits for them, so that it waits for no later message', () => {
    const { plan, recorded } = lower([
      { kind: 'receive', region: dense(0) },
      { kind: 'send', region: dense(1) },
      { kind: 'fill', region: dense(0), after: [0] },
      { kind: 'receive', region: dense(1) },
    ])
    expect(shown({ plan, recorded, stagingByteLength: 0 })).toEqual([
      'receive 0+0, send 1+0 (; 2)',
      'fill (0; )',
      'receive 1+0 (0; )',
    ])
  })

  it('end before a kernel, so that no kernel runs during an exchange that waits for messages that other ranks send after theirs', () => {
    // The pattern of residuals that are distributed after a sweep, with halos exchanged after each sweep.
    const { plan, recorded } = lower([
      { kind: 'send', region: dense(2) },
      { kind: 'receive', region: dense(0) },
      { kind: 'send', region: dense(1) },
      { kind: 'dispatch', after: [1] },
      { kind: 'receive', region: dense(1) },
      { kind: 'send', region: dense(0), after: [3] },
    ])
    expect(shown({ plan, recorded, stagingByteLength: 0 })).toEqual([
      'upload (; 1)',
      'send 3+0, receive 0+0 (0; 4)',
      'send 1+0 (1; )',
      'dispatch (1; )',
      // Only the receive could join the message that is sent before the kernel.
      'receive 1+0, send 0+0 (2,3; )',
    ])
    expect(recorded).toEqual([[0], [0, 1], [2], [3], [4, 5]])
  })

  it('have one message to each rank and one from each, since NCCL lets a second one wait for all first ones', () => {
    const { plan, recorded } = lower([
      { kind: 'send', region: dense(0) },
      { kind: 'receive', region: dense(1) },
      { kind: 'send', region: dense(0), peer: 2 },
      { kind: 'send', region: dense(0) },
    ])
    expect(shown({ plan, recorded, stagingByteLength: 0 })).toEqual([
      'send 0+0, receive 1+0, send 0+0 (; 1)',
      'send 0+0 (0; )',
    ])
    expect(recorded).toEqual([[0, 1, 2], [3]])
  })

  it('take rows with gaps and host memory by way of dense device memory, in which messages without bytes have four', () => {
    const lowered = lower([
      { kind: 'fill' },
      { kind: 'send', region: withGaps(0), after: [0] },
      { kind: 'receive', region: dense(2), after: [0] },
      { kind: 'send', peer: 2, after: [0] },
      { kind: 'fill', after: [1] },
    ])
    expect(shown(lowered)).toEqual([
      'fill (; )',
      'copy (0; 2)',
      'send 3+0, receive 3+256, send 3+512 (0,1; 2,3)',
      'download (0,2; )',
      // The source of a message may change as soon as it has been copied.
      'fill (1; )',
    ])
    expect(lowered.stagingByteLength).toBe(768)
    expect(lowered.recorded).toEqual([[0], [1], [1, 2, 3], [2], [4]])
  })

  it('begin as soon as their messages are dense: copies for later exchanges wait for those for earlier ones', () => {
    const lowered = lower([
      { kind: 'send', region: withGaps(0) },
      { kind: 'receive', region: dense(1) },
      { kind: 'fill', region: dense(1), after: [1] },
      { kind: 'send', region: withGaps(0) },
    ])
    expect(shown(lowered)).toEqual([
      'copy (; 1)',
      'send 3+0, receive 1+0 (0; 4)',
      'fill (1; )',
      'copy (0; 4)',
      'send 3+256 (1,3; )',
    ])
  })

  it('keep the chain of the serial schedule', () => {
    const lowered = lower(
      [
        { kind: 'send', region: withGaps(0), afterPrevious: [3] },
        { kind: 'fill', after: [0] },
        { kind: 'receive', region: withGaps(0), after: [1] },
        { kind: 'fill', after: [2] },
      ],
      'serial',
    )
    expect(shown(lowered)).toEqual([
      'copy (; 1,5)',
      'send 3+0 (0; 3)',
      'fill (1; )',
      'receive 3+256 (1,2; 4)',
      'copy (3; )',
      'fill (4; )',
    ])
  })
})

const rankCount = 3
const [rows, columns] = [4, 6]
const seeds = process.env.TANDEM_LONG === '1' ? 2000 : 100

/** Two matrices per device, and commands on blocks of them; numbers of matrices count devices first. */
function randomCommands(random: () => number) {
  const upTo = (limit: number) => Math.floor(random() * limit)
  const block = () => {
    const [height, width] = [1 + upTo(rows), 1 + upTo(columns)]
    return { height, width, row: upTo(rows - height + 1), column: upTo(columns - width + 1) }
  }
  return Array.from({ length: 3 + upTo(12) }, (_, index) => {
    const from = block()
    const to = { ...from, row: upTo(rows - from.height + 1), column: upTo(columns - from.width + 1) }
    const [source, target] = [upTo(2 * rankCount), upTo(2 * rankCount)]
    const fills = random() < 0.15 || source === target
    return { source: fills ? undefined : source, target, from, to, value: 1000 + index }
  })
}

type Command = ReturnType<typeof randomCommands>[number]

/** The same plan as each rank records it. */
async function recordOnRanks(commands: readonly Command[]): Promise<RecordedPlan<PlanPart>[]> {
  return Promise.all(
    Array.from({ length: rankCount }, async (_, rank) => {
      const group = await openGroup({ backends: [imaginedRanks(rank, rankCount)], devices: rankCount })
      const buffers = await Promise.all(
        Array.from({ length: 2 * rankCount }, (_, index) =>
          group.devices[index % rankCount]!.allocate('u32', [rows, columns], { label: `${index}` }),
        ),
      )
      const view = (index: number, { row, column, height, width }: Command['from']): BufferView =>
        buffers[index]!.block(row, column, height, width)
      const program = group.record((r) => {
        for (const { source, target, from, to, value } of commands)
          if (source === undefined) r.fill(view(target, to), value)
          else r.copy(view(source, from), view(target, to))
      })
      return program.plan as RecordedPlan<PlanPart>
    }),
  )
}

function expectedMatrices(commands: readonly Command[], repetitions: number): number[][] {
  const matrices = Array.from({ length: 2 * rankCount }, (_, index) => filled(index))
  for (let repetition = 0; repetition < repetitions; repetition++)
    for (const { source, target, from, to, value } of commands)
      for (let row = 0; row < from.height; row++)
        for (let column = 0; column < from.width; column++)
          matrices[target]![(to.row + row) * columns + to.column + column] =
            source === undefined
              ? value
              : matrices[source]![(from.row + row) * columns + from.column + column]!
  return matrices
}

function filled(matrix: number): number[] {
  return Array.from({ length: rows * columns }, (_, index) => matrix * 100 + index)
}

/** The outcome of a random program: 'right', 'wrong', or 'stuck' if nothing can proceed any more. */
async function outcome(seed: number, change: (lowered: PlanOfExchanges) => PlanOfExchanges): Promise<string> {
  const random = seededRandom(seed)
  const commands = randomCommands(random)
  const plans = await recordOnRanks(commands)
  const repetitions = 3
  const matrices = Array.from({ length: 2 * rankCount }, (_, index) => Uint32Array.from(filled(index)))
  const ends = simulateExchanges(
    plans.map((plan) => change(lowerMessages(plan))),
    repetitions,
    (rank, buffer) => matrices[Number(plans[rank]!.buffers[buffer]!.label)]!,
    random,
  )
  if (!ends) return 'stuck'
  const found = JSON.stringify(matrices.map((matrix) => [...matrix]))
  return found === JSON.stringify(expectedMatrices(commands, repetitions)) ? 'right' : 'wrong'
}

async function outcomes(change: (lowered: PlanOfExchanges) => PlanOfExchanges) {
  const counts: Record<string, number> = {}
  for (let seed = 1; seed <= seeds; seed++) {
    const found = await outcome(seed, change)
    counts[found] = (counts[found] ?? 0) + 1
  }
  return counts
}

function withoutEdges(kind: CudaCommand['kind'], key: 'after' | 'afterPrevious') {
  return ({ plan, ...rest }: PlanOfExchanges): PlanOfExchanges => ({
    ...rest,
    plan: {
      ...plan,
      commands: plan.commands.map((command) => (command.kind === kind ? { ...command, [key]: [] } : command)),
    },
  })
}

describe(`${seeds} random programs over ${rankCount} ranks, in any order that the edges allow`, () => {
  it('end with the results of the recorded order', async () => {
    expect(await outcomes((lowered) => lowered)).toEqual({ right: seeds })
  })

  it.each([
    ['exchanges', 'exchange', 'after'],
    ['exchanges', 'exchange', 'afterPrevious'],
    ['copies', 'copy', 'after'],
    ['copies', 'copy', 'afterPrevious'],
  ] as const)('are wrong if the %s lack their edges (%s, %s)', async (_, kind, key) => {
    expect((await outcomes(withoutEdges(kind, key))).wrong).toBeGreaterThan(0)
  })

  it('are stuck if messages share an exchange across a command for which one of them waits', async () => {
    const counts = { stuck: 0 }
    for (let seed = 1; seed <= seeds; seed++)
      if ((await outcome(seed, uniteTwo)) === 'stuck') counts.stuck += 1
    expect(counts.stuck).toBeGreaterThan(0)
  })
})

/**
 * Each rank's second exchange includes the messages of its first one, and everything that waited for the
 * first waits for the second.
 */
function uniteTwo({ plan, ...rest }: PlanOfExchanges): PlanOfExchanges {
  const [first, second] = plan.commands.filter((command) => command.kind === 'exchange')
  if (first === undefined || second === undefined) return { plan, ...rest }
  const moved = (edges: readonly number[]) =>
    edges.map((edge) => (edge === first.index ? second.index : edge))
  const nothing = { buffer: 0, byteOffset: 0, rows: 0, rowByteLength: 0, rowByteStride: 0 }
  return {
    ...rest,
    plan: {
      ...plan,
      commands: plan.commands.map((command): CudaCommand => {
        const { index, label, device, after, afterPrevious } = command
        if (command === first)
          return {
            kind: 'fill',
            index,
            label,
            device,
            after: [],
            afterPrevious: [],
            target: nothing,
            pattern: 0,
            patternByteLength: 4,
          }
        if (command !== second)
          return { ...command, after: moved(after), afterPrevious: moved(afterPrevious) }
        const before = [...first.after, ...after].filter((edge) => edge !== first.index)
        return {
          ...second,
          after: [...new Set(before)],
          afterPrevious: moved([...first.afterPrevious, ...afterPrevious]),
          messages: [...first.messages, ...second.messages],
        }
      }),
    },
  }
}
