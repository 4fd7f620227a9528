import type {
  ByteRegion,
  Handles,
  HostAllocation,
  Plan,
  PlanBuffer,
  PlanCommand,
  PlanMessage,
  PlanPart,
} from '@tandem-gpu/core'
import type { NativeMessage } from './native-addon.ts'
import { type LoweredPlan, placeInSegments, type Step } from './segments.ts'

/** Messages of a pair of ranks with the same tag are matched in order, which an edge keeps; MPI grants 32,767 tags. */
const tagCount = 16_384

/**
 * Turns messages of device memory into a download and a message, or a message and an upload, through host memory that `allocateStaging`
 * gives; then unites what the inner backend runs into as few plans as overlap allows.
 *
 * What waits for a `send` waits for its download alone, and a `receive` is posted as soon as its host memory is free: both are sooner than
 * the plan asks, save under the serial schedule, which keeps its chain.
 */
export function lowerPlan(
  plan: Plan<Handles, PlanPart>,
  localDevice: (ordinal: number) => number,
  allocateStaging: (byteLength: number) => HostAllocation,
): LoweredPlan {
  const parts = plan.commands
  const buffers: PlanBuffer[] = plan.buffers.map((buffer) =>
    buffer.kind === 'host' ? buffer : { ...buffer, device: localDevice(buffer.device) },
  )
  const steps: Step[] = []
  /** The step that stands for a part where others wait for it, and where it waits itself. */
  const doneAt: number[] = []
  const startsAt: number[] = []
  const serial = plan.schedule === 'serial'
  const add = (step: Step): number => steps.push(step) - 1
  const command = (original: number, made: PlanCommand): Step => ({
    kind: 'command',
    command: made,
    after: [],
    afterPrevious: [],
    original,
  })
  const message = (original: number, part: PlanMessage, memory: ArrayBuffer, region: Extent): Step => ({
    kind: 'message',
    message: { kind: part.kind, peer: part.peer, tag: part.ordinal % tagCount, memory, ...region },
    after: [],
    afterPrevious: [],
    original,
  })

  for (const part of parts) {
    const { index } = part
    const device = localDevice(part.device)
    if (!isMessage(part)) {
      const step = add(command(index, { ...part, device }))
      startsAt.push(step)
      doneAt.push(step)
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
      startsAt.push(step)
      doneAt.push(step)
      continue
    }
    const byteLength = region.rows * region.rowByteLength
    const allocation = allocateStaging(byteLength)
    const label = `${part.label} (staged)`
    const staging: ByteRegion = {
      buffer: buffers.push({ kind: 'host', label, byteLength, allocation }) - 1,
      byteOffset: 0,
      rowByteLength: region.rowByteLength,
      rows: region.rows,
      rowByteStride: region.rowByteLength,
    }
    const wire = { byteOffset: 0, rows: 1, rowByteLength: byteLength, rowByteStride: byteLength }
    const base = { index, label: part.label, device, after: [], afterPrevious: [] }
    if (part.kind === 'send') {
      const download = add(command(index, { ...base, kind: 'download', source: region, target: staging }))
      const sent = add(message(index, part, allocation.arrayBuffer, wire))
      steps[sent]!.after.push(download)
      steps[download]!.afterPrevious.push(sent)
      startsAt.push(download)
      doneAt.push(serial ? sent : download)
    } else {
      const received = add(message(index, part, allocation.arrayBuffer, wire))
      const upload = add(command(index, { ...base, kind: 'upload', source: staging, target: region }))
      steps[upload]!.after.push(received)
      steps[received]!.afterPrevious.push(upload)
      startsAt.push(serial ? received : upload)
      doneAt.push(upload)
    }
  }
  for (const part of parts) {
    const step = steps[startsAt[part.index]!]!
    step.after.push(...part.after.map((from) => doneAt[from]!))
    step.afterPrevious.push(...part.afterPrevious.map((from) => doneAt[from]!))
  }
  keepTagOrder(steps)
  return placeInSegments(steps, { ...plan, buffers, commands: [] })
}

function isMessage(part: PlanPart): part is PlanMessage {
  return part.kind === 'send' || part.kind === 'receive'
}

type Extent = Pick<NativeMessage, 'byteOffset' | 'rows' | 'rowByteLength' | 'rowByteStride'>
const noBytes: Extent = { byteOffset: 0, rows: 0, rowByteLength: 0, rowByteStride: 0 }

/** A message waits for the one before it with the same peer, direction and tag, the first of a repetition for the last of the one before. */
function keepTagOrder(steps: readonly Step[]): void {
  const ofTag = new Map<string, number[]>()
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'message') continue
    const { kind, peer, tag } = step.message
    const key = `${kind} ${peer} ${tag}`
    const same = ofTag.get(key)
    if (same === undefined) {
      ofTag.set(key, [index])
      continue
    }
    step.after.push(same.at(-1)!)
    same.push(index)
  }
  for (const same of ofTag.values()) if (same.length > 1) steps[same[0]!]!.afterPrevious.push(same.at(-1)!)
}
