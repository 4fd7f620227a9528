import type { Region } from '../buffers/view.ts'
import type { ByteRegion, Extent } from './plan.ts'

/** The bytes of a view's elements, with the same rows; `buffer` is the number of its buffer in a plan. */
export function byteRegion(
  buffer: number,
  { offset, rows, columns, stride }: Region,
  elementByteLength: number,
): ByteRegion {
  return {
    buffer,
    byteOffset: offset * elementByteLength,
    rowByteLength: columns * elementByteLength,
    rows,
    rowByteStride: (rows === 1 ? columns : stride) * elementByteLength,
  }
}

/** First byte after the region. */
export function regionEnd(region: Extent): number {
  return region.byteOffset + (region.rows - 1) * region.rowByteStride + region.rowByteLength
}

export function regionByteLength(region: Extent): number {
  return region.rows * region.rowByteLength
}

/** Whether there are no bytes between its rows. */
export function isContiguous(region: Pick<Extent, 'rows' | 'rowByteLength' | 'rowByteStride'>): boolean {
  return region.rows <= 1 || region.rowByteStride === region.rowByteLength
}

/** The same bytes as one row if the region is contiguous; otherwise the region itself. */
export function flattened(region: ByteRegion): ByteRegion {
  if (region.rows === 1 && region.rowByteStride === region.rowByteLength) return region
  if (!isContiguous(region)) return region
  const rowByteLength = regionByteLength(region)
  return { ...region, rows: 1, rowByteLength, rowByteStride: rowByteLength }
}

/**
 * Regions with different leading dimensions are compared row by row up to this many rows; larger ones only by
 * their outer ranges.
 */
const exactRowLimit = 1024

/**
 * Whether two non-empty regions of one buffer share a byte. Exact if one is contiguous, if the strides are
 * equal, or if one has at most 1024 rows; otherwise the result may be true for regions that interleave
 * without touching.
 */
export function regionsOverlap(a: Extent, b: Extent): boolean {
  if (a.byteOffset >= regionEnd(b) || b.byteOffset >= regionEnd(a)) return false
  const aContiguous = isContiguous(a)
  const bContiguous = isContiguous(b)
  if (aContiguous && bContiguous) return true
  if (aContiguous) return intervalMeetsRows(a.byteOffset, regionEnd(a), b)
  if (bContiguous) return intervalMeetsRows(b.byteOffset, regionEnd(b), a)
  if (a.rowByteStride === b.rowByteStride) return equalStridesOverlap(a, b)
  const [few, many] = a.rows <= b.rows ? [a, b] : [b, a]
  if (few.rows > exactRowLimit) return true
  for (let row = 0; row < few.rows; row++) {
    const start = few.byteOffset + row * few.rowByteStride
    if (intervalMeetsRows(start, start + few.rowByteLength, many)) return true
  }
  return false
}

/**
 * Whether [start, end) meets any row. Row i meets it when `offset + i*stride < end` and `offset + i*stride +
 * width > start`.
 */
function intervalMeetsRows(start: number, end: number, region: Extent): boolean {
  const { byteOffset, rowByteLength, rowByteStride, rows } = region
  const first = Math.max(0, Math.floor((start - byteOffset - rowByteLength) / rowByteStride) + 1)
  const last = Math.min(rows - 1, Math.ceil((end - byteOffset) / rowByteStride) - 1)
  return first <= last
}

/** With one stride s and `b - a = k*s + r`, row i of a can meet only rows i - k and i - k - 1 of b. */
function equalStridesOverlap(a: Extent, b: Extent): boolean {
  const stride = a.rowByteStride
  const k = Math.floor((b.byteOffset - a.byteOffset) / stride)
  const r = b.byteOffset - a.byteOffset - k * stride
  const rowsMeet = (shift: number) => Math.max(0, shift) < Math.min(a.rows, b.rows + shift)
  return (r < a.rowByteLength && rowsMeet(k)) || (r + b.rowByteLength > stride && rowsMeet(k + 1))
}

/**
 * Whether `outer` certainly contains every byte of `inner`; the result may be false for unequal strides even
 * if it does.
 */
export function regionCovers(outer: Extent, inner: Extent): boolean {
  if (outer.byteOffset > inner.byteOffset || regionEnd(outer) < regionEnd(inner)) return false
  if (isContiguous(outer)) return true
  const stride = outer.rowByteStride
  const column = (inner.byteOffset - outer.byteOffset) % stride
  if (column + inner.rowByteLength > outer.rowByteLength) return false
  return inner.rows === 1 || inner.rowByteStride === stride
}
