import type { Device, DeviceBuffer, DeviceGroup, HostBuffer, HostView, Recorder } from '@tandem-gpu/core'
import { type RowRange, splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape, MatmulType } from '../matmul-shape.ts'
import type { MatmulKernels } from '../single/matmul-kernels.ts'
import { bringShares, bringWhole } from './bring-panel.ts'
import type { StreamPlan } from './plan-stream.ts'
import {
  type StreamedPanel,
  type StreamedProduct,
  streamedPanel,
  streamedProduct,
} from './streamed-product.ts'

/**
 * A dense matrix in host memory: either whole, or as the rows of each device (`splitRows`), undefined for a
 * device without rows. With the second form, each of several processes holds only the rows of its own
 * devices.
 */
export type HostMatrix<T extends MatmulType> = HostBuffer<T> | readonly (HostBuffer<T> | undefined)[]

export interface StreamedMatmul<T extends MatmulType> {
  /** The devices that compute. */
  readonly devices: readonly Device[]
  readonly kernels: (device: Device) => MatmulKernels
  readonly shape: MatmulShape
  /** m × k, k × n and m × n. */
  readonly host: { readonly a: HostMatrix<T>; readonly b: HostMatrix<T>; readonly c: HostMatrix<T> }
  readonly plan: StreamPlan
}

