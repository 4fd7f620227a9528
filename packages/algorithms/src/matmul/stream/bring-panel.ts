import type { Device, DeviceBuffer, DeviceGroup, HostView, Recorder } from '@tandem-gpu/core'
import { type RowRange, splitRows } from '../../sharded-matrix.ts'
import type { MatmulType } from '../matmul-shape.ts'

/** The buffer for a panel of B on one device: k rows of at least as many columns as the panel has. */
export interface PanelPlace<T extends MatmulType> {
  readonly device: Device
  /** Its index among the devices of the product. */
  readonly index: number
  readonly panel: DeviceBuffer<T>
}

/** The rows of a panel of B in the host memory of one device. */
export interface PanelShare<T extends MatmulType> extends RowRange {
  readonly device: Device
  /** Its index among the devices of the product. */
  readonly index: number
  /** `rows` × the columns of the panel. */
  readonly view: HostView<T>
}

/**
 * Records the transfer of a panel of B, k × its columns in the host memory of this process, to all buffers.
 * If devices can access each other's memory, each uploads its share and copies the other shares; otherwise
 * each uploads the whole panel.
 */
export function bringWhole<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  places: readonly PanelPlace<T>[],
  source: HostView<T>,
): void {
  const { rows: k, columns } = source
  if (k === 0) return
  const reachable = places.every((reader) =>
    places.every((owner) => group.canAccessPeer(reader.device, owner.device)),
  )
  if (!reachable || places.length <= 1) {
    for (const { panel } of places)
      recorder.upload(source, panel.block(0, 0, k, columns), { label: 'upload B' })
    return
  }
  const shares = splitRows(k, places.length)
  for (const [index, { row, rows }] of shares.entries())
    if (rows > 0)
      recorder.upload(
        source.block(row, 0, rows, columns),
        places[index]!.panel.block(row, 0, rows, columns),
        { label: 'upload B' },
      )
  // Each device begins with its right neighbour, so that no device sends to all others at once.
  for (let step = 1; step < places.length; step++)
    for (const [index, { panel }] of places.entries()) {
      const owner = (index + step) % places.length
      const { row, rows } = shares[owner]!
      if (rows > 0)
        recorder.copy(places[owner]!.panel.block(row, 0, rows, columns), panel.block(row, 0, rows, columns), {
          label: 'spread B',
        })
    }
}

/**
 * Records the transfer of a panel of B, whose rows are distributed over the devices, to all buffers: each
 * device uploads its own share, and the others copy it from there. If a message between devices would go
 * through host memory again, each process itself uploads a share of another process to one of its devices.
 */
export function bringShares<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  places: readonly PanelPlace<T>[],
  shares: readonly PanelShare<T>[],
): void {
  const own = shares.filter(({ device }) => recorder.touches(device.ordinal))
  // Each device begins with its own share and continues with its right neighbour's, so that no process sends
  // to all others at once.
  const length = shares.length
  const moves = places.flatMap((to) =>
    (recorder.touches(to.device.ordinal) ? shares : own).map((share) => ({
      to,
      share,
      step: (((share.index - to.index) % length) + length) % length,
    })),
  )
  const copies: (() => void)[] = []
  for (const { to, share } of moves.sort((a, b) => a.step - b.step)) {
    const { row, rows, view } = share
    const target = to.panel.block(row, 0, rows, view.columns)
    const entry = entryOf(group, places, to, share)
    if (entry === to) recorder.upload(view, target, { label: 'upload B' })
    else
      copies.push(() =>
        recorder.copy(entry.panel.block(row, 0, rows, view.columns), target, { label: 'spread B' }),
      )
  }
  for (const copy of copies) copy()
}

/** The buffer from which `to` copies a share; `to` itself if it uploads the share. */
function entryOf<T extends MatmulType>(
  group: DeviceGroup,
  places: readonly PanelPlace<T>[],
  to: PanelPlace<T>,
  share: PanelShare<T>,
): PanelPlace<T> {
  const own = places.find(({ index }) => index === share.index)
  const { rank } = to.device
  const sameProcess = share.device.rank === rank
  if (own !== undefined && !sameProcess && !group.throughHost) return own
  const beside = places.filter(({ device }) => device.rank === rank)
  const entry = beside.find((place) => place === own) ?? beside[0]!
  return sameProcess && !group.canAccessPeer(to.device, entry.device) ? to : entry
}
