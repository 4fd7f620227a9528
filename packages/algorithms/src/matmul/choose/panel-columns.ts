/**
 * The number of columns of a panel in which B, k × n, arrives at a device from its peers: a few per cent of
 * the work, and wide enough to fill a GPU. A small B arrives as one panel. `n` counts the columns that B has
 * in memory.
 */
export function panelColumns(k: number, n: number): number {
  return k * n <= 16_777_216 ? Math.max(4, n) : Math.max(2048, Math.ceil(n / 8 / 128) * 128)
}
