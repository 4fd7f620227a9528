import type {
  BufferView,
  Device,
  DeviceBuffer,
  DeviceGroup,
  HostBuffer,
  HostView,
  Recorder,
} from '@tandem-gpu/core'
import { type RowRange, splitRows } from '../sharded-matrix.ts'
import type { MatmulKernels } from './matmul-kernels.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'
import type { StreamPlan } from './plan-stream.ts'
import {
  type StreamedPanel,
  type StreamedProduct,
  streamedPanel,
  streamedProduct,
} from './streamed-product.ts'

/**
 * A dense matrix in host memory: whole, or in the rows of each device (`splitRows`), undefined where it has none: so that over several processes
 * each has those of its devices alone.
 */
export type HostMatrix<T extends MatmulType> = HostBuffer<T> | readonly (HostBuffer<T> | undefined)[]

/** m × k, k × n and m × n. */
export interface HostMatrices<T extends MatmulType> {
  readonly a: HostMatrix<T>
  readonly b: HostMatrix<T>
  readonly c: HostMatrix<T>
}

/** What a device holds of B while it is used. */
interface Panels<T extends MatmulType> {
  readonly device: Device
  /** Its place among the devices of the product. */
  readonly index: number
  readonly b: DeviceBuffer<T>[]
}

interface Lane<T extends MatmulType> extends Panels<T>, RowRange {
  /** Its rows of A and C in host memory. */
  readonly host: { readonly a: HostView<T>; readonly c: HostView<T> }
  readonly a: { readonly view: DeviceBuffer<T>; readonly product: StreamedProduct<T> }[]
  readonly panels: StreamedPanel<T>[]
  readonly c: DeviceBuffer<T>[]
}

/** The first panel of a round waits separately for each so many rows of A, so that computing starts before all of A has arrived. */
const arrivalRows = 1024

/**
 * Records C = A · B for matrices in host memory (C++ AMP, "Matrix multiplication over several accelerators": A and C chunked by rows over the
 * devices, B streamed in panels of columns). While one panel is used, the next is uploaded. Where devices can access each other, each uploads 1/N
 * of a panel over its own host link and copies the rest from the others; elsewhere each uploads the whole panel.
 */
