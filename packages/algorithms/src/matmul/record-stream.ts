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
import { type LeftRows, leftRows } from './left-rows.ts'
import type { MatmulKernels } from './matmul-kernels.ts'
import type { MatmulShape, MatmulType } from './matmul-shape.ts'
import type { StreamPlan } from './plan-stream.ts'
import { recordLeftMatmul } from './record-matmul.ts'

/**
 * m × k, k × n and m × n, dense. A and C are whole, or come in the rows of each device (`splitRows`), undefined where it has none: so that
 * over several processes each has those of its devices alone.
 */
export interface HostMatrices<T extends MatmulType> {
  readonly a: HostBuffer<T> | readonly (HostBuffer<T> | undefined)[]
  readonly b: HostBuffer<T>
  readonly c: HostBuffer<T> | readonly (HostBuffer<T> | undefined)[]
}

interface Lane<T extends MatmulType> {
  readonly device: Device
  readonly row: number
  readonly rows: number
  /** Its rows of A and C in host memory. */
  readonly host: { readonly a: HostView<T>; readonly c: HostView<T> }
  readonly kernels: MatmulKernels
  readonly a: { readonly view: DeviceBuffer<T>; readonly left: LeftRows<T> }[]
  readonly b: DeviceBuffer<T>[]
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
  const { type } = host.b
  const b = host.b.reshape(k, n)
  /** The rows of the device with this index. */
  const share = (matrix: HostMatrices<T>['a'], index: number, { row, rows }: RowRange, columns: number) =>
    'reshape' in matrix
      ? matrix.reshape(m, columns).block(row, 0, rows, columns)
      : matrix[index]!.reshape(rows, columns)
  const times = <V>(count: number, make: (index: number) => V) =>
    Array.from({ length: count }, (_, i) => make(i))
  const lanes: Lane<T>[] = splitRows(m, devices.length).flatMap((range, index) => {
    const device = devices[index]!
    if (range.rows === 0 || !recorder.touches(device.ordinal)) return []
    const rows = Math.min(plan.rowBlock, range.rows)
    return [
      {
        device,
        ...range,
        host: { a: share(host.a, index, range, k), c: share(host.c, index, range, n) },
        kernels: kernels(device),
        a: times(plan.aBuffers, (i) => {
          const view = recorder.scratch(device.ordinal, type, [rows, plan.aStride], { label: `A ${i}` })
          const needed = plan.bStride % 4 === 0
          const left = leftRows(recorder, kernels(device), view, {
            device,
            label: 'product',
            k,
            cStride: plan.bStride,
            needed,
          })
          return { view, left }
        }),
        b: times(plan.panelBuffers, (i) =>
          recorder.scratch(device.ordinal, type, [k, plan.bStride], { label: `B ${i}` }),
        ),
        c: times(plan.panelBuffers, (i) =>
          recorder.scratch(device.ordinal, type, [rows, plan.bStride], { label: `C ${i}` }),
        ),
      },
    ]
  })
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
      bringPanel(
        recorder,
        group,
        active.map(({ lane }) => ({ device: lane.device, panel: lane.b[slot]! })),
        (row, rows) => b.block(row, column, rows, columns),
        k,
        columns,
      )
      if (panel === 0)
        for (const piece of pieces.slice(1)) for (const entry of active) uploadRows(entry, piece)
      for (const entry of active) {
        const { lane, row, rows } = entry
        const target = lane.c[slot]!
        // Padding columns are multiplied too: the vector kernels need whole groups of four.
        const padded = Math.min(plan.bStride, Math.ceil(columns / 4) * 4)
        for (const piece of pieces) {
          const count = Math.min(piece.rows, rows - piece.row)
          if (count <= 0) continue
          // A piece that arrives later is transposed after the product of the first, which need not wait for it.
          if (panel === 0) entry.a.left.arrive(piece.row, count)
          recordLeftMatmul(
            recorder,
            lane.kernels,
            entry.a.left.parts(piece.row, count),
            lane.b[slot]!.block(0, 0, k, padded),
            target.block(piece.row, 0, count, padded),
            { device: lane.device, label: 'product' },
          )
        }
        recorder.download(target.block(0, 0, rows, columns), lane.host.c.block(row, column, rows, columns), {
          label: 'download C',
        })
      }
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
