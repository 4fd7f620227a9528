import type { Plan } from '@tandem-gpu/core'
import {
  type ByteRegion,
  type Extent,
  type Handles,
  isContiguous,
  isMessage,
  type PlanBuffer,
  type PlanCommand,
  type PlanMessage,
  type PlanPart,
} from '@tandem-gpu/core/backend'
import type { MessageMemory } from './message-memory.ts'
import type { NativeMessage } from './native-addon.ts'
import { placeInSegments, type SegmentedPlan, type Step } from './segments.ts'
import { type StagedPiece, stagedPieces } from './staged-pieces.ts'

/**
 * The number of tags for messages of programs. Messages of a pair of ranks with the same tag are matched in
 * order, which edges preserve. MPI guarantees 32,767 tags; engine.cpp uses the others.
 */
const tagCount = 16_384

/**
 * Turns messages of device memory into downloads and messages, or messages and uploads, piece by piece
 * through host memory from `memory`; then combines the commands of the inner backend into as few plans as
 * overlap allows. If MPI accepts device memory, messages without gaps are sent directly, and others are
 * copied from or to device memory without gaps.
 *
 * Commands that wait for a `send` through staging memory wait only for its copy, and a `receive` is posted as
 * soon as that memory is free. Both are earlier than the plan requires, so the serial schedule, which keeps
 * its order exactly, does neither.
 */