/** The panels of B on a device. */
interface Panels<T extends MatmulType> {
  readonly device: Device
  /** Its index among the devices of the product. */
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

/** The rows of A that a lane multiplies in one round. */
interface Round<T extends MatmulType> extends RowRange {
  readonly lane: Lane<T>
  readonly a: Lane<T>['a'][number]
}

/**
 * In the first panel of a round, products wait separately for each block of this many rows of A, so that
 * computing starts before all of A has arrived.
 */
const arrivalRows = 1024

/**
 * Records C = A · B for matrices in host memory (C++ AMP, "Matrix multiplication over several accelerators":
 * A and C are divided by rows between the devices, B is streamed in panels of columns). While one panel is
 * used, the next is uploaded. If devices can access each other's memory, each uploads 1/N of a panel over its
 * own host link and copies the rest from the others; otherwise each uploads the whole panel.
 */
export function recordStreamedMatmul<T extends MatmulType>(
  recorder: Recorder,
  group: DeviceGroup,
  { devices, kernels, shape, host, plan }: StreamedMatmul<T>,
): void {
  const { m, n, k } = shape
  if (m === 0 || n === 0) return
  const type = typeOf(host.c)
  const ranges = splitRows(m, devices.length)
  const lanes = ranges.flatMap((range, index) =>
    range.rows > 0 && recorder.touches(devices[index]!.ordinal) ? [laneOf(range, index)] : [],
  )
  const bring = 'reshape' in host.b ? wholeOf(host.b.reshape(k, n)) : sharesOf(host.b)
  let turn = 0
  for (let round = 0; round < plan.rounds; round++) {
    const active = lanes.flatMap((lane): Round<T>[] => {
      const row = round * plan.rowBlock
      const rows = Math.min(plan.rowBlock, lane.rows - row)
      return rows > 0 ? [{ lane, row, rows, a: lane.a[round % plan.aBuffers]! }] : []
    })
    for (let panel = 0; panel < plan.panels; panel++, turn++) {
      const column = panel * plan.width
      const columns = Math.min(plan.width, n - column)
      const slot = turn % plan.panelBuffers
      // The first piece of A is uploaded before the panel and the others after it, since computing can start
      // with one piece and the panel.
      const pieces = panel === 0 ? arrivals(plan.rowBlock) : [{ row: 0, rows: plan.rowBlock }]
      if (panel === 0) for (const entry of active) uploadRows(entry, pieces[0]!)
      bring(round, slot, column, columns)
      if (panel === 0)
        for (const piece of pieces.slice(1)) for (const entry of active) uploadRows(entry, piece)
      for (const entry of active) {
        const { lane, row, rows } = entry
        const target = lane.c[slot]!
        // Padding columns are multiplied too, since the vector kernels need whole groups of four.
        const padded = Math.min(plan.bStride, Math.ceil(columns / 4) * 4)
        lane.panels[slot]!.arrive(padded)
        for (const piece of pieces) {
          const count = Math.min(piece.rows, rows - piece.row)
          if (count <= 0) continue
          // A piece that arrives later is transposed or split after the product of the first, which need not
          // wait for it.
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

  function laneOf(range: RowRange, index: number): Lane<T> {
    const device = devices[index]!
    const rows = Math.min(plan.rowBlock, range.rows)
    const place = { device, label: 'product' }
    const b = panelsOf(device)
    const { blocking, split } = kernels(device)
    // One buffer for all products of the lane, which run one after another.
    const sums =
      blocking.parts === 1 || split !== undefined
        ? undefined
        : recorder.scratch(device.ordinal, type, [blocking.parts * rows, plan.bStride], {
            label: 'parts of C',
          })
    return {
      device,
      index,
      b,
      ...range,
      host: { a: rowsOf(host.a, index, k), c: rowsOf(host.c, index, n) },
      a: times(plan.aBuffers, (i) => {
        const view = recorder.scratch(device.ordinal, type, [rows, plan.aStride], { label: `A ${i}` })
        const sizes = { k, cStride: plan.bStride, sums }
        return { view, product: streamedProduct(recorder, kernels(device), view, { ...place, ...sizes }) }
      }),
      panels: b.map((view) => streamedPanel(recorder, kernels(device), view, place)),
      c: times(plan.panelBuffers, (i) =>
        recorder.scratch(device.ordinal, type, [rows, plan.bStride], { label: `C ${i}` }),
      ),
    }
  }

  function panelsOf(device: Device): DeviceBuffer<T>[] {
    return times(plan.panelBuffers, (i) =>
      recorder.scratch(device.ordinal, type, [k, plan.bStride], { label: `B ${i}` }),
    )
  }

  /** The rows of the device with this index. */
  function rowsOf(matrix: HostMatrix<T>, index: number, columns: number): HostView<T> {
    const { row, rows } = ranges[index]!
    return 'reshape' in matrix
      ? matrix.reshape(m, columns).block(row, 0, rows, columns)
      : matrix[index]!.reshape(rows, columns)
  }

  /** The buffers that receive a panel, on the devices that have rows of A in a round. */
  function placesOf(all: readonly Panels<T>[], round: number, slot: number) {
    return all
      .filter(({ index }) => ranges[index]!.rows > round * plan.rowBlock)
      .map(({ device, index, b }) => ({ device, index, panel: b[slot]! }))
  }

  function wholeOf(b: HostView<T>): BringPanel {
    return (round, slot, column, columns) =>
      bringWhole(recorder, group, placesOf(lanes, round, slot), b.block(0, column, k, columns))
  }

  /** The shares of B, which is stored by device; a process without a share takes no part. */
  function sharesOf(hosts: readonly (HostBuffer<T> | undefined)[]): BringPanel {
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
      const cut = shares.map((share) => ({
        ...share,
        view: share.view.block(0, column, share.rows, columns),
      }))
      bringShares(recorder, group, placesOf(all, round, slot), cut)
    }
  }

  function uploadRows({ lane, row, rows, a }: Round<T>, piece: RowRange): void {
    const count = Math.min(piece.rows, rows - piece.row)
    if (count > 0 && k > 0)
      recorder.upload(lane.host.a.block(row + piece.row, 0, count, k), a.view.block(piece.row, 0, count, k), {
        label: 'upload A',
      })
  }
}

type BringPanel = (round: number, slot: number, column: number, columns: number) => void

/** Ranges of about `arrivalRows` rows that cover `rows` and end at tile boundaries. */
function arrivals(rows: number): RowRange[] {
  return splitRows(rows, Math.max(1, Math.floor(rows / arrivalRows)), 128)
}

/** The element type of a matrix that has elements. */
function typeOf<T extends MatmulType>(matrix: HostMatrix<T>): T {
  return 'reshape' in matrix ? matrix.type : matrix.find((part) => part !== undefined)!.type
}

function times<V>(count: number, make: (index: number) => V): V[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
