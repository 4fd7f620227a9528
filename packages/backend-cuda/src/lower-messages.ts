import {
  type ByteRegion,
  isContiguous,
  isMessage,
  type PlanMessage,
  type PlanPart,
} from '@tandem-gpu/core/backend'
import type { CudaCommand, CudaPlan, ExchangedMessage, RecordedPlan } from './cuda-plan.ts'

/** A plan whose messages have been replaced by exchanges. */
export interface PlanOfExchanges {
  readonly plan: CudaPlan
  /** The device memory through which messages are staged: one more buffer, after those of the plan. */
  readonly stagingByteLength: number
  /** For each command, the indices of the recorded parts that it executes. */
  readonly recorded: readonly (readonly number[])[]
}

/** A message without bytes only orders commands, but NCCL may do nothing for zero bytes. */
const tokenByteLength = 4
const stagingAlignment = 256

type Open<C> = C extends CudaCommand ? Omit<C, 'index' | 'after' | 'afterPrevious'> : never
interface Step {
  readonly command: Open<CudaCommand>
  readonly after: number[]
  readonly afterPrevious: number[]
  readonly recorded: readonly number[]
}

interface Place {
  readonly buffer: number
  readonly byteOffset: number
  readonly byteLength: number
  /** The memory that is copied from or to; absent if it is already dense device memory. */
  readonly copied?: ByteRegion
}

/**
 * Merges messages into exchanges, which follow one another in recorded order. A message joins the previous
 * exchange unless
 * - it waits for work that was recorded after the first message of the exchange,
 * - a command in between waits for the exchange, and would have to wait for this message too,
 * - a kernel is dispatched in between: what is sent after the kernel was usually computed by it, so the
 *   exchange would last until then, and occupy multiprocessors while the kernel runs,
 * - or the exchange already sends to its receiver, or receives from its sender: NCCL begins the second
 *   message in one direction between two ranks only when the first messages of the group in all directions
 *   are complete.
 *
 * Rows with gaps and host memory are staged in dense device memory.
 *
 * This cannot deadlock. Consider the earliest message, by repetition and position in the recording of all
 * ranks, that is not complete. On both of its ranks, previous exchanges contain only earlier messages, and
 * everything that its exchange waits for was recorded before the first message of that exchange, hence waits
 * only for previous exchanges. So both exchanges have begun, and in an exchange that has begun, every message
 * makes progress with its other side.
 */
