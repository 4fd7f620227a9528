import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'

/** Rows of elements inside a buffer; all numbers count elements. */
export interface Region {
  /** First element, from the buffer's start. */
  readonly offset: number
  /** 1 for one-dimensional views. */
  readonly rows: number
  readonly columns: number
  /** Elements from one row's start to the next (leading dimension); at least `columns`. */
  readonly stride: number
  /** Elements in the view: `rows * columns`. */
  readonly length: number
}

/**
 * A part of a buffer `B`: the elements that a command declares to access. A buffer is itself a view of all
 * its elements.
 */
export interface View<B> extends Region {
  readonly buffer: B
  /**
   * A one-dimensional part, relative to this view, which must be contiguous. Throws `validation` if it does
   * not fit.
   */
  slice(offset: number, length: number): View<B>
  /** A two-dimensional block, relative to this view. Throws `validation` if it does not fit. */
  block(row: number, column: number, rows: number, columns: number): View<B>
  /**
   * Other rows, columns and leading dimension (default `columns`) over this view's elements, which must be
   * contiguous.
   */
  reshape(rows: number, columns: number, stride?: number): View<B>
}

/** A part of `buffer`, as core implements it. */
export class RegionView<B extends { readonly name: string }> implements View<B> {
  readonly buffer: B
  readonly offset: number
  readonly rows: number
  readonly columns: number
  readonly stride: number
  readonly length: number

  constructor(buffer: B, { offset, rows, columns, stride, length }: Region) {
    this.buffer = buffer
    this.offset = offset
    this.rows = rows
    this.columns = columns
    this.stride = stride
    this.length = length
  }

  slice(offset: number, length: number): RegionView<B> {
    return new RegionView(this.buffer, sliceRegion(this, offset, length, `a view of ${this.buffer.name}`))
  }

  block(row: number, column: number, rows: number, columns: number): RegionView<B> {
    const region = blockRegion(this, row, column, rows, columns, `a view of ${this.buffer.name}`)
    return new RegionView(this.buffer, region)
  }

  reshape(rows: number, columns: number, stride?: number): RegionView<B> {
    const region = reshapeRegion(this, rows, columns, stride, `a view of ${this.buffer.name}`)
    return new RegionView(this.buffer, region)
  }
}

/** Returns `value`; throws `validation` unless it is a safe integer of at least `minimum`. */
export function requireCount(value: number, what: string, minimum = 0): number {
  if (typeof what !== 'string' || typeof minimum !== 'number')
    throw invalid(
      `The name of a count is ${describedValue(what)}, and its minimum is ${describedValue(minimum)}; they must be a string and a number.`,
    )
  if (Number.isSafeInteger(value) && value >= minimum) return value
  const wanted =
    Number.isInteger(value) && value > minimum
      ? `at most ${Number.MAX_SAFE_INTEGER}`
      : `a whole number of at least ${minimum}`
  throw invalid(`${what} is ${describedValue(value)}; it must be ${wanted}.`)
}

/** The region of a shape as passed to `allocate`. Throws `validation` if it is not a shape. */
export function shapeRegion(shape: number | readonly [rows: number, columns: number], what: string): Region {
  if (typeof shape === 'number') {
    const length = requireCount(shape, `Length of ${what}`)
    return { offset: 0, rows: 1, columns: length, stride: length, length }
  }
  if (!Array.isArray(shape) || shape.length !== 2)
    throw invalid(
      `The shape of ${what} is ${describedValue(shape)}; it must be a length, or [rows, columns].`,
    )
  const [rows, columns] = shape as readonly [number, number]
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
    throw invalid(`A slice of ${what} needs contiguous elements; it has ${describe(region)}.`)
  if (offset + length > region.length)
    throw invalid(
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
    throw invalid(
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
    throw invalid(
      `The leading dimension ${leading} of a reshape of ${what} is smaller than its ${columns} columns.`,
    )
  if (!isDense(region))
    throw invalid(`A reshape of ${what} needs contiguous elements; it has ${describe(region)}.`)
  const length = rows * columns
  const span = length === 0 ? 0 : (rows - 1) * leading + columns
  if (span > region.length)
    throw invalid(
      `A reshape to ${rows} x ${columns} with leading dimension ${leading} spans ${span} elements; ${what} has ${region.length}.`,
    )
  return { offset: region.offset, rows, columns, stride: leading, length }
}