export function recordStreamedMatmul<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  devices: readonly Device[],
  kernels: (device: Device) => MatmulKernels,
  shape: MatmulShape,
  host: HostMatrices<T>,
  plan: StreamPlan,
): void {
  const { m, n, k } = shape
  if (m === 0 || n === 0) return
  const type = typeOf(host.c)
  /** The rows of the device with this index. */
  const share = (matrix: HostMatrix<T>, index: number, { row, rows }: RowRange, columns: number) =>
    'reshape' in matrix
      ? matrix.reshape(m, columns).block(row, 0, rows, columns)
      : matrix[index]!.reshape(rows, columns)
  const times = <V>(count: number, make: (index: number) => V) =>
    Array.from({ length: count }, (_, i) => make(i))
  const ranges = splitRows(m, devices.length)
  const panelsOf = (device: Device) =>
    times(plan.panelBuffers, (i) =>
      recorder.scratch(device.ordinal, type, [k, plan.bStride], { label: `B ${i}` }),
    )
  const lanes: Lane<T>[] = ranges.flatMap((range, index) => {
    const device = devices[index]!
    if (range.rows === 0 || !recorder.touches(device.ordinal)) return []
    const rows = Math.min(plan.rowBlock, range.rows)
    const place = { device, label: 'product' }
    const b = panelsOf(device)
    return [
      {
        ...{ device, index },
        ...range,
        host: { a: share(host.a, index, range, k), c: share(host.c, index, range, n) },
        a: times(plan.aBuffers, (i) => {
          const view = recorder.scratch(device.ordinal, type, [rows, plan.aStride], { label: `A ${i}` })
          const sizes = { k, cStride: plan.bStride }
          return { view, product: streamedProduct(recorder, kernels(device), view, { ...place, ...sizes }) }
        }),
        b,
        panels: b.map((view) => streamedPanel(recorder, kernels(device), view, place)),
        c: times(plan.panelBuffers, (i) =>
          recorder.scratch(device.ordinal, type, [rows, plan.bStride], { label: `C ${i}` }),
        ),
      },
    ]
  })
  const bring = 'reshape' in host.b ? bringWhole(host.b.reshape(k, n)) : bringShares(host.b)
  let turn = 0
  for (let round = 0; round < plan.rounds; round++) {
    const active = lanes.flatMap((lane) => {
      const row = round * plan.rowBlock
      const rows = Math.min(plan.rowBlock, lane.rows - row)
      return rows > 0 ? [{ lane, row, rows, a: lane.a[round % plan.aBuffers]! }] : []
    })
    for (let panel = 0; panel < plan.panels; panel++, turn++) {
      const column = panel * plan.width
      const columns = Math.min(plan.width, n - column)
      const slot = turn % plan.panelBuffers
      // The first piece of A is uploaded before the panel and the others after it, since computing needs one piece and the panel.
      const pieces = panel === 0 ? arrivals(plan.rowBlock) : [{ row: 0, rows: plan.rowBlock }]
      if (panel === 0) for (const entry of active) uploadRows(entry, pieces[0]!)
      bring(round, slot, column, columns)
      if (panel === 0)
        for (const piece of pieces.slice(1)) for (const entry of active) uploadRows(entry, piece)
      for (const entry of active) {
        const { lane, row, rows } = entry
        const target = lane.c[slot]!
        // Padding columns are multiplied too: the vector kernels need whole groups of four.
        const padded = Math.min(plan.bStride, Math.ceil(columns / 4) * 4)
        lane.panels[slot]!.arrive(padded)
        for (const piece of pieces) {
          const count = Math.min(piece.rows, rows - piece.row)
          if (count <= 0) continue
          // A piece that arrives later is transposed or split after the product of the first, which need not wait for it.
          if (panel === 0) entry.a.product.arriveRows(piece.row, count)
          const result = target.block(piece.row, 0, count, padded)
          entry.a.product.multiply(piece.row, count, lane.panels[slot]!, result)
        }
        recorder.download(target.block(0, 0, rows, columns), lane.host.c.block(row, column, rows, columns), {
          label: 'download C',
        })
      }
    }
  }

  /** Whether the device with this index has rows of A in a round. */
  function isActive(index: number, round: number): boolean {
    return ranges[index]!.rows > round * plan.rowBlock
  }

  function bringWhole(b: HostView<T>): BringPanel {
    return (round, slot, column, columns) =>
      bringPanel(
        recorder,
        group,
        lanes
          .filter(({ index }) => isActive(index, round))
          .map(({ device, b }) => ({ device, panel: b[slot]! })),
        (row, rows) => b.block(row, column, rows, columns),
        k,
        columns,
      )
  }

  /** B lies in the rows of each device; a process without one of them takes no part. */
  function bringShares(hosts: readonly (HostBuffer<T> | undefined)[]): BringPanel {
    if (!recorder.touches(...devices.map(({ ordinal }) => ordinal))) return () => {}
    const shares = splitRows(k, devices.length).flatMap((range, index) =>
      range.rows > 0
        ? [{ device: devices[index]!, index, ...range, view: hosts[index]!.reshape(range.rows, n) }]
        : [],
    )
    const all = devices.flatMap((device, index): Panels<T>[] => {
      if (ranges[index]!.rows === 0) return []
      const own = lanes.find((lane) => lane.index === index)
      return [own ?? { device, index, b: panelsOf(device) }]
    })
    return (round, slot, column, columns) => {
      const panels = all
        .filter(({ index }) => isActive(index, round))
        .map(({ device, index, b }) => ({ device, index, panel: b[slot]! }))
      const cut = shares.map((share) => ({
        ...share,
        view: share.view.block(0, column, share.rows, columns),
      }))
      spreadShares(recorder, group, panels, cut, columns)
    }
  }

  function uploadRows(
    entry: { lane: Lane<T>; row: number; rows: number; a: { readonly view: BufferView<T> } },
    piece: RowRange,
  ): void {
    const count = Math.min(piece.rows, entry.rows - piece.row)
    if (count > 0 && k > 0)
      recorder.upload(
        entry.lane.host.a.block(entry.row + piece.row, 0, count, k),
        entry.a.view.block(piece.row, 0, count, k),
        {
          label: 'upload A',
        },
      )
  }
}

