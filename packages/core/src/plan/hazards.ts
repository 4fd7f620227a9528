import { isContiguous, regionCovers, regionEnd, regionsOverlap } from './byte-region.ts'
import type { ByteRegion } from './plan.ts'

/** The regions that one command accesses. A region that is both read and written appears only in `writes`. */
export interface CommandAccesses {
  readonly reads: readonly ByteRegion[]
  readonly writes: readonly ByteRegion[]
}

/** An access that later commands may still conflict with. */
interface ActiveAccess {
  readonly command: number
  readonly region: ByteRegion
  readonly writes: boolean
  /** A later write covers the region: whatever conflicts with this access also conflicts with that write. */
  superseded: boolean
  /** The last query that tested it, so that an access in several cells is tested once. */
  lastQuery: number
}

/** Reads conflict only with writes, so the two are stored separately. */
interface Cell {
  readonly reads: ActiveAccess[]
  readonly writes: ActiveAccess[]
}

/** Buffers with fewer accesses than this are searched linearly. */
const indexThreshold = 24
/** Accesses that cover more cells than this are kept in a list that every query searches. */
const wideAccessCells = 16
const maxCells = 4096

/**
 * The active accesses to one buffer, in the cells of a grid over (row, column) of the buffer's most frequent
 * leading dimension, so that a query tests only neighbours. Cells are about as large as the accesses.
 */
class BufferAccesses {
  readonly #wide: Cell = { reads: [], writes: [] }
  /** All accesses in the cells, for queries that span many cells. */
  readonly #narrow: Cell = { reads: [], writes: [] }
  readonly #cells: Cell[] = []
  #cellColumns = 1
  #byteStride = Number.MAX_SAFE_INTEGER
  #cellHeight = 1
  #cellWidth = 1
  #query = 0
  // The position of the current region, first in rows and columns, then in cells.
  #height = 0
  #width = 0
  #firstRow = 0
  #lastRow = 0
  #firstColumn = 0
  #lastColumn = 0

