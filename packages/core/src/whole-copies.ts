import type { OwnedDeviceBuffer } from './device-buffer.ts'
import type { GroupDevice } from './group-device.ts'
import { OwnedHostBuffer } from './host-buffer.ts'
import type { PlanCopy } from './plan.ts'
import type { AnyBuffer } from './plan-builder.ts'

/** Memory that the recorder has a view of, of one rank where it is the host's; or the passage of `copySteps` on a device. */
export type CopySide =
  | { readonly memory: 'device' }
  | { readonly memory: 'host'; readonly rank: number }
  | { readonly memory: 'passage'; readonly device: number }

/** One command of a copy in a whole plan. */
export interface CopyStep {
  readonly kind: PlanCopy['kind']
  /** On which it runs. */
  readonly device: number
  readonly source: CopySide
  readonly target: CopySide
}

/**
 * The commands that carry out one recorded copy where all devices share their memory. A device of another process is reached like a peer, but
 * host memory by devices of its own rank alone. So what is on the host of two ranks goes through device memory of the sender, a passage:
 * a device that waits may not hold up copies within host memory, which the driver makes itself. Memory that every rank has is written on each.
 */
export function copySteps(source: AnyBuffer, target: AnyBuffer, devices: readonly GroupDevice[]): CopyStep[] {
  const device = { memory: 'device' } as const
  const host = (rank: number) => ({ memory: 'host', rank }) as const
  /** The device that a copy of that host memory runs on, where the other side is on no device of the rank. */
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
    const rank = source.rank ?? target.rank!
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
