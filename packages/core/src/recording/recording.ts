import type { View } from '../buffers/view.ts'
import type { GroupDevice } from '../group/group-device.ts'
import type { GroupState } from '../group/group-state.ts'
import { flattened } from '../plan/byte-region.ts'
import type { ByteRegion, PlanCopy } from '../plan/plan.ts'
import { type AnyBuffer, PlanBuilder } from '../plan/plan-builder.ts'
import type { MessageList } from '../ranks/message-list.ts'

export type AnyView = View<AnyBuffer>

/** A copy whose two sides match. */
export interface CheckedCopy extends CopyRegions {
  readonly kind: PlanCopy['kind']
  readonly label: string
  readonly sourceView: AnyView
  readonly targetView: AnyView
}

/**
 * How recorded commands become the plan of this process: `LocalRecording` in a group of one, `RankParts` or
 * `WholeRecording` over ranks.
 */
export interface Recording {
  readonly plan: PlanBuilder
  /** The messages that the other ranks must record too; absent in a group without messages. */
  readonly messages?: MessageList
  /** Whether this process takes part in a command that accesses memory of these devices. */
  touches(devices: readonly GroupDevice[]): boolean
  /** The builder that collects the next command, which runs on the device. */
  planOf(device: GroupDevice): PlanBuilder
  regionOf(view: AnyView): ByteRegion
  fence(device: GroupDevice): void
  copy(copy: CheckedCopy): void
  /** Called after the last command. */
  finish(): void
}

/** The recording of a group of one process: the plan contains every command. */
export class LocalRecording implements Recording {
  readonly plan: PlanBuilder
  protected readonly devices: readonly GroupDevice[]

  constructor(group: GroupState, devices: readonly GroupDevice[]) {
    this.plan = new PlanBuilder(group)
    this.devices = devices
  }

  touches(_: readonly GroupDevice[]): boolean {
    return true
  }

  planOf(_: GroupDevice): PlanBuilder {
    return this.plan
  }

  regionOf(view: AnyView): ByteRegion {
    return this.plan.region(view.buffer, view)
  }

  fence({ ordinal }: GroupDevice): void {
    this.plan.fence(ordinal)
  }

  copy(copy: CheckedCopy): void {
    this.plan.add(copyCommand(copy, this.devices), { reads: [copy.from], writes: [copy.to] })
  }

  finish(): void {}
}

/**
 * The copy as one command: a download runs on the device that it reads; every other copy on the device that
 * it writes, if it writes to one.
 */
export function copyCommand(
  { kind, label, sourceView, targetView, source, target }: CheckedCopy,
  devices: readonly GroupDevice[],
): Omit<PlanCopy, 'index' | 'after' | 'afterPrevious'> {
  const [from, to] = [sourceView, targetView].map(({ buffer }) => buffer.device?.ordinal)
  const device = (kind === 'download' ? from : (to ?? from)) ?? firstLocal(devices)
  return { kind, label, device, source, target }
}

/** The ordinal of the process's first device; -1 if it has none. */
export function firstLocal(devices: readonly GroupDevice[]): number {
  return devices.find(({ local }) => local)?.ordinal ?? -1
}

/** The regions of a copy. */
export interface CopyRegions {
  /** Flattened as far as possible, for the hazards. */
  readonly from: ByteRegion
  readonly to: ByteRegion
  /** With the same number of rows, so one row only if both are contiguous. */
  readonly source: ByteRegion
  readonly target: ByteRegion
}

export function copyRegions(sourceRows: ByteRegion, targetRows: ByteRegion): CopyRegions {
  const from = flattened(sourceRows)
  const to = flattened(targetRows)
  const flat = from.rows === 1 && to.rows === 1
  return { from, to, source: flat ? from : sourceRows, target: flat ? to : targetRows }
}
