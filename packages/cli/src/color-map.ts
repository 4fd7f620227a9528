/** Evenly spaced colours of matplotlib's `viridis` (Smith and van der Walt, 2015, CC0). Colours between them are interpolated. */
const viridis: readonly (readonly [red: number, green: number, blue: number])[] = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [109, 205, 89],
  [180, 222, 44],
  [253, 231, 37],
]

/** 256 colours, three bytes each. */
export const colorTable: Uint8Array = Uint8Array.from({ length: 256 * 3 }, (_, i) => {
  const channel = i % 3
  const position = (Math.floor(i / 3) / 255) * (viridis.length - 1)
  const below = Math.min(Math.floor(position), viridis.length - 2)
  const low = viridis[below]![channel]!
  const high = viridis[below + 1]![channel]!
  return Math.round(low + (high - low) * (position - below))
})
