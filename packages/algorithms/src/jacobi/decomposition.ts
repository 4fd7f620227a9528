/**
 * `1d`: bands of whole rows. `2d`: a grid of blocks as square as the count allows; a prime count splits in x
 * only.
 */
export type Decomposition = '1d' | '2d'

/** The inner cells that one device owns: `row` and `column` count inner cells of the whole grid. */
export interface JacobiBlock {
  readonly device: number
  readonly row: number
  readonly column: number
  readonly rows: number
  readonly columns: number
  /** Indices into the list of blocks; absent at the edge of the grid. */
  readonly above?: number
  readonly below?: number
  readonly left?: number
  readonly right?: number
}

/** Blocks of inner cells, one per device. */
export interface ProcessGrid {
  /** The number of blocks in a column and in a row; devices from `down * across` on own no cells. */
  readonly down: number
  readonly across: number
  readonly blocks: readonly JacobiBlock[]
}

/**
 * Blocks begin at multiples of this many columns, so that only the last block can have a partly filled
 * vector.
 */
const columnGrain = 4

/**
 * Distributes `rows` × `columns` inner cells over `devices`. If there are fewer rows or groups of columns
 * than parts, some devices own no cells.
 */
export function decompose(
  rows: number,
  columns: number,
  devices: number,
  decomposition: Decomposition,
): ProcessGrid {
  let down = devices
  if (decomposition === '2d') {
    down = Math.floor(Math.sqrt(devices))
    while (devices % down !== 0) down--
  }
  const bands = balanced(rows, down, 1)
  const stripes = balanced(columns, devices / down, columnGrain)
  const across = stripes.length
  const blocks = bands.flatMap((band, y) =>
    stripes.map((stripe, x) => {
      const index = y * across + x
      return {
        device: index,
        row: band.start,
        rows: band.cells,
        column: stripe.start,
        columns: stripe.cells,
        ...(y > 0 && { above: index - across }),
        ...(y + 1 < bands.length && { below: index + across }),
        ...(x > 0 && { left: index - 1 }),
        ...(x + 1 < across && { right: index + 1 }),
      }
    }),
  )
  return { down: bands.length, across, blocks }
}

/** At most `parts` non-empty ranges that cover `cells` and whose sizes differ by at most one grain. */
function balanced(cells: number, parts: number, grain: number): { start: number; cells: number }[] {
  const units = Math.ceil(cells / grain)
  const count = Math.min(parts, units)
  const ranges = []
  let start = 0
  for (let part = 0; part < count; part++) {
    const end = Math.min(cells, start + (Math.floor(units / count) + (part < units % count ? 1 : 0)) * grain)
    ranges.push({ start, cells: end - start })
    start = end
  }
  return ranges
}
