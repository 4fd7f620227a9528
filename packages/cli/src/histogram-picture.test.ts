import { expect, it } from 'vitest'
import { histogramPicture } from './histogram-picture.ts'

const heights = (svg: string) =>
  [...svg.matchAll(/<rect x="[^"]*" y="[^"]*" width="[^"]*" height="([^"]*)"/g)].map(([, height]) =>
    Number(height),
  )

it('draws a bar for each bin, in proportion', () => {
  const svg = histogramPicture({ counts: Uint32Array.of(0, 50, 100), edges: Float64Array.of(-1, 0, 1, 2) })
  expect(heights(svg)).toEqual([0, 204, 408])
  expect(svg).toMatch(/>100<.*>0<.*>-1<.*>2</s)
})

it.each([
  ['as wide as their edges are apart', [0, 1, 4], [211.5, 634.5]],
  ['equally wide if an edge is infinite', [0, 1, Number.POSITIVE_INFINITY], [423, 423]],
  ['equally wide if all edges are equal', [2, 2, 2], [423, 423]],
])('draws bars that are %s', (_, edges, widths) => {
  const svg = histogramPicture({ counts: Uint32Array.of(1, 1), edges })
  const drawn = [...svg.matchAll(/<rect x="[^"]*" y="[^"]*" width="([^"]*)"/g)].map(([, width]) =>
    Number(width),
  )
  expect(drawn).toEqual(widths)
})

it('draws no more bars than there are pixels, and none if there are no counts', () => {
  const counts = new Uint32Array(100_000)
  counts[99_999] = 7
  const drawn = heights(
    histogramPicture({ counts, edges: Float64Array.from({ length: 100_001 }, (_, k) => k) }),
  )
  expect(drawn.length).toBeLessThan(2000)
  expect(Math.max(...drawn)).toBe(408)
  const empty = histogramPicture({ counts: new Uint32Array(3), edges: Float64Array.of(0, 1, 2, 3) })
  expect(heights(empty)).toEqual([0, 0, 0])
})
