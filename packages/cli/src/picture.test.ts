import { decode } from 'fast-png'
import { expect, it } from 'vitest'
import { divergingColors, sequentialColors } from './color-map.ts'
import { FieldPicture } from './picture.ts'

/**
 * The colours of the pixels in the field's first row, one per cell. The field is added in two pieces, as an
 * algorithm would do.
 */
function drawn(field: readonly number[]): number[][] {
  const picture = new FieldPicture(1, field.length)
  const middle = Math.floor(field.length / 3)
  picture.add(0, field.slice(0, middle))
  picture.add(middle, field.slice(middle))
  const { width, data } = decode(picture.encode())
  const scale = 1024 / field.length
  return field.map((_, cell) => {
    const at = (24 * width + 24 + Math.floor((cell + 0.5) * scale)) * 3
    return [...data.subarray(at, at + 3)]
  })
}

const colorOf = (table: Uint8Array, index: number) => [...table.subarray(index * 3, index * 3 + 3)]

it('values of one sign run from dark to bright', () => {
  const [dark, , , bright] = drawn([1, 2, 3, 4])
  expect([dark, bright]).toEqual([colorOf(sequentialColors, 0), colorOf(sequentialColors, 255)])
  expect(drawn([0, 1, 2, 4])[0]).toEqual(colorOf(sequentialColors, 0))
})

it('values of both signs run from blue through grey to red, with zero in the middle', () => {
  const [blue, zero, , half] = drawn([-4, 0, 0, 2])
  expect(blue).toEqual(colorOf(divergingColors, 0))
  expect(zero!.every((channel) => Math.abs(channel - 221) < 4)).toBe(true)
  // 2 is half as far from zero as -4, and not the end of the colours.
  const [red, , light] = half!
  expect(half).not.toEqual(colorOf(divergingColors, 255))
  expect(red!).toBeGreaterThan(light! + 50)
})

it('averages fields with more than 2048 cells in a row or column', () => {
  const picture = new FieldPicture(1, 5000)
  picture.add(
    0,
    Array.from({ length: 5000 }, (_, i) => i),
  )
  const { width, data } = decode(picture.encode())
  expect(width).toBe(24 + 1667 + 28 + 32 + 12 + 190)
  expect([...data.subarray((24 * width + 24) * 3, (24 * width + 24) * 3 + 3)]).toEqual(
    colorOf(sequentialColors, 0),
  )
})
