import { isContiguous, regionCovers, regionEnd, regionsOverlap } from './byte-region.ts'
import type { ByteRegion } from './plan.ts'

/** What one command touches. A region that is read and written appears in `writes` alone. */
export interface CommandAccesses {
  readonly reads: readonly ByteRegion[]
  readonly writes: readonly ByteRegion[]
}

/** An access that later commands may still conflict with. */
interface ActiveAccess {
  readonly command: number
  readonly region: ByteRegion
  readonly writes: boolean
  /** A later write covers the region: who conflicts with this access conflicts with that write too. */
  superseded: boolean
  /** The query that looked at it last, so that an access found in several cells is tested once. */
  lastQuery: number
}

/** Reads conflict with writes alone, so the two are kept apart. */
interface Cell {
  readonly reads: ActiveAccess[]
  readonly writes: ActiveAccess[]
}

/** Buffers with fewer accesses than this are searched linearly. */
const indexThreshold = 24
/** Accesses that cover more cells than this are kept in a list that every query looks through. */
const wideAccessCells = 64

/**
 * The accesses to one buffer that are still active, in cells of a grid over (row, column) of the buffer's most frequent
 * leading dimension, so that a query looks at neighbours only.
 */
class BufferAccesses {
  readonly #wide: Cell = { reads: [], writes: [] }
  readonly #cells: Cell[] = []
  #cellRows = 1
  #cellColumns = 1
  #byteStride = 1
  #cellHeight = 1
  #cellWidth = 1
  #query = 0

  constructor(regions: readonly ByteRegion[]) {
    if (regions.length < indexThreshold) return
    const byteLength = regions.reduce((end, region) => Math.max(end, regionEnd(region)), 0)
    const side = Math.min(64, Math.ceil(Math.sqrt(regions.length)))
    const stride = mostFrequentStride(regions)
    if (stride === undefined) {
      // One dimension: a "row" is one cell's bytes.
      this.#byteStride = Math.max(1, Math.ceil(byteLength / (side * side)))
      this.#cellRows = Math.ceil(byteLength / this.#byteStride)
      this.#cellWidth = this.#byteStride
    } else {
      const rows = Math.ceil(byteLength / stride)
      this.#byteStride = stride
      this.#cellHeight = Math.ceil(rows / side)
      this.#cellRows = Math.ceil(rows / this.#cellHeight)
      this.#cellWidth = Math.max(1, Math.ceil(stride / side))
      this.#cellColumns = Math.ceil(stride / this.#cellWidth)
    }
    for (let i = 0; i < this.#cellRows * this.#cellColumns; i++) this.#cells.push({ reads: [], writes: [] })
  }

  /** Adds to `found` the commands whose access conflicts, and marks what a write covers as superseded. */
  collect(region: ByteRegion, writes: boolean, found: (command: number) => void): void {
    const query = ++this.#query
    const search = (list: ActiveAccess[]) => {
      let kept = 0
      for (let i = 0; i < list.length; i++) {
        const access = list[i]!
        if (access.superseded) continue
        if (access.lastQuery !== query) {
          access.lastQuery = query
          if (regionsOverlap(access.region, region)) {
            found(access.command)
            if (writes && regionCovers(region, access.region)) {
              access.superseded = true
              continue
            }
          }
        }
        list[kept++] = access
      }
      list.length = kept
    }
    const searchCell = (cell: Cell) => {
      search(cell.writes)
      if (writes) search(cell.reads)
    }
    searchCell(this.#wide)
    if (this.#cells.length > 0) this.#eachCell(region, searchCell)
  }

  add(access: ActiveAccess): void {
    const push = (cell: Cell) => (access.writes ? cell.writes : cell.reads).push(access)
    if (this.#cells.length === 0 || this.#cellCount(access.region) > wideAccessCells) push(this.#wide)
    else this.#eachCell(access.region, push)
  }

  /** Rows and columns of cells that the region's rectangle spans. */
  #span(region: ByteRegion): [firstRow: number, lastRow: number, firstColumn: number, lastColumn: number] {
    const stride = this.#byteStride
    const end = regionEnd(region) - 1
    const firstRow = Math.floor(region.byteOffset / stride)
    const lastRow = Math.floor(end / stride)
    const firstColumn = region.byteOffset - firstRow * stride
    const lastColumn = firstColumn + region.rowByteLength - 1
    const rectangle =
      lastColumn < stride && (region.rows === 1 || (region.rowByteStride === stride && !isContiguous(region)))
    const columns = rectangle ? [firstColumn, lastColumn] : [0, stride - 1]
    return [
      Math.floor(firstRow / this.#cellHeight),
      Math.floor(lastRow / this.#cellHeight),
      Math.floor(columns[0]! / this.#cellWidth),
      Math.floor(columns[1]! / this.#cellWidth),
    ]
  }

  #cellCount(region: ByteRegion): number {
    const [r0, r1, c0, c1] = this.#span(region)
    return (r1 - r0 + 1) * (c1 - c0 + 1)
  }

  #eachCell(region: ByteRegion, visit: (cell: Cell) => void): void {
    const [r0, r1, c0, c1] = this.#span(region)
    for (let row = r0; row <= r1; row++)
      for (let column = c0; column <= c1; column++) visit(this.#cells[row * this.#cellColumns + column]!)
  }
}

function mostFrequentStride(regions: readonly ByteRegion[]): number | undefined {
  const counts = new Map<number, number>()
  let best: number | undefined
  for (const region of regions) {
    if (isContiguous(region)) continue
    const count = (counts.get(region.rowByteStride) ?? 0) + 1
    counts.set(region.rowByteStride, count)
    if (best === undefined || count > counts.get(best)!) best = region.rowByteStride
  }
  return best
}

/**
 * For each command of two consecutive repetitions (command c of the second is number `n + c`), the earlier commands it
 * conflicts with: one of the two writes a byte that the other touches. Conflicts with an access that a later write covers
 * are left out, since that write carries the order. Each list is free of duplicates and unordered.
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

/** By buffer number; nothing for buffers that no command writes, since reads alone never conflict. */
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
