import { bindableByteLength, type Device } from '@tandem-gpu/core'
import { splitRows } from '../../sharded-matrix.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import { splitByteLength } from '../tensor/split-kernels.ts'

/**
 * The default limit on the memory that a product uses on a device: 80 % of it, or the size of the largest
 * buffer if the size of the memory is unknown.
 */
export function defaultMemoryByteLength(device: Device): number {
  return device.info.memoryByteLength === undefined
    ? device.limits.maxBufferByteLength
    : 0.8 * device.info.memoryByteLength
}

/**
 * The leading dimension on the device: a multiple of four elements, which the vector kernels need, except for
 * very narrow matrices.
 */
export function padded(columns: number): number {
  return columns < 16 ? columns : Math.ceil(columns / 4) * 4
}

/**
 * Whether each device has enough memory, in large enough buffers, for its slices of A, B and C, the whole of
 * B, a transposed copy of its slice of A if `transposed`, and the f16 parts of A and B if `split`. Virtual
 * devices share the memory of their physical device.
 */
export function fitsResident(
  { m, n, k }: MatmulShape,
  devices: readonly Device[],
  { transposed = false, split = false }: { transposed?: boolean; split?: boolean } = {},
): boolean {
  const rows = splitRows(m, devices.length)[0]!.rows
  const bRows = splitRows(k, devices.length)[0]!.rows
  const [a, bPart, b, c] = [rows * padded(k), bRows * padded(n), k * padded(n), rows * padded(n)].map(
    (length) => length * 4,
  ) as [number, number, number, number]
  const more = (transposed ? 4 * k * padded(rows) : 0) + (split ? splitByteLength(rows, padded(n), k) : 0)
  return devices.every((device) => {
    const shared = devices.filter((other) => other.info.id === device.info.id).length
    const limit = device.limits.maxBufferByteLength
    return (
      Math.max(a, bPart, c) <= limit &&
      k * 16 <= Math.min(bindableByteLength(device), limit) &&
      Math.max(padded(k), padded(n)) * 4 <= bindableByteLength(device) &&
      (a + c + bPart + (devices.length > 1 ? b : 0) + more) * shared <=
        (device.info.memoryByteLength === undefined
          ? Number.POSITIVE_INFINITY
          : defaultMemoryByteLength(device))
    )
  })
}
