import { decode } from 'fast-png'
import { expect, it } from 'vitest'
import { colorTable } from './color-map.ts'
import { FieldPicture } from './picture.ts'

/** Adds the field in two pieces, as an algorithm would. */
function fieldPicture(field: ArrayLike<number>, rows: number, columns: number): Uint8Array {
  const picture = new FieldPicture(rows, columns)
  const cells = Array.from(field)
  const middle = Math.floor(cells.length / 3)
  picture.add(0, cells.slice(0, middle))
  picture.add(middle, cells.slice(middle))
  return picture.encode()
}

const dark = [68, 1, 84]
const bright = [253, 231, 37]

it('runs from dark to bright, row 0 on top', () => {
  const { width, height, channels, data } = decode(fieldPicture([0, 1, 2, 3, 4, 5], 2, 3))
  expect([width, height, channels]).toEqual([3, 2, 3])
  expect([...data.subarray(0, 3)]).toEqual(dark)
  expect([...data.subarray(15)]).toEqual(bright)
  expect([...data.subarray(6, 9)]).toEqual([...colorTable.subarray(102 * 3, 102 * 3 + 3)])
})

it('shows values that are not finite in white, and a constant in one colour', () => {
  expect([...decode(fieldPicture([Number.NaN, 1, Number.POSITIVE_INFINITY, 2], 1, 4)).data]).toEqual([
    ...[255, 255, 255],
    ...dark,
    ...[255, 255, 255],
    ...bright,
  ])
  expect([...decode(fieldPicture([7, 7], 1, 2)).data]).toEqual([...dark, ...dark])
})

it('averages fields with more than 2048 cells in a row or column, and accepts empty ones', () => {
  const { width, height, data } = decode(
    fieldPicture(
      new Float32Array(5000).map((_, i) => i),
      1,
      5000,
    ),
  )
  expect([width, height]).toEqual([1667, 1])
  expect([...data.subarray(0, 3)]).toEqual(dark)
  expect(decode(fieldPicture([], 0, 0))).toMatchObject({ width: 1, height: 1 })
})
