import {
  bindableByteLength,
  type Device,
  type DeviceBuffer,
  foldWorkgroups,
  type OwnedResources,
  type Recorder,
} from '@tandem-gpu/core'
import type { RowRange } from '../sharded-matrix.ts'
import { type HalfKernels, halfTile } from './half-kernels.ts'
import { defaultMemoryByteLength } from './matmul-memory.ts'
import type { MatmulShape } from './matmul-shape.ts'

/** One device's part: its rows of A and C, and all of B, padded with zeros to whole tiles. */
export interface HalfPart extends RowRange {
  readonly device: Device
  readonly a: DeviceBuffer<'u32'>
  readonly b: DeviceBuffer<'u32'>
  readonly sums: DeviceBuffer<'f32'>
  readonly rounded: DeviceBuffer<'u32'> | undefined
}

const up = (value: number) => Math.ceil(value / halfTile) * halfTile

/** Bytes of each buffer of a part of `rows` rows: A, B, the sums, and the rounded result. */
function byteLengths(rows: number, { n, k }: MatmulShape, resultType: 'f16' | 'f32'): number[] {
  const sums = 4 * up(rows) * up(n)
  return [2 * up(rows) * up(k), 2 * up(k) * up(n), sums, resultType === 'f16' ? sums / 2 : 0]
}

/** What keeps a product of f16 from the devices' memory, as a sentence; undefined where it fits. Virtual devices share the memory of their physical device. */
export function halfObstacle(
  shape: MatmulShape,
  resultType: 'f16' | 'f32',
  rows: number,
  devices: readonly Device[],
): string | undefined {
  const lengths = byteLengths(rows, shape, resultType)
  const [largest, total] = [Math.max(...lengths), lengths.reduce((sum, length) => sum + length)]
  for (const device of devices) {
    const single = Math.min(bindableByteLength(device), device.limits.maxBufferByteLength)
    if (largest > single)
      return `A matrix takes ${largest} bytes on ${device.info.name}, and a kernel binds at most ${single}.`
    const shared = devices.filter((other) => other.info.id === device.info.id).length
    if (device.info.memoryByteLength !== undefined && total * shared > defaultMemoryByteLength(device))
      return `The matrices take ${total * shared} bytes on ${device.info.name}, and ${Math.floor(defaultMemoryByteLength(device))} may be used.`
  }
  return undefined
}

/** Allocates the part of `device`, zeroed. */
export async function allocateHalfPart(
  owned: OwnedResources,
  device: Device,
  range: RowRange,
  { n, k }: MatmulShape,
  resultType: 'f16' | 'f32',
): Promise<HalfPart> {
  const [rows, columns, depth] = [up(range.rows), up(n), up(k)]
  const make = async <T extends 'u32' | 'f32'>(type: T, shape: [number, number], name: string) =>
    owned.keep(await device.allocate(type, shape, { label: `${name}[${device.ordinal}]` }))
  return {
    ...{ device, row: range.row, rows: range.rows },
    a: await make('u32', [rows, depth / 2], 'A'),
    b: await make('u32', [depth, columns / 2], 'B'),
    sums: await make('f32', [rows, columns], 'C'),
    rounded: resultType === 'f16' ? await make('u32', [rows, columns / 2], 'C rounded') : undefined,
  }
}

/** Records the product of one part: the sums, and their rounding where the result is f16. */
export function recordHalf(
  recorder: Recorder,
  kernels: HalfKernels,
  { device, a, b, sums, rounded, rows }: HalfPart,
  { n, k }: MatmulShape,
): void {
  if (k === 0) recorder.fill(sums, 0, { label: 'product' })
  else {
    const edge = kernels.body === 'tensor' ? halfTile : 32
    recorder.dispatch(kernels.product, {
      device: device.ordinal,
      workgroups: foldWorkgroups(Math.ceil(rows / edge) * Math.ceil(n / edge), device),
      args:
        kernels.body === 'tensor'
          ? { a, b, c: sums, m: rows, n, k: up(k) }
          : { a, b, c: sums, m: rows, n, k, k_chunk: k },
      label: 'product',
    })
  }
  if (rounded === undefined || kernels.round === undefined) return
  const words = Math.ceil(n / 2)
  recorder.dispatch(kernels.round, {
    device: device.ordinal,
    workgroups: foldWorkgroups(Math.ceil(rows / 4) * Math.ceil(words / 64), device),
    args: { x: sums, rounded, rows, words },
    label: 'round',
  })
}