/** Ranges of about `arrivalRows` rows that cover `rows` and end where tiles end. */
function arrivals(rows: number): RowRange[] {
  return splitRows(rows, Math.max(1, Math.floor(rows / arrivalRows)), 128)
}

/** Moves one panel of B to all devices. Each uploads its share and copies the other shares, or uploads all where it cannot access its peers. */
function bringPanel<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  lanes: readonly { device: Device; panel: DeviceBuffer<T> }[],
  source: (row: number, rows: number) => ReturnType<HostBuffer<T>['block']>,
  k: number,
  columns: number,
): void {
  if (k === 0) return
  const reachable = lanes.every((reader) =>
    lanes.every((owner) => group.canAccessPeer(reader.device, owner.device)),
  )
  if (!reachable || lanes.length === 1) {
    for (const { panel } of lanes)
      recorder.upload(source(0, k), panel.block(0, 0, k, columns), { label: 'upload B' })
    return
  }
  const shares = splitRows(k, lanes.length)
  for (const [index, { row, rows }] of shares.entries())
    if (rows > 0)
      recorder.upload(source(row, rows), lanes[index]!.panel.block(row, 0, rows, columns), {
        label: 'upload B',
      })
  // Each device begins with its right neighbour, so that no device sends to all at once.
  for (let step = 1; step < lanes.length; step++)
    for (const [index, { panel }] of lanes.entries()) {
      const owner = (index + step) % lanes.length
      const { row, rows } = shares[owner]!
      if (rows > 0)
        recorder.copy(lanes[owner]!.panel.block(row, 0, rows, columns), panel.block(row, 0, rows, columns), {
          label: 'spread B',
        })
    }
}

type BringPanel = (round: number, slot: number, column: number, columns: number) => void

/** Of a matrix that has elements. */
function typeOf<T extends MatmulType>(matrix: HostMatrix<T>): T {
  return 'reshape' in matrix ? matrix.type : matrix.find((part) => part !== undefined)!.type
}

/**
 * Moves one panel of B, whose rows lie with the devices, to all devices that need it: each uploads its own share, and the others copy it from there.
 * Over `staged`, where a message between devices would go through host memory again, each process uploads a share of another one itself, to
 * one of its devices.
 */
function spreadShares<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  panels: readonly Panel<T>[],
  shares: readonly (RowRange & {
    readonly device: Device
    readonly index: number
    readonly view: HostView<T>
  })[],
  columns: number,
): void {
  const own = shares.filter(({ device }) => recorder.touches(device.ordinal))
  // Each device begins with its own share and goes on with its right neighbour's, so that no process sends to all at once.
  const length = shares.length
  const moves = panels.flatMap((to) =>
    (recorder.touches(to.device.ordinal) ? shares : own).map((share) => ({
      ...{ to, share },
      step: (((share.index - to.index) % length) + length) % length,
    })),
  )
  const copies: (() => void)[] = []
  for (const { to, share } of moves.sort((a, b) => a.step - b.step)) {
    const { row, rows } = share
    const target = to.panel.block(row, 0, rows, columns)
    const entry = entryOf(group, panels, to, share)
    if (entry === to) recorder.upload(share.view, target, { label: 'upload B' })
    else
      copies.push(() =>
        recorder.copy(entry.panel.block(row, 0, rows, columns), target, { label: 'spread B' }),
      )
  }
  for (const copy of copies) copy()
}

interface Panel<T extends MatmulType> {
  readonly device: Device
  readonly index: number
  readonly panel: DeviceBuffer<T>
}

/** The panel from which `to` copies a share; `to` itself where it uploads the share. */
function entryOf<T extends MatmulType>(
  group: DeviceGroup,
  panels: readonly Panel<T>[],
  to: Panel<T>,
  share: { readonly device: Device; readonly index: number },
): Panel<T> {
  const own = panels.find(({ index }) => index === share.index)
  const { rank } = to.device
  const sameProcess = share.device.rank === rank
  if (own !== undefined && !sameProcess && group.transport?.name !== 'staged') return own
  const beside = panels.filter(({ device }) => device.rank === rank)
  const entry = beside.find((panel) => panel === own) ?? beside[0]!
  return sameProcess && !group.canAccessPeer(to.device, entry.device) ? to : entry
}
