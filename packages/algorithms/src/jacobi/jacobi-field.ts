import {
  type BufferView,
  type Device,
  type DeviceBuffer,
  type DeviceGroup,
  elementArray,
  GpuError,
  OwnedResources,
} from '@tandem-gpu/core'
import {
  type ElementReader,
  type ElementSource,
  readElements,
  requireElements,
  streamChunkLength,
} from '../element-source.ts'
import { requireResult } from '../require-result.ts'
import { type Decomposition, decompose, type JacobiBlock, type ProcessGrid } from './decomposition.ts'

/**
 * The number of elements before a row's first inner cell; the last of them is the left halo. Rows start at
 * multiples of 128 bytes.
 */
export const leadElements = 32

/**
 * One device's part: two copies of its cells with a ring of halo cells, which sweeps read and write in turn.
 */
export interface FieldBlock extends JacobiBlock {
  readonly owner: Device
  /** Rows of halo above and below: 1, or `fusedSweeps` if sweeps are fused. */
  readonly haloRows: number
  /** (rows + 2 · haloRows) × stride; inner cell (r, c) is at row haloRows + r, column `leadElements` + c. */
  readonly cells: readonly [DeviceBuffer<'f32'>, DeviceBuffer<'f32'>]
  /** f of the inner cells, as wide as `inner`. */
  readonly source?: BufferView<'f32'>
  /** One u32: the bits of the largest change. */
  readonly residual: DeviceBuffer<'u32'>
  /** Packed columns that are sent and received: `rows` cells each, for those neighbours that exist. */
  readonly send: { readonly left?: DeviceBuffer<'f32'>; readonly right?: DeviceBuffer<'f32'> }
  readonly receive: { readonly left?: DeviceBuffer<'f32'>; readonly right?: DeviceBuffer<'f32'> }
}

/**
 * A grid of `rows` × `columns` cells, the outer ring of which is the fixed boundary, distributed over the
 * devices of a group.
 */
export interface JacobiField {
  readonly group: DeviceGroup
  readonly rows: number
  readonly columns: number
  readonly grid: ProcessGrid
  readonly blocks: readonly FieldBlock[]
  destroy(): void
}

/** Inner cells of a block, with the columns rounded up to whole vectors. */
export function innerVectors(block: FieldBlock, parity: 0 | 1): BufferView<'f32'> {
  return block.cells[parity].block(block.haloRows, leadElements, block.rows, Math.ceil(block.columns / 4) * 4)
}

/** Options of `allocateField`, which must match the kernels that sweep the field. */
export interface AllocateFieldOptions {
  /** Whether the field has an f (`writeSource`), as in the options of `compileJacobi`. */
  readonly source: boolean
  /** Whether the field has packed columns, which the transport `copy` sends. */
  readonly columnHalos: boolean
  /** Rows of halo: 1, the default, or `fusedSweeps` for kernels that fuse sweeps. */
  readonly haloRows?: number | undefined
  /** The number of devices over which the field is distributed, the first ones of the group. Default: all. */
  readonly devices?: number | undefined
}

/**
 * Allocates a field of `rows` × `columns` cells, boundary included, all of them 0. Rejects as
 * `Device.allocate` does.
 */
