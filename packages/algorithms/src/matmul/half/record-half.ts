import {
  bindableByteLength,
  type Device,
  type DeviceBuffer,
  foldWorkgroups,
  type OwnedResources,
  type Recorder,
} from '@tandem-gpu/core'
import type { RowRange } from '../../sharded-matrix.ts'
import { defaultMemoryByteLength } from '../choose/matmul-memory.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { type HalfBlocking, type HalfKernels, paddedHalves } from './half-kernels.ts'

/** One device's part: its rows of A and C, and all of B, padded with zeros to whole tiles. */
export interface HalfPart extends RowRange {
  readonly device: Device
  readonly a: DeviceBuffer<'u32'>
  readonly b: DeviceBuffer<'u32'>
  /** The f32 sums of each part of k, one below the other. */
  readonly products: DeviceBuffer<'f32'>
  /** C; the same buffer as `products` if the result is f32 and k is not divided. */
  readonly c: DeviceBuffer<'f32'> | DeviceBuffer<'u32'>
}

/**
 * Shapes of the buffers of a part of `rows` rows: A, B, the products, and C if it has a separate buffer; in
 * words of four bytes.
 */
function bufferShapes(given: number, shape: MatmulShape, blocking: HalfBlocking, resultType: 'f16' | 'f32') {
  const { rows, columns, depth } = paddedHalves(blocking, given, shape)
  const size = (rows: number, columns: number): [number, number] => [rows, columns]
  return {
    a: size(rows, depth / 2),
    b: size(depth, columns / 2),
    products: size(blocking.parts * rows, columns),
    c: resultType === 'f16' ? size(rows, columns / 2) : blocking.parts > 1 ? size(rows, columns) : undefined,
  }
}

/**
 * Why a product of f16 does not fit into the devices' memory, as a sentence; undefined if it fits. Virtual
 * devices share the memory of their physical device.
 */
export function halfObstacle(
  shape: MatmulShape,
  blocking: HalfBlocking,
  resultType: 'f16' | 'f32',
  rows: number,
  devices: readonly Device[],
): string | undefined {
  const shapes = Object.values(bufferShapes(rows, shape, blocking, resultType))
  const lengths = shapes.map((one) => (one === undefined ? 0 : 4 * one[0] * one[1]))
  const [largest, total] = [Math.max(...lengths), lengths.reduce((sum, length) => sum + length)]
  for (const device of devices) {
    const single = Math.min(bindableByteLength(device), device.limits.maxBufferByteLength)
    if (largest > single)
      return `A matrix needs ${largest} bytes on ${device.info.name}, but a kernel can bind at most ${single}.`
    const shared = devices.filter((other) => other.info.id === device.info.id).length
    if (device.info.memoryByteLength !== undefined && total * shared > defaultMemoryByteLength(device))
      return `The matrices need ${total * shared} bytes on ${device.info.name}, but only ${Math.floor(defaultMemoryByteLength(device))} may be used.`
  }
  return undefined
}

/** Allocates the buffers for the part of `device`, zeroed. */
export async function allocateHalfPart(
  owned: OwnedResources,
  device: Device,
  range: RowRange,
  shape: MatmulShape,
  blocking: HalfBlocking,
  resultType: 'f16' | 'f32',
): Promise<HalfPart> {
  const shapes = bufferShapes(range.rows, shape, blocking, resultType)
  const make = async <T extends 'u32' | 'f32'>(type: T, size: [number, number], name: string) =>
    owned.keep(await device.allocate(type, size, { label: `${name}[${device.ordinal}]` }))
  const [a, b] = [await make('u32', shapes.a, 'A'), await make('u32', shapes.b, 'B')]
  const products = await make('f32', shapes.products, 'products')
  const c =
    shapes.c === undefined
      ? products
      : await (resultType === 'f16' ? make('u32', shapes.c, 'C') : make('f32', shapes.c, 'C'))
  return { device, row: range.row, rows: range.rows, a, b, products, c }
}

/** Records the product of one part: the sums of each part of k, and the kernel that combines them into C. */
export function recordHalf(
  recorder: Recorder,
  { blocking, product, finish }: HalfKernels,
  { device, a, b, products, c, rows }: HalfPart,
  shape: MatmulShape,
): void {
  const { n, k } = shape
  const { body, tile, parts, depth } = blocking
  const padded = paddedHalves(blocking, rows, shape)
  if (k === 0) recorder.fill(products, 0, { label: 'product' })
  else
    recorder.dispatch(product, {
      device: device.ordinal,
      workgroups: [
        ...foldWorkgroups(Math.ceil(rows / tile.rows) * Math.ceil(n / tile.columns), device),
        parts,
      ],
      args: {
        a,
        b,
        c: products,
        m: rows,
        n,
        k: body === 'tensor' ? padded.depth : k,
        k_chunk: depth,
      },
      label: 'product',
    })
  if (finish === undefined) return
  const columns = c.type === 'f32' ? Math.ceil(n / 4) : Math.ceil(n / 2)
  recorder.dispatch(finish, {
    device: device.ordinal,
    workgroups: foldWorkgroups(Math.ceil(rows / 4) * Math.ceil(columns / 64), device),
    args: { x: products, to: c, rows, columns, parts, part_rows: padded.rows },
    label: c.type === 'f32' ? 'sum of parts' : 'round',
  })
}
