type Color = readonly [red: number, green: number, blue: number]

/**
 * Evenly spaced colours of matplotlib's `viridis` (Smith and van der Walt, 2015, CC0), dark to bright: for
 * values of one sign.
 */
const viridis: readonly Color[] = [
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

/**
 * Evenly spaced colours of Moreland's `coolwarm` ("Diverging Color Maps for Scientific Visualization", 2009),
 * blue through grey to red: for values of both signs.
 */
const coolwarm: readonly Color[] = [
  [59, 76, 192],
  [98, 130, 234],
  [141, 176, 254],
  [184, 208, 249],
  [221, 221, 221],
  [245, 196, 173],
  [244, 154, 123],
  [222, 96, 77],
  [180, 4, 38],
]

/** 256 colours, three bytes each; colours between the given ones are interpolated. */
function tableOf(colors: readonly Color[]): Uint8Array {
  return Uint8Array.from({ length: 256 * 3 }, (_, i) => {
    const channel = i % 3
    const position = (Math.floor(i / 3) / 255) * (colors.length - 1)
    const below = Math.min(Math.floor(position), colors.length - 2)
    const low = colors[below]![channel]!
    const high = colors[below + 1]![channel]!
    return Math.round(low + (high - low) * (position - below))
  })
}

/** From dark (the smallest value) to bright (the largest). */
export const sequentialColors = tableOf(viridis)
/** From blue (the most negative value) through grey (zero) to red. */
export const divergingColors = tableOf(coolwarm)
