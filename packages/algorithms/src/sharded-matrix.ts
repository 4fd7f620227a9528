import {
  type BufferView,
  type Device,
  type DeviceGroup,
  describedValue,
  type ElementArray,
  type ElementType,
  elementArray,
  GpuError,
  OwnedResources,
  requireCount,
  requireOptions,
} from '@tandem-gpu/core'
import {
  type ElementSink,
  type ElementSource,
  readElements,
  requireElements,
  streamChunkLength,
} from './element-source.ts'
import { requireGroup } from './option-types.ts'
import { requireResult } from './require-result.ts'

/** Rows `[row, row + rows)` of a matrix; may be empty. */
export interface RowRange {
  readonly row: number
  readonly rows: number
}

/**
 * Returns one range for each part, in order: `ceil(rows / parts)` rows each, rounded up to a multiple of
 * `alignment`, so the last ranges may be shorter or empty. The boundaries between ranges are multiples of
 * `alignment`, whatever `parts` is.
 */
export function splitRows(rows: number, parts: number, alignment = 1): RowRange[] {
  requireCount(rows, 'The number of rows to split')
  requireCount(parts, 'The number of parts', 1)
  requireCount(alignment, 'The alignment of parts', 1)
  const height = Math.ceil(Math.ceil(rows / parts) / alignment) * alignment
  return Array.from({ length: parts }, (_, part) => {
    const row = Math.min(rows, part * height)
    return { row, rows: Math.min(rows, row + height) - row }
  })
}

/** The rows of a sharded matrix that one device holds. */
export interface MatrixSlice<T extends ElementType = ElementType> extends RowRange {
  readonly device: Device
  /** `rows` × `columns` of the matrix; the stride may be larger. */
  readonly view: BufferView<T>
}

/**
 * A row-major matrix divided into one slice of consecutive rows per device, in device order. A vector of n
 * elements is n × 1.
 */
export interface ShardedMatrix<T extends ElementType = ElementType> {
  readonly type: T
  readonly rows: number
  readonly columns: number
  readonly slices: readonly MatrixSlice<T>[]
  /** Frees the buffers of the slices, if the matrix owns them. */
  destroy(): void
}

/** Options of `allocateSharded`. */
export interface AllocateShardedOptions {
  label?: string | undefined
  /** Default true. False leaves the contents undefined. */
  zero?: boolean | undefined
  /** Slices begin at multiples of this many rows. Default 1. */
  alignment?: number | undefined
}

