import type { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { OwnedHostBuffer } from '../buffers/host-buffer.ts'
import type { GroupDevice } from '../group/group-device.ts'
import type { GroupState } from '../group/group-state.ts'
import type { ByteRegion, PlanCopy } from '../plan/plan.ts'
import type { AnyBuffer } from '../plan/plan-builder.ts'
import { type AnyView, type CheckedCopy, copyRegions, LocalRecording } from '../recording/recording.ts'

/** The recording of a group whose devices share their memory: every rank gets the commands of all devices. */
export class WholeRecording extends LocalRecording {
  /** Creates scratch with the view's shape and type. */
  readonly scratch: (device: number, view: AnyView, label: string) => OwnedDeviceBuffer

  constructor(group: GroupState, devices: readonly GroupDevice[], scratch: WholeRecording['scratch']) {
    super(group, devices)
    this.scratch = scratch
  }

  /**
   * In a whole plan host memory belongs to a rank. If every rank has a copy, rank 0's copy represents the
   * rows, which are the same on all ranks.
   */
  override regionOf(view: AnyView): ByteRegion {
    const { buffer } = view
    return this.plan.region(buffer, view, buffer instanceof OwnedHostBuffer ? (buffer.rank ?? 0) : undefined)
  }

  override copy({ label, sourceView, targetView }: CheckedCopy): void {
    const passages = new Map<number, OwnedDeviceBuffer>()
    const passage = (device: number) => {
      const made = passages.get(device) ?? this.scratch(device, sourceView, `passage of ${label}`)
      passages.set(device, made)
      return made
    }
    const regionOf = (view: AnyView, side: CopySide) => {
      if (side.memory === 'host') return this.plan.region(view.buffer, view, side.rank)
      const placed = side.memory === 'device' ? view : passage(side.device)
      return this.plan.region(placed.buffer, placed)
    }
    for (const step of copySteps(sourceView.buffer, targetView.buffer, this.devices)) {
      const { from, to, ...regions } = copyRegions(
        regionOf(sourceView, step.source),
        regionOf(targetView, step.target),
      )
      const { kind, device } = step
      this.plan.add({ kind, label, device, ...regions }, { reads: [from], writes: [to] })
    }
  }
}

/**
 * Memory of the recorded view, on one rank if it is host memory; or a passage buffer of `copySteps` on a
 * device.
 */
type CopySide =
  | { readonly memory: 'device' }
  | { readonly memory: 'host'; readonly rank: number }
  | { readonly memory: 'passage'; readonly device: number }

/** One command of a copy in a whole plan. */
interface CopyStep {
  readonly kind: PlanCopy['kind']
  /** The device that runs it. */
  readonly device: number
  readonly source: CopySide
  readonly target: CopySide
}

/**
 * The commands of one recorded copy if all devices share their memory. A device of another process is
 * accessed like a peer, but host memory only by devices of its own rank. A copy between host memory of two
 * ranks therefore goes through a passage, which is device memory of the sender. Copies within host memory
 * also do, because the driver performs host-to-host copies itself, and a waiting device must not delay them.
 * Memory that every rank has is written on each rank.
 */
function copySteps(source: AnyBuffer, target: AnyBuffer, devices: readonly GroupDevice[]): CopyStep[] {
  const device = { memory: 'device' } as const
  const host = (rank: number) => ({ memory: 'host', rank }) as const
  /** The device that runs a copy of this host memory if the other side is not on a device of the rank. */
  const deviceBy = (buffer: OwnedHostBuffer, rank: number) =>
    buffer.device?.ordinal ?? devices.find((own) => own.rank === rank)!.ordinal
  const near = (other: OwnedDeviceBuffer, buffer: OwnedHostBuffer, rank: number) =>
    other.rank === rank ? other.device.ordinal : deviceBy(buffer, rank)
  const ranksOf = (buffer: OwnedHostBuffer) =>
    buffer.rank === undefined ? [...new Set(devices.map(({ rank }) => rank))] : [buffer.rank]

  if (!(source instanceof OwnedHostBuffer)) {
    if (!(target instanceof OwnedHostBuffer))
      return [{ kind: 'copy', device: target.device.ordinal, source: device, target: device }]
    return ranksOf(target).map((rank) => ({
      kind: 'download',
      device: near(source, target, rank),
      source: device,
      target: host(rank),
    }))
  }
  if (!(target instanceof OwnedHostBuffer)) {
    const rank = source.rank ?? target.device.rank
    return [{ kind: 'upload', device: near(target, source, rank), source: host(rank), target: device }]
  }
  const senders = source.rank === undefined ? ranksOf(target) : [source.rank]
  return senders.flatMap((sender): CopyStep[] => {
    const device = deviceBy(source, sender)
    const passage = { memory: 'passage', device } as const
    const receivers = source.rank === undefined ? [sender] : ranksOf(target)
    return [
      { kind: 'upload', device, source: host(sender), target: passage },
      ...receivers.map(
        (rank): CopyStep => ({
          kind: 'download',
          device: rank === sender ? device : deviceBy(target, rank),
          source: passage,
          target: host(rank),
        }),
      ),
    ]
  })
}
