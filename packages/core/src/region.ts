import { GpuError } from './errors.ts'
import type { Region } from './view.ts'

/** Throws `validation` unless `value` is a whole number of at least `minimum` that arithmetic keeps exact. */
export function requireCount(value: number, what: string, minimum = 0): number {
  if (!Number.isSafeInteger(value) || value < minimum)
    throw new GpuError('validation', `${what} is ${value}; it must be a whole number of at least ${minimum}.`)
  return value
}

export function contiguousRegion(length: number): Region {
  return { offset: 0, rows: 1, columns: length, stride: length, length }
}

/** Rows and columns of a shape as `allocate` takes it. */
export function shapeRegion(shape: number | readonly [rows: number, columns: number], what: string): Region {
  if (typeof shape === 'number') return contiguousRegion(requireCount(shape, `Length of ${what}`))
  const [rows, columns] = shape
  requireCount(rows, `Row count of ${what}`)
  requireCount(columns, `Column count of ${what}`)
  requireCount(rows * columns, `Element count of ${what}`)
  return { offset: 0, rows, columns, stride: columns, length: rows * columns }
}

const isDense = (region: Region) =>
  region.rows <= 1 || region.stride === region.columns || region.length === 0

function describe(region: Region): string {
  return `${region.rows} x ${region.columns} elements with leading dimension ${region.stride}`
}

export function sliceRegion(region: Region, offset: number, length: number, what: string): Region {
  requireCount(offset, `Offset of a slice of ${what}`)
  requireCount(length, `Length of a slice of ${what}`)
  if (!isDense(region))
    throw new GpuError(
      'validation',
      `A slice of ${what} needs contiguous elements; it has ${describe(region)}.`,
    )
  if (offset + length > region.length)
    throw new GpuError(
      'validation',
      `The slice [${offset}, ${offset + length}) exceeds ${what}, which has ${region.length} elements.`,
    )
  return { offset: region.offset + offset, rows: 1, columns: length, stride: length, length }
}

export function blockRegion(
  region: Region,
  row: number,
  column: number,
  rows: number,
  columns: number,
  what: string,
): Region {
  requireCount(row, `Row of a block of ${what}`)
  requireCount(column, `Column of a block of ${what}`)
  requireCount(rows, `Row count of a block of ${what}`)
  requireCount(columns, `Column count of a block of ${what}`)
  if (row + rows > region.rows || column + columns > region.columns)
    throw new GpuError(
      'validation',
      `The block of ${rows} x ${columns} at (${row}, ${column}) exceeds ${what}, which has ${region.rows} x ${region.columns} elements.`,
    )
  const offset = region.offset + row * region.stride + column
  return { offset, rows, columns, stride: region.stride, length: rows * columns }
}

export function reshapeRegion(
  region: Region,
  rows: number,
  columns: number,
  stride: number | undefined,
  what: string,
): Region {
  requireCount(rows, `Row count of a reshape of ${what}`)
  requireCount(columns, `Column count of a reshape of ${what}`)
  const leading = requireCount(stride ?? columns, `Leading dimension of a reshape of ${what}`)
  if (leading < columns)
    throw new GpuError(
      'validation',
      `The leading dimension ${leading} of a reshape of ${what} is smaller than its ${columns} columns.`,
    )
  if (!isDense(region))
    throw new GpuError(
      'validation',
      `A reshape of ${what} needs contiguous elements; it has ${describe(region)}.`,
    )
  const length = rows * columns
  const span = length === 0 ? 0 : (rows - 1) * leading + columns
  if (span > region.length)
    throw new GpuError(
      'validation',
      `A reshape to ${rows} x ${columns} with leading dimension ${leading} spans ${span} elements; ${what} has ${region.length}.`,
    )
  return { offset: region.offset, rows, columns, stride: leading, length }
}