export function lowerMessages(plan: RecordedPlan<PlanPart>): PlanOfExchanges {
  const { commands: parts, buffers } = plan
  const serial = plan.schedule === 'serial'
  const steps: Step[] = []
  let stagingByteLength = 0
  const add = (
    command: Open<CudaCommand>,
    recorded: readonly number[],
    after: readonly number[] = [],
  ): number => steps.push({ command, recorded, after: [...after], afterPrevious: [] }) - 1
  const places = parts.map((part) => (isMessage(part) ? placeOf(part) : undefined))
  const groups = groupMessages(parts)
  /** The step of each exchange, by its first message; and of the copy before each message that needs one. */
  const exchanges = new Map<number, number>()
  const packs = new Map<number, number>()
  /** The copies before the last exchange that needs any. */
  let lastPacks: readonly number[] = []
  /** For each part, the step that other parts wait for, and the step that waits for others. */
  const doneAt: number[] = []
  const startsAt: number[] = []

  for (const part of parts) {
    const { index } = part
    if (!isMessage(part)) {
      const step = add(part, [index])
      doneAt.push(step)
      startsAt.push(step)
      continue
    }
    const group = groups.get(index)!
    if (group[0] === index) exchanges.set(index, addExchange(group))
    const exchange = exchanges.get(group[0]!)!
    const { copied, ...place } = places[index]!
    const pack = packs.get(index)
    if (copied === undefined) {
      doneAt.push(exchange)
      startsAt.push(exchange)
    } else if (pack !== undefined) {
      doneAt.push(serial ? exchange : pack)
      startsAt.push(pack)
    } else {
      const unpack = add(copyOf(part, staged(place, copied), copied), [index], [exchange])
      steps[exchange]!.afterPrevious.push(unpack)
      doneAt.push(unpack)
      startsAt.push(serial ? exchange : unpack)
    }
  }
  for (const { index, after, afterPrevious } of parts) {
    const step = steps[startsAt[index]!]!
    step.after.push(...after.map((from) => doneAt[from]!))
    step.afterPrevious.push(...afterPrevious.map((from) => doneAt[from]!))
  }
  const chain = [...exchanges.values()]
  for (const [position, exchange] of chain.entries())
    if (position > 0) steps[exchange]!.after.push(chain[position - 1]!)
    else steps[exchange]!.afterPrevious.push(chain.at(-1)!)
  const ascending = (edges: readonly number[]) => [...new Set(edges)].sort((a, b) => a - b)
  return {
    plan: {
      ...plan,
      commands: steps.map(({ command, after, afterPrevious }, index) => ({
        ...command,
        index,
        after: ascending(after),
        afterPrevious: ascending(afterPrevious),
      })),
    },
    stagingByteLength,
    recorded: steps.map(({ recorded }) => recorded),
  }

  function placeOf({ region }: PlanMessage): Place {
    const buffer = region && buffers[region.buffer]!
    const byteLength = region === undefined ? 0 : region.rows * region.rowByteLength
    if (region !== undefined && buffer?.kind === 'device' && isContiguous(region))
      return { buffer: region.buffer, byteOffset: region.byteOffset, byteLength }
    const place = stage(Math.max(byteLength, tokenByteLength))
    return region === undefined ? place : { ...place, copied: region }
  }

  function stage(byteLength: number): Place {
    const byteOffset = stagingByteLength
    stagingByteLength += Math.ceil(byteLength / stagingAlignment) * stagingAlignment
    return { buffer: buffers.length, byteOffset, byteLength }
  }

  function onHost({ buffer }: ByteRegion): boolean {
    return buffers[buffer]?.kind === 'host'
  }

  /** Adds one step for messages that make progress together, after the copies of what they send. */
  function addExchange(group: readonly number[]): number {
    const before: number[] = []
    for (const index of group) {
      const { copied, ...place } = places[index]!
      const message = parts[index] as PlanMessage
      if (message.kind !== 'send' || copied === undefined) continue
      // The copies of one exchange follow those of another, so that the first exchange begins early.
      const pack = add(copyOf(message, copied, staged(place, copied)), [index], lastPacks)
      packs.set(index, pack)
      before.push(pack)
    }
    const messages = group.map((index): ExchangedMessage => {
      const { kind, peer } = parts[index] as PlanMessage
      const { copied: _, ...place } = places[index]!
      return { kind, peer, ...place }
    })
    const { label, device } = parts[group[0]!]!
    const exchange = add({ kind: 'exchange', label, device, messages }, group, before)
    for (const pack of before) steps[pack]!.afterPrevious.push(exchange)
    if (before.length > 0) lastPacks = before
    return exchange
  }

  function copyOf({ label, device }: PlanPart, source: ByteRegion, target: ByteRegion): Open<CudaCommand> {
    const kind = onHost(source) ? 'upload' : onHost(target) ? 'download' : 'copy'
    return { kind, label, device, source, target }
  }
}

/** For each message, the messages of its exchange. */
function groupMessages(parts: readonly PlanPart[]): Map<number, readonly number[]> {
  const groups = new Map<number, number[]>()
  let open: number[] = []
  for (const part of parts) {
    const [first] = open
    if (!isMessage(part)) {
      if (part.kind === 'dispatch' || part.after.some((from) => open.includes(from))) open = []
      continue
    }
    if (first === undefined || part.after.some((from) => from >= first)) open = []
    if (open.some((other) => sameDirection(parts[other] as PlanMessage, part))) open = []
    open.push(part.index)
    groups.set(part.index, open)
  }
  return groups
}

function sameDirection(a: PlanMessage, b: PlanMessage): boolean {
  return a.kind === b.kind && a.peer === b.peer
}

/** The rows of `region` without gaps, at an offset in the staging memory. */
function staged({ buffer, byteOffset }: Place, { rows, rowByteLength }: ByteRegion): ByteRegion {
  return { buffer, byteOffset, rows, rowByteLength, rowByteStride: rowByteLength }
}
