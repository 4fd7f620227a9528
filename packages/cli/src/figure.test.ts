import { decode } from 'fast-png'
import { expect, it } from 'vitest'
import { FieldPicture } from './picture.ts'

const dark = [68, 1, 84]
const bright = [253, 231, 37]

function figure(
  cells: readonly number[],
  rows: number,
  columns: number,
  borders = { xs: [] as number[], ys: [] as number[] },
) {
  const picture = new FieldPicture(rows, columns)
  picture.add(0, cells)
  const { width, height, data } = decode(picture.encode(borders))
  const at = (x: number, y: number) => [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)]
  return { width, height, at }
}

it('enlarges a small field to about a thousand pixels, with a colour bar next to it', () => {
  const { width, height, at } = figure([0, 1, 0, 1], 2, 2)
  expect([width, height]).toEqual([24 + 1024 + 28 + 32 + 12 + 190, 1024 + 48])
  expect(at(24, 24)).toEqual(dark)
  expect(at(24 + 1023, 24)).toEqual(bright)
  expect(at(5, 5)).toEqual([255, 255, 255])
  // The bar is bright at the top and dark at the bottom.
  expect(at(24 + 1024 + 28 + 16, 24)).toEqual(bright)
  expect(at(24 + 1024 + 28 + 16, 24 + 1023)).toEqual(dark)
})

it('writes numbers next to the bar', () => {
  const { at, width } = figure([-1, 1], 1, 2)
  const ink = (top: number) => {
    let dots = 0
    for (let y = top; y < top + 28; y++)
      for (let x = width - 190; x < width; x++) if (at(x, y)[0] === 40) dots++
    return dots
  }
  // '1' and '-1': 10 and 15 pixels of 4 × 4.
  expect([ink(24), ink(24 + 512 - 28)]).toEqual([10 * 16, 15 * 16])
})

it("draws a light line between the devices' parts", () => {
  const { at } = figure([0, 0, 0, 0], 2, 2, { xs: [1], ys: [] })
  expect(at(24 + 512, 300)).not.toEqual(at(24 + 500, 300))
  expect(at(24 + 512, 300)[0]!).toBeGreaterThan(150)
})

it('leaves values that are not finite white, and accepts a field of one value and an empty one', () => {
  const { at } = figure([Number.NaN, 1, 1, 1], 1, 4)
  expect(at(24, 30)).toEqual([255, 255, 255])
  expect(() => figure([], 0, 0)).not.toThrow()
})
