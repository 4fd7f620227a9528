import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { type FieldBlock, type JacobiField, leadElements } from './jacobi-field.ts'

/** Cells of the grid, boundary included: rows `[row, row + rows)` of columns `[column, column + columns)`. */
export interface Rectangle {
  readonly row: number
  readonly column: number
  readonly rows: number
  readonly columns: number
}

/** Returns cells of one state, in row-major order. */
export type CellReader = (cells: Rectangle) => Promise<Float32Array<ArrayBuffer>>

/** The cells that a block holds: its own, and the boundary on the sides without a neighbour. */
export function cellsOf(block: FieldBlock): Rectangle {
  const before = block.left === undefined ? 1 : 0
  const after = block.right === undefined ? 1 : 0
  return {
    row: block.row + 1,
    column: block.column + 1 - before,
    rows: block.rows,
    columns: block.columns + before + after,
  }
}

/** The given cells and those up to a distance around them, within the grid. */
export function around(
  { row, column, rows, columns }: Rectangle,
  distance: number,
  grid: { readonly rows: number; readonly columns: number },
): Rectangle {
  const [top, left] = [Math.max(0, row - distance), Math.max(0, column - distance)]
  return {
    row: top,
    column: left,
    rows: Math.min(grid.rows, row + rows + distance) - top,
    columns: Math.min(grid.columns, column + columns + distance) - left,
  }
}

function common(a: Rectangle, b: Rectangle): Rectangle | undefined {
  const [row, column] = [Math.max(a.row, b.row), Math.max(a.column, b.column)]
  const rows = Math.min(a.row + a.rows, b.row + b.rows) - row
  const columns = Math.min(a.column + a.columns, b.column + b.columns) - column
  return rows > 0 && columns > 0 ? { row, column, rows, columns } : undefined
}

/**
 * Copies the intersection of two rectangles; each array holds the cells of its rectangle in row-major order.
 */
function transfer(from: Rectangle, source: Float32Array, to: Rectangle, target: Float32Array): void {
  const part = common(from, to)
  if (part === undefined) return
  for (let row = part.row; row < part.row + part.rows; row++) {
    const start = (row - from.row) * from.columns + part.column - from.column
    const at = (row - to.row) * to.columns + part.column - to.column
    target.set(source.subarray(start, start + part.columns), at)
  }
}

/** Reads cells of a grid in whole rows. */
export function rowReader(source: ElementSource<'f32'>, columns: number): CellReader {
  return async (cells) => {
    const result = new Float32Array(cells.rows * cells.columns)
    const step = Math.max(1, Math.floor(streamChunkLength / columns))
    for (let row = cells.row; row < cells.row + cells.rows; row += step) {
      const rows = Math.min(step, cells.row + cells.rows - row)
      const data = await readElements(source, 'f32', row * columns, rows * columns)
      transfer({ row, column: 0, rows, columns }, data, cells, result)
    }
    return result
  }
}

/**
 * Returns a reader of one copy of the state, for the blocks of this process and the cells up to `distance`
 * around each. The latter come from the blocks that own them, not from halos, which may be older. The rows at
 * the top and the bottom of the grid come from `outline`. Every process of the group must call this function;
 * the reader only reads this process's memory.
 */
export async function blockReader(
  field: JacobiField,
  parity: 0 | 1,
  distance: number,
  outline: ElementSource<'f32'>,
): Promise<CellReader> {
  const { group, blocks, rows, columns } = field
  const viewOf = (block: FieldBlock, cells: Rectangle) =>
    block.cells[parity].block(
      cells.row - block.row - 1 + block.haloRows,
      cells.column - block.column - 1 + leadElements,
      cells.rows,
      cells.columns,
    )
  const places = blocks.map(cellsOf)
  // All processes request all transfers, in the same order; each receives the data sent to it.
  const arriving = blocks.flatMap((block, index) => {
    const wanted = around(places[index]!, distance, field)
    return blocks.flatMap((other, from) => {
      const cells = other.owner.rank === block.owner.rank ? undefined : common(wanted, places[from]!)
      if (cells === undefined) return []
      return [
        group.queue.read(viewOf(other, cells), { to: block.owner.rank }).then((data) => ({ cells, data })),
      ]
    })
  })
  const edges = (await Promise.all(arriving)).flatMap(({ cells, data }) =>
    data === undefined ? [] : [{ cells, data }],
  )
  const own = blocks.filter(({ owner }) => owner.local)
  const outlineReader = rowReader(outline, columns)
  return async (wanted) => {
    const result = new Float32Array(wanted.rows * wanted.columns)
    for (const row of new Set([0, rows - 1])) {
      const cells = common(wanted, { row, column: 0, rows: 1, columns })
      if (cells !== undefined) transfer(cells, await outlineReader(cells), wanted, result)
    }
    for (const { cells, data } of edges) transfer(cells, data, wanted, result)
    for (const block of own) {
      const cells = common(wanted, cellsOf(block))
      if (cells === undefined) continue
      const data = await group.queue.read(viewOf(block, cells), { to: 'owner' })
      transfer(cells, data!, wanted, result)
    }
    return result
  }
}
