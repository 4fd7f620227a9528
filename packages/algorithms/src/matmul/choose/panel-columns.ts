/** The number of elements up to which B is one panel. */
export const smallPanelLength = 16_777_216

/**
 * The number of columns in a panel of B, k × n, that a device copies from its peers: an eighth of B, but at
 * least as many as fill a GPU. A small B is one panel. `n` is the number of columns of B in memory.
 */
export function panelColumns(k: number, n: number): number {
  return k * n <= smallPanelLength ? Math.max(4, n) : Math.max(2048, Math.ceil(n / 8 / 128) * 128)
}
