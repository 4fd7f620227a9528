/**
 * The microseconds that fused sweeps take for one row of a strip with 1, 2, … 8 workgroups on each
 * multiprocessor of an H200, which runs at most 8 at once: for cells that stay in its cache, and for cells in
 * memory. With few workgroups, a row waits for its cells; with many, for the other workgroups.
 */
const rowMicroseconds = {
  cached: [0.55, 0.59, 0.66, 0.77, 0.92, 1.1, 1.27, 1.45],
  inMemory: [0.82, 0.91, 1.02, 1.11, 1.2, 1.3, 1.42, 1.53],
} as const
const atOnce = 8
const multiprocessors = 132
/** The maximum bytes of the two copies of a block's cells that stay in the cache. */
const cachedByteLength = 50_000_000
/** The number of columns that a workgroup stores. */
const stripeColumns = 4 * 126
/** The number of rows above and below a strip that its workgroup recomputes. */
const extraRows = 8
/**
 * Longer strips are one per cent faster if all workgroups run at once, but lose more on a GPU that runs fewer
 * at once.
 */
const mostRows = 160
/** The maximum number of workgroups in one dimension of a dispatch. */
const mostWorkgroups = 65_535

export const fusedStripes = (columns: number) => Math.ceil(columns / stripeColumns)

/**
 * The number of rows in a strip of fused sweeps over a block that takes the least time. Workgroups run in
 * waves, and a few more than run at once need an additional wave: 1,088 workgroups took a third longer than
 * 1,056.
 */
export function fusedStripRows(rows: number, columns: number): number {
  let best = fusedSweepsSeconds(rows, columns, 4)
  let strip = 4
  for (let candidate = strip + 1; candidate <= mostRows; candidate++) {
    const seconds = fusedSweepsSeconds(rows, columns, candidate)
    if (seconds < best) [best, strip] = [seconds, candidate]
  }
  return Math.max(strip, Math.ceil(rows / mostWorkgroups))
}

/**
 * The estimated seconds of a pass of fused sweeps over a block on an H200, in strips of `strip` rows,
 * excluding its start and its end.
 */
export function fusedSweepsSeconds(rows: number, columns: number, strip: number): number {
  const figures = rowMicroseconds[8 * rows * columns > cachedByteLength ? 'inMemory' : 'cached']
  const stripes = fusedStripes(columns)
  const strips = Math.ceil(rows / strip)
  const perTurn = multiprocessors * atOnce
  const turns = Math.floor((strips * stripes) / perTurn)
  const rest = strips * stripes - turns * perTurn
  // If only the last strips are left for the last wave, it has no more rows than they do.
  const restRows = rest > stripes ? strip : rows - (strips - 1) * strip
  const seconds = (workgroups: number, turnRows: number) =>
    1e-6 *
    (Math.min(turnRows, rows) + extraRows) *
    (figures[Math.ceil(workgroups / multiprocessors) - 1] ?? 0)
  return turns * seconds(perTurn, strip) + seconds(rest, restRows)
}