export async function allocateField(
  group: DeviceGroup,
  rows: number,
  columns: number,
  decomposition: Decomposition,
  options: AllocateFieldOptions,
): Promise<JacobiField> {
  const grid = decompose(
    Math.max(0, rows - 2),
    Math.max(0, columns - 2),
    options.devices ?? group.devices.length,
    decomposition,
  )
  const { haloRows = 1 } = options
  const owned = new OwnedResources()
  try {
    const blocks: FieldBlock[] = []
    for (const block of grid.blocks) {
      const owner = group.devices[block.device]!
      // One vector past the last: sweeps load it even if they do not use it.
      const stride = Math.ceil((leadElements + Math.ceil(block.columns / 4) * 4 + 4) / 32) * 32
      const named = (label: string) => ({ label: `${label}[${block.device}]` })
      const cells = async (label: string) =>
        owned.keep(await owner.allocate('f32', [block.rows + 2 * haloRows, stride], named(label)))
      const column = async (label: string, neighbour: number | undefined) =>
        options.columnHalos && neighbour !== undefined
          ? owned.keep(await owner.allocate('f32', block.rows, named(label)))
          : undefined
      const both: FieldBlock['cells'] = [await cells('u'), await cells('v')]
      const width = Math.ceil(block.columns / 4) * 4
      const sendLeft = await column('send left', block.left)
      const sendRight = await column('send right', block.right)
      const receiveLeft = await column('receive left', block.left)
      const receiveRight = await column('receive right', block.right)
      const source = options.source
        ? owned.keep(await owner.allocate('f32', [block.rows, width], named('source')))
        : undefined
      blocks.push({
        ...block,
        owner,
        haloRows,
        cells: both,
        residual: owned.keep(await owner.allocate('u32', 1, named('residual'))),
        ...(source && { source }),
        send: { ...(sendLeft && { left: sendLeft }), ...(sendRight && { right: sendRight }) },
        receive: { ...(receiveLeft && { left: receiveLeft }), ...(receiveRight && { right: receiveRight }) },
      })
    }
    return { group, rows, columns, grid, blocks, destroy: () => owned.destroy() }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

function requireField(field: unknown, of: string): void {
  requireResult(field, 'blocks', `The field of ${of}`, 'a value that allocateField returned')
}

/** Writes a state (rows × columns, boundary included) into both copies of every block, halos included. */
export async function writeState(field: JacobiField, state: ElementSource<'f32'>): Promise<void> {
  requireField(field, 'writeState')
  requireElements('The state', state, 'f32', field.rows * field.columns)
  const rowsOf = ({ row, rows, haloRows }: FieldBlock) => ({
    first: Math.max(0, row + 1 - haloRows),
    end: Math.min(field.rows, row + 1 + rows + haloRows),
  })
  await eachBand(field, state, rowsOf, 1, async (block, data, first, count) => {
    const top = first - (block.row + 1) + block.haloRows
    for (const cells of block.cells)
      await field.group.queue.write(cells.block(top, leadElements - 1, count, block.columns + 2), data)
  })
}

/** Writes f (rows × columns; its outer ring is not used). */
export async function writeSource(field: JacobiField, source: ElementSource<'f32'>): Promise<void> {
  requireField(field, 'writeSource')
  requireElements('The source', source, 'f32', field.rows * field.columns)
  if (field.blocks.some((block) => block.source === undefined))
    throw new GpuError(
      'validation',
      'The field passed to writeSource has no source: allocate it with the option source.',
    )
  const rowsOf = ({ row, rows }: FieldBlock) => ({ first: row + 1, end: row + 1 + rows })
  await eachBand(field, source, rowsOf, 0, (block, data, first, count) =>
    field.group.queue.write(block.source!.block(first - block.row - 1, 0, count, block.columns), data),
  )
}

/**
 * Reads a flat array in pieces of whole rows of the grid, and calls `write` with the part of each block of
 * this process, extended by `ring` columns on each side.
 */
async function eachBand(
  field: JacobiField,
  source: ElementSource<'f32'>,
  rowsOf: (block: FieldBlock) => { first: number; end: number },
  ring: 0 | 1,
  write: (block: FieldBlock, data: Float32Array<ArrayBuffer>, first: number, count: number) => Promise<void>,
): Promise<void> {
  const { columns, blocks } = field
  const step = Math.max(1, Math.floor(streamChunkLength / columns))
  for (const leftmost of blocks.filter((block) => block.left === undefined)) {
    const band = blocks.filter((block) => block.row === leftmost.row && block.owner.local)
    if (band.length === 0) continue
    const { first, end } = rowsOf(leftmost)
    for (let top = first; top < end; top += step) {
      const count = Math.min(step, end - top)
      const rows = await readElements(source, 'f32', top * columns, count * columns)
      for (const block of band) {
        const width = block.columns + 2 * ring
        const data = new Float32Array(count * width)
        for (let row = 0; row < count; row++) {
          const start = row * columns + block.column + 1 - ring
          data.set(rows.subarray(start, start + width), row * width)
        }
        await write(block, data, top, count)
      }
    }
  }
}

/**
 * Returns a reader of any range of the state, including the boundary. It does not read halo cells between
 * blocks, which may be older than the cells they mirror. A grid without inner cells has no state on the
 * devices, and is read from `outline`.
 */
export function stateReader(
  field: JacobiField,
  parity: 0 | 1,
  outline: ElementSource<'f32'>,
): ElementReader<'f32'> {
  const { rows, columns, blocks, group } = field
  const readRows = async (first: number, count: number): Promise<Float32Array> => {
    const lines = new Float32Array(count * columns)
    for (const row of new Set(blocks.length === 0 ? range(first, count) : [0, rows - 1])) {
      if (row < first || row >= first + count) continue
      lines.set(await readElements(outline, 'f32', row * columns, columns), (row - first) * columns)
    }
    for (const block of blocks) {
      const top = Math.max(first, block.row + 1)
      const height = Math.min(first + count, block.row + 1 + block.rows) - top
      if (height <= 0) continue
      // The outermost halo columns are the boundary.
      const before = block.left === undefined ? 1 : 0
      const width = block.columns + before + (block.right === undefined ? 1 : 0)
      const local = top - block.row - 1 + block.haloRows
      const view = block.cells[parity].block(local, leadElements - before, height, width)
      const data = await group.queue.read(view)
      for (let row = 0; row < height; row++)
        lines.set(
          data.subarray(row * width, (row + 1) * width),
          (top - first + row) * columns + block.column + 1 - before,
        )
    }
    return lines
  }
  const step = Math.max(1, Math.floor(streamChunkLength / Math.max(1, columns)))
  return async (offset, into) => {
    for (let at = 0; at < into.length; ) {
      const first = Math.floor((offset + at) / columns)
      const last = Math.ceil((offset + into.length) / columns)
      const lines = await readRows(first, Math.min(step, last - first))
      const start = offset + at - first * columns
      const part = lines.subarray(start, start + into.length - at)
      into.set(part, at)
      at += part.length
    }
  }
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

/**
 * The whole state, rows × columns, from the copy `parity`. `outline` returns the rows at the top and the
 * bottom, as it did for `writeState`.
 */
export async function gatherState(
  field: JacobiField,
  parity: 0 | 1,
  outline: ElementSource<'f32'>,
): Promise<Float32Array<ArrayBuffer>> {
  const state = elementArray('f32', field.rows * field.columns)
  await stateReader(field, parity, outline)(0, state)
  return state
}
