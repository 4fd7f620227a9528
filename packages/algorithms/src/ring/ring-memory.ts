import {
  type Device,
  type DeviceBuffer,
  type DeviceGroup,
  type HostBuffer,
  OwnedResources,
} from '@tandem-gpu/core'
import { type ElementSource, readElements, readIntoHost, streamChunkLength } from '../element-source.ts'
import { padded } from '../matmul/choose/matmul-memory.ts'
import type { MatmulShape, MatmulType } from '../matmul/matmul-shape.ts'
import { type RowRange, splitRows } from '../sharded-matrix.ts'

/** One node of the ring: a device, and the host memory of its process. */
export interface RingNode<T extends MatmulType> {
  readonly device: Device
  /** The columns of B and C that stay on the device; empty if there are more nodes than columns. */
  readonly columns: RowRange
  /** k × columns, padded to a multiple of four columns; resident. */
  readonly b: DeviceBuffer<T>
  /** m × columns, padded in the same way. */
  readonly c: DeviceBuffer<T>
  /** Receives C at the end: m × columns, dense. */
  readonly result: HostBuffer<T>
  /** The node's own slice of A, which is never overwritten, so that a program may be repeated. */
  readonly own: HostBuffer<T>
  /** Slices of A that circulate: while one is uploaded, the other receives the slice of the next step. */
  readonly circulating: readonly [HostBuffer<T>, HostBuffer<T>]
  /** Slices of A on the device. A scheme without overlap between steps uses the first only. */
  readonly a: readonly [DeviceBuffer<T>, DeviceBuffer<T>]
}

/** A product on a ring: A is divided by rows into one slice for each node, B and C are divided by columns. */
export interface Ring<T extends MatmulType = MatmulType> {
  readonly shape: MatmulShape
  readonly type: T
  readonly nodes: readonly RingNode<T>[]
  /** Rows of A in each slice; the last may be shorter or empty. */
  readonly slices: readonly RowRange[]
  /** Leading dimension of A on the devices. */
  readonly stride: number
  destroy(): void
}

/**
 * Allocates the memory for `devices`. Host memory is placed by device, so that each process holds that of its
 * own nodes.
 */
export async function allocateRing<T extends MatmulType>(
  group: DeviceGroup,
  type: T,
  shape: MatmulShape,
  devices: readonly Device[] = group.devices,
): Promise<Ring<T>> {
  const { m, n, k } = shape
  const slices = splitRows(m, devices.length)
  const columns = splitRows(n, devices.length)
  const height = slices[0]!.rows
  const owned = new OwnedResources()
  try {
    const nodes: RingNode<T>[] = []
    for (const [index, device] of devices.entries()) {
      const width = columns[index]!
      const onDevice = async (name: string, rows: number, length: number) =>
        owned.keep(await device.allocate(type, [rows, padded(length)], { label: `${name}[${index}]` }))
      const onHost = (name: string, length: number) =>
        owned.keep(group.allocateHost(type, length, { label: `${name}[${index}]`, device }))
      nodes.push({
        device,
        columns: width,
        b: await onDevice('B', k, width.rows),
        c: await onDevice('C', m, width.rows),
        result: onHost('C', m * width.rows),
        own: onHost('own slice of A', height * k),
        circulating: [onHost('even slice of A', height * k), onHost('odd slice of A', height * k)],
        a: [await onDevice('A even', height, k), await onDevice('A odd', height, k)],
      })
    }
    return { shape, type, nodes, slices, stride: padded(k), destroy: () => owned.destroy() }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

/** Gives each node of this process its slice of A and its columns of B. */
export async function fillRing<T extends MatmulType>(
  group: DeviceGroup,
  { nodes, slices, shape, type }: Ring<T>,
  a: ElementSource<T>,
  b: ElementSource<T>,
): Promise<void> {
  const { n, k } = shape
  const local = nodes.filter(({ device }) => device.local)
  for (const [index, { device, own }] of nodes.entries()) {
    if (!device.local) continue
    const { row, rows } = slices[index]!
    for (let offset = 0; offset < rows * k; offset += streamChunkLength) {
      const length = Math.min(streamChunkLength, rows * k - offset)
      await readIntoHost(own, offset, a, row * k + offset, length)
    }
  }
  const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / Math.max(1, n)))
  for (let top = 0; top < k && n > 0; top += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, k - top)
    const rows = await readElements(b, type, top * n, count * n)
    for (const { b: target, columns } of local) {
      if (columns.rows === 0) continue
      const block = rows.slice(0, count * columns.rows)
      for (let row = 0; row < count; row++) {
        const start = row * n + columns.row
        block.set(rows.subarray(start, start + columns.rows) as never, row * columns.rows)
      }
      await group.queue.write(target.block(top, 0, count, columns.rows), block as never)
    }
  }
}
