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
