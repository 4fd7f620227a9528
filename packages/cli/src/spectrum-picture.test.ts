import { decode } from 'fast-png'
import { expect, it } from 'vitest'
import { SpectrumPicture } from './spectrum-picture.ts'

const heights = (svg: string) =>
  [...svg.matchAll(/<rect x="[^"]*" y="[^"]*" width="[^"]*" height="([^"]*)"/g)].map(([, height]) =>
    Number(height),
  )

it('draws the magnitudes of one axis as bars, with pieces in any order', () => {
  const picture = new SpectrumPicture([4], true)
  picture.add(4, [0, -5, Number.NaN, 1])
  picture.add(0, [6, 8, 0, 0])
  expect(heights(Buffer.from(picture.encode()).toString())).toEqual([408, 0, 204, 0])
})

it('draws a long axis by the largest of neighbours', () => {
  const picture = new SpectrumPicture([10_000], false)
  const numbers = new Float32Array(10_000)
  numbers[9_999] = -3
  picture.add(0, numbers)
  const drawn = heights(Buffer.from(picture.encode()).toString())
  expect(drawn).toHaveLength(1000)
  expect(drawn.indexOf(408)).toBe(999)
})

it('draws two axes by the logarithm of the magnitudes, and zeros white', () => {
  const picture = new SpectrumPicture([2, 2], true)
  picture.add(0, [0.1, 0, 0, 1, 6, 8, 0, 0])
  const { width, data } = decode(picture.encode())
  // The colour at the centre of a cell of the field, which is drawn with 1024 pixels per side after a margin
  // of 24.
  const pixel = (k: number) => {
    const at = 3 * ((280 + 512 * (k >> 1)) * width + 280 + 512 * (k & 1))
    return [...data.subarray(at, at + 3)]
  }
  expect(pixel(3)).toEqual([255, 255, 255])
  // A colour between the darkest and the brightest.
  const brightness = [0, 1, 2].map((k) => pixel(k).reduce((sum, part) => sum + part))
  expect(brightness).toEqual([...brightness].sort((a, b) => a - b))
  expect(new Set(brightness).size).toBe(3)
})

it('labels the colours of two axes with the magnitudes, not with their logarithms', () => {
  const labels = (magnitudes: readonly number[]) => {
    const picture = new SpectrumPicture([1, 2], false)
    picture.add(0, magnitudes)
    const { width, height, data } = decode(picture.encode())
    const beside = (y: number) => data.subarray(3 * (width * y + width - 190), 3 * width * (y + 1))
    const ink = (top: number) =>
      Array.from({ length: 28 }, (_, row) => beside(top + row))
        .map((line) => line.filter((part) => part === 40).length / 3)
        .reduce((sum, dots) => sum + dots)
    return [ink(24), ink(height - 24 - 28)]
  }
  // '100' has 10 + 19 + 19 pixels of 4 × 4, and '1' has 10.
  expect(labels([1, 100])).toEqual([48 * 16, 10 * 16])
})