export async function lowerPlan(
  plan: Plan<Handles, PlanPart>,
  localDevice: (ordinal: number) => number,
  memory: MessageMemory,
): Promise<SegmentedPlan> {
  const parts = plan.commands
  const buffers: PlanBuffer[] = plan.buffers.map((buffer) =>
    buffer.kind === 'host' ? buffer : { ...buffer, device: localDevice(buffer.device) },
  )
  const steps: Step[] = []
  /** The steps of each part that others wait for, and those that wait for others. */
  const doneAt: number[][] = []
  const startsAt: number[][] = []
  const serial = plan.schedule === 'serial'
  const add = (step: Step): number => steps.push(step) - 1
  const command = (original: number, made: PlanCommand): Step => ({
    kind: 'command',
    command: made,
    after: [],
    afterPrevious: [],
    original,
  })
  const message = (
    original: number,
    part: PlanMessage,
    memory: NativeMessage['memory'],
    { byteOffset, rows, rowByteLength, rowByteStride }: Extent,
  ): Step => ({
    kind: 'message',
    message: {
      kind: part.kind,
      peer: part.peer,
      tag: part.ordinal % tagCount,
      memory,
      byteOffset,
      rows,
      rowByteLength,
      rowByteStride,
    },
    after: [],
    afterPrevious: [],
    original,
  })

  for (const part of parts) {
    const { index } = part
    const device = localDevice(part.device)
    if (!isMessage(part)) {
      const step = add(command(index, { ...part, device }))
      startsAt.push([step])
      doneAt.push([step])
      continue
    }
    const { region } = part
    const buffer = region && buffers[region.buffer]!
    if (region === undefined || buffer === undefined || buffer.kind === 'host') {
      const step = add(
        buffer?.kind === 'host' && region !== undefined
          ? message(index, part, buffer.allocation.arrayBuffer, region)
          : message(index, part, new ArrayBuffer(0), noBytes),
      )
      startsAt.push([step])
      doneAt.push([step])
      continue
    }
    const inPlace = isContiguous(region) ? await memory.addressed(buffer.allocation) : undefined
    if (inPlace !== undefined) {
      const step = add(message(index, part, inPlace, region))
      startsAt.push([step])
      doneAt.push([step])
      continue
    }
    const { byteLength, pieces } = stagedPieces(region, memory.through)
    const staged = await memory.stage(device, byteLength, `${part.label} (staged)`)
    const stagingBuffer = buffers.push(staged.buffer) - 1
    const [outward, inward] =
      staged.buffer.kind === 'device' ? (['copy', 'copy'] as const) : (['download', 'upload'] as const)
    const base = { index, label: part.label, device, after: [], afterPrevious: [] }
    const copies: number[][] = []
    const messages: number[] = []
    for (const piece of pieces) {
      const wire = { rows: 1, rowByteLength: piece.byteLength, rowByteStride: piece.byteLength }
      const addMessage = () =>
        add(message(index, part, staged.memory, { ...wire, byteOffset: piece.byteOffset }))
      const addCopies = () =>
        piece.regions.map(({ region: own, at }) => {
          const { rows, rowByteLength } = own
          const staging: ByteRegion = {
            buffer: stagingBuffer,
            byteOffset: piece.byteOffset + at,
            rows,
            rowByteLength,
            rowByteStride: rowByteLength,
          }
          return add(
            command(
              index,
              part.kind === 'send'
                ? { ...base, kind: outward, source: own, target: staging }
                : { ...base, kind: inward, source: staging, target: own },
            ),
          )
        })
      if (part.kind === 'send') {
        const copied = addCopies()
        const sent = addMessage()
        steps[sent]!.after.push(...copied)
        copies.push(copied)
        messages.push(sent)
      } else {
        const received = addMessage()
        const copied = addCopies()
        for (const copy of copied) steps[copy]!.after.push(received)
        copies.push(copied)
        messages.push(received)
      }
    }
    reuseStaging(part.kind, pieces, copies, messages)
    const all = copies.flat()
    startsAt.push(part.kind === 'receive' && serial ? messages.slice(0, 1) : all)
    doneAt.push(part.kind === 'send' && serial ? messages.slice(-1) : all)
  }
  for (const part of parts)
    for (const start of startsAt[part.index]!) {
      steps[start]!.after.push(...part.after.flatMap((from) => doneAt[from]!))
      steps[start]!.afterPrevious.push(...part.afterPrevious.flatMap((from) => doneAt[from]!))
    }
  keepTagOrder(steps)
  return placeInSegments(steps, { ...plan, buffers, commands: [] })

  /**
   * The first use of a slot of the staging memory by a piece waits for the last use of that slot by the piece
   * before it, in this repetition or the previous one.
   */
  function reuseStaging(
    kind: PlanMessage['kind'],
    pieces: readonly StagedPiece[],
    copies: readonly (readonly number[])[],
    messages: readonly number[],
  ): void {
    const [first, last] =
      kind === 'send'
        ? [(piece: number) => copies[piece]!, (piece: number) => [messages[piece]!]]
        : [(piece: number) => [messages[piece]!], (piece: number) => copies[piece]!]
    for (const [piece, { slot }] of pieces.entries()) {
      const sameSlot = pieces.flatMap((other, at) => (other.slot === slot ? [at] : []))
      const before = sameSlot[sameSlot.indexOf(piece) - 1]
      for (const step of first(piece))
        if (before !== undefined) steps[step]!.after.push(...last(before))
        else steps[step]!.afterPrevious.push(...last(sameSlot.at(-1) ?? piece))
    }
  }
}

const noBytes: Extent = { byteOffset: 0, rows: 0, rowByteLength: 0, rowByteStride: 0 }

/**
 * Each message waits for the previous one with the same peer, direction and tag; the first of a repetition
 * waits for the last of the previous repetition.
 */
function keepTagOrder(steps: readonly Step[]): void {
  const ofTag = new Map<string, { readonly first: number; last: number }>()
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'message') continue
    const { kind, peer, tag } = step.message
    const key = `${kind} ${peer} ${tag}`
    const same = ofTag.get(key)
    if (same === undefined) ofTag.set(key, { first: index, last: index })
    else {
      step.after.push(same.last)
      same.last = index
    }
  }
  for (const { first, last } of ofTag.values()) if (last > first) steps[first]!.afterPrevious.push(last)
}