/** Allocates a `rows` × `columns` matrix over all devices of the group. Rows are dense. */
export async function allocateSharded<T extends ElementType>(
  group: DeviceGroup,
  type: T,
  rows: number,
  columns: number,
  options: AllocateShardedOptions = {},
): Promise<ShardedMatrix<T>> {
  requireGroup(group)
  requireOptions(options, 'allocateSharded', { label: 'string', zero: 'boolean', alignment: 'any' })
  const { label = 'matrix', zero = true, alignment = 1 } = options
  requireCount(rows, `The row count of sharded matrix "${label}"`)
  requireCount(columns, `The column count of sharded matrix "${label}"`)
  const ranges = splitRows(rows, group.devices.length, alignment)
  const owned = new OwnedResources()
  try {
    const buffers = await owned.keepAll(
      group.devices.map((device, ordinal) =>
        device.allocate(type, [ranges[ordinal]!.rows, columns], { label: `${label}[${ordinal}]`, zero }),
      ),
    )
    const slices = group.devices.map((device, ordinal) => ({
      device,
      ...ranges[ordinal]!,
      view: buffers[ordinal]!,
    }))
    return { type, rows, columns, slices, destroy: () => owned.destroy() }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

/**
 * A sharded matrix over views that the caller owns: one per device, in device order, of equal width.
 * `destroy` does not free them.
 */
export function shardedFromViews<T extends ElementType>(
  group: DeviceGroup,
  type: T,
  views: readonly BufferView<T>[],
): ShardedMatrix<T> {
  requireGroup(group)
  if (!Array.isArray(views))
    throw new GpuError(
      'validation',
      `The views of a sharded matrix are ${describedValue(views)}; they must be an array of views.`,
    )
  if (views.length !== group.devices.length)
    throw new GpuError(
      'validation',
      `A sharded matrix needs one view per device, but there are ${views.length} views and ${group.devices.length} devices.`,
    )
  const columns = views[0]!.columns
  let row = 0
  const slices = views.map((view, ordinal) => {
    if (view.columns !== columns)
      throw new GpuError(
        'validation',
        `View ${ordinal} has ${view.columns} columns, but view 0 has ${columns}: all slices must have the same width.`,
      )
    const slice = { device: group.devices[ordinal]!, row, rows: view.rows, view }
    row += view.rows
    return slice
  })
  return { type, rows: row, columns, slices, destroy() {} }
}

/**
 * Fills the matrix from the host, slice by slice, in pieces of at most 16 MiB (or one row, if the slice is
 * strided). Reads from the source only the rows of this process's devices.
 */
export async function writeSharded<T extends ElementType>(
  group: DeviceGroup,
  matrix: ShardedMatrix<T>,
  source: ElementSource<T>,
): Promise<void> {
  requireGroup(group)
  requireMatrix(matrix)
  requireElements('The input', source, matrix.type, matrix.rows * matrix.columns)
  for (const piece of pieces(matrix, ({ device }) => device.local)) {
    const data = await readElements(source, matrix.type, piece.offset, piece.view.length)
    await group.queue.write(piece.view, data)
  }
}

/** Reads the matrix to the host in ascending order of the flat index. */
export async function readSharded<T extends ElementType>(
  group: DeviceGroup,
  matrix: ShardedMatrix<T>,
  sink: ElementSink<T>,
): Promise<void> {
  requireGroup(group)
  requireMatrix(matrix)
  requireElements('The output', sink, matrix.type, matrix.rows * matrix.columns)
  for (const piece of pieces(matrix)) {
    if (typeof sink === 'function') await sink(piece.offset, await group.queue.read(piece.view))
    else {
      const into = sink.subarray(piece.offset, piece.offset + piece.view.length) as ElementArray<T>
      await group.queue.read(piece.view, { into })
    }
  }
}

/** The whole matrix as one new array. */
export async function gatherSharded<T extends ElementType>(
  group: DeviceGroup,
  matrix: ShardedMatrix<T>,
): Promise<ElementArray<T>> {
  requireMatrix(matrix)
  const data = elementArray(matrix.type, matrix.rows * matrix.columns)
  await readSharded(group, matrix, data)
  return data
}

/** Parts of the slices for transfers, in order, with the flat index of their first element in the matrix. */
function* pieces<T extends ElementType>(
  matrix: ShardedMatrix<T>,
  wanted: (slice: MatrixSlice<T>) => boolean = () => true,
): Generator<{ offset: number; view: BufferView<T> }> {
  for (const { row, rows, view } of matrix.slices.filter(wanted)) {
    const base = row * matrix.columns
    if (view.length === 0) continue
    if (view.stride === view.columns || rows === 1) {
      for (let offset = 0; offset < view.length; offset += streamChunkLength) {
        const length = Math.min(streamChunkLength, view.length - offset)
        yield { offset: base + offset, view: view.slice(offset, length) }
      }
      continue
    }
    const height = Math.max(1, Math.floor(streamChunkLength / matrix.columns))
    for (let top = 0; top < rows; top += height) {
      const count = Math.min(height, rows - top)
      yield { offset: base + top * matrix.columns, view: view.block(top, 0, count, matrix.columns) }
    }
  }
}

/** The slices of a matrix of one column, as rows. */
export function vectorsOf<T extends ElementType>({ slices }: ShardedMatrix<T>): BufferView<T>[] {
  return slices.map(({ rows, view }) => view.reshape(1, rows))
}

/** Throws `validation` if the value is not a sharded matrix. `what` names it in the message. */
export function requireMatrix(matrix: unknown, what = 'The sharded matrix'): void {
  requireResult(matrix, 'slices', what, 'a value that allocateSharded returned')
}