  constructor(regions: readonly ByteRegion[]) {
    if (regions.length < indexThreshold) return
    const byteLength = regions.reduce((end, region) => Math.max(end, regionEnd(region)), 0)
    // A one-dimensional buffer is one long row.
    this.#byteStride = mostFrequentStride(regions) ?? byteLength
    const rows = Math.ceil(byteLength / this.#byteStride)
    const sample = regions.filter((_, i) => i % Math.ceil(regions.length / 256) === 0)
    const heights: number[] = []
    const widths: number[] = []
    for (const region of sample) {
      this.#placeRectangle(region)
      heights.push(Math.min(rows, this.#height))
      widths.push(this.#width)
    }
    this.#cellHeight = median(heights)
    this.#cellWidth = median(widths)
    const cellRows = () => Math.ceil(rows / this.#cellHeight)
    const cellColumns = () => Math.ceil(this.#byteStride / this.#cellWidth)
    while (cellRows() * cellColumns() > maxCells) {
      if (cellRows() > cellColumns()) this.#cellHeight *= 2
      else this.#cellWidth *= 2
    }
    this.#cellColumns = cellColumns()
    for (let i = 0; i < cellRows() * this.#cellColumns; i++) this.#cells.push({ reads: [], writes: [] })
  }

  /**
   * Calls `found` for each command with a conflicting access, and marks accesses that a write covers as
   * superseded.
   */
  collect(region: ByteRegion, writes: boolean, found: (command: number) => void): void {
    this.#query++
    this.#searchCell(this.#wide, region, writes, found)
    if (this.#cells.length === 0) return
    const spanned = this.#span(region)
    const { reads, writes: written } = this.#narrow
    if (spanned > (writes ? reads.length : 0) + written.length) {
      this.#searchCell(this.#narrow, region, writes, found)
      return
    }
    for (let row = this.#firstRow; row <= this.#lastRow; row++)
      for (let column = this.#firstColumn; column <= this.#lastColumn; column++)
        this.#searchCell(this.#cells[row * this.#cellColumns + column]!, region, writes, found)
  }

  add(access: ActiveAccess): void {
    if (this.#cells.length === 0 || this.#span(access.region) > wideAccessCells) {
      listFor(this.#wide, access).push(access)
      return
    }
    listFor(this.#narrow, access).push(access)
    for (let row = this.#firstRow; row <= this.#lastRow; row++)
      for (let column = this.#firstColumn; column <= this.#lastColumn; column++)
        listFor(this.#cells[row * this.#cellColumns + column]!, access).push(access)
  }

  #searchCell(cell: Cell, region: ByteRegion, writes: boolean, found: (command: number) => void): void {
    this.#search(cell.writes, region, writes, found)
    if (writes) this.#search(cell.reads, region, writes, found)
  }

  #search(list: ActiveAccess[], region: ByteRegion, writes: boolean, found: (command: number) => void): void {
    let kept = 0
    for (let i = 0; i < list.length; i++) {
      const access = list[i]!
      if (access.superseded) continue
      if (access.lastQuery !== this.#query) {
        access.lastQuery = this.#query
        if (regionsOverlap(access.region, region)) {
          found(access.command)
          if (writes && regionCovers(region, access.region)) {
            access.superseded = true
            continue
          }
        }
      }
      if (kept !== i) list[kept] = access
      kept++
    }
    list.length = kept
  }

  /** Sets the range of cells that the region spans; returns their number. */
  #span(region: ByteRegion): number {
    this.#placeRectangle(region)
    this.#lastRow = Math.floor((this.#firstRow + this.#height - 1) / this.#cellHeight)
    this.#lastColumn = Math.floor((this.#firstColumn + this.#width - 1) / this.#cellWidth)
    this.#firstRow = Math.floor(this.#firstRow / this.#cellHeight)
    this.#firstColumn = Math.floor(this.#firstColumn / this.#cellWidth)
    return (this.#lastRow - this.#firstRow + 1) * (this.#lastColumn - this.#firstColumn + 1)
  }

  /**
   * Sets the region's first row and column, height and width in rows of the grid's stride. A region that
   * extends past the end of a row or has another stride counts as whole rows.
   */
  #placeRectangle(region: ByteRegion): void {
    const stride = this.#byteStride
    const row = Math.floor(region.byteOffset / stride)
    const column = region.byteOffset - row * stride
    this.#firstRow = row
    if ((region.rows === 1 || region.rowByteStride === stride) && column + region.rowByteLength <= stride) {
      this.#firstColumn = column
      this.#height = region.rows
      this.#width = region.rowByteLength
    } else {
      this.#firstColumn = 0
      this.#height = Math.floor((regionEnd(region) - 1) / stride) - row + 1
      this.#width = stride
    }
  }
}

function listFor(cell: Cell, access: ActiveAccess): ActiveAccess[] {
  return access.writes ? cell.writes : cell.reads
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1]!
}

function mostFrequentStride(regions: readonly ByteRegion[]): number | undefined {
  const counts = new Map<number, number>()
  let best: number | undefined
  let most = 0
  for (const region of regions) {
    if (isContiguous(region)) continue
    const count = (counts.get(region.rowByteStride) ?? 0) + 1
    counts.set(region.rowByteStride, count)
    if (count > most) {
      most = count
      best = region.rowByteStride
    }
  }
  return best
}

/**
 * For each command of two consecutive repetitions (command c of the second is number `n + c`), the earlier
 * commands that it conflicts with: one of the two writes a byte that the other accesses. Conflicts with an
 * access that a later write covers are omitted, since the conflict with that write implies their order. Each
 * list is free of duplicates and unordered.
 */
export function deriveHazards(commands: readonly CommandAccesses[], repetitions: 1 | 2): number[][] {
  const buffers = indexWrittenBuffers(commands)
  const count = commands.length * repetitions
  const foundBy = new Int32Array(count).fill(-1)
  const predecessors: number[][] = new Array(count)
  for (let command = 0; command < count; command++) {
    const { reads, writes } = commands[command % commands.length]!
    const list: number[] = []
    const found = (other: number) => {
      if (foundBy[other] === command) return
      foundBy[other] = command
      list.push(other)
    }
    for (const region of reads) buffers[region.buffer]?.collect(region, false, found)
    for (const region of writes) buffers[region.buffer]!.collect(region, true, found)
    for (const region of reads)
      buffers[region.buffer]?.add({ command, region, writes: false, superseded: false, lastQuery: -1 })
    for (const region of writes)
      buffers[region.buffer]!.add({ command, region, writes: true, superseded: false, lastQuery: -1 })
    predecessors[command] = list
  }
  return predecessors
}

/**
 * By buffer number; undefined for buffers that no command writes, since reads never conflict with each other.
 */
function indexWrittenBuffers(commands: readonly CommandAccesses[]): (BufferAccesses | undefined)[] {
  const regions: ByteRegion[][] = []
  for (const { writes } of commands) for (const region of writes) regions[region.buffer] ??= []
  for (const { reads, writes } of commands) {
    for (const region of reads) regions[region.buffer]?.push(region)
    for (const region of writes) regions[region.buffer]!.push(region)
  }
  const buffers: (BufferAccesses | undefined)[] = []
  regions.forEach((list, buffer) => {
    buffers[buffer] = new BufferAccesses(list)
  })
  return buffers
}
