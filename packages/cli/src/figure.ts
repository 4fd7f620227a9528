import { encode } from 'fast-png'
import { divergingColors, sequentialColors } from './color-map.ts'
import { formatNumber } from './quantity.ts'

/** A field to draw: one value per pixel of the picture before it is enlarged. */
export interface FieldPixels {
  readonly width: number
  readonly height: number
  readonly values: Float64Array
  /** The smallest and the largest finite value; `low` is above `high` if there is none. */
  readonly low: number
  readonly high: number
  /** Whether a value's sign matters: zero is then in the middle of the colours. */
  readonly signed: boolean
  /** Whether the values are base-10 logarithms: the numbers of the colour bar are powers of ten of them. */
  readonly logarithms?: boolean
}

/** Lines between the devices' parts, in pixels of the field from its left and upper edges. */
export interface Borders {
  readonly xs: readonly number[]
  readonly ys: readonly number[]
}

/** The approximate minimum length, in pixels, of the field's longer side in a figure. */
const fieldSide = 1024
const margin = 24
const bar = { gap: 28, width: 32, labelGap: 12, labelWidth: 190 }
const glyphScale = 4

/**
 * A PNG of the field for people: enlarged and smoothed if it is small, with thin lines between the devices'
 * parts, and a colour bar with numbers. Values run from dark to bright, or, if they are signed and have both
 * signs, from blue to red with grey for zero; values that are not finite are white.
 */
export function encodeFigure(found: FieldPixels, { xs, ys }: Borders = { xs: [], ys: [] }): Uint8Array {
  const signed = found.signed && found.low < 0 && found.high > 0
  const most = Math.max(-found.low, found.high)
  const field = signed ? { ...found, low: -most, high: most } : found
  const scale = Math.max(1, Math.round(fieldSide / Math.max(field.width, field.height)))
  const [inner, tall] = [field.width * scale, field.height * scale]
  const width = margin + inner + bar.gap + bar.width + bar.labelGap + bar.labelWidth
  const canvas = new Canvas(width, tall + 2 * margin, signed ? divergingColors : sequentialColors)
  const lines = signed ? ink : 255
  const factor = field.high > field.low ? 255 / (field.high - field.low) : 0
  for (let y = 0; y < tall; y++)
    for (let x = 0; x < inner; x++) {
      const value = smoothed(field, (x + 0.5) / scale - 0.5, (y + 0.5) / scale - 0.5)
      if (Number.isFinite(value)) canvas.color(margin + x, margin + y, (value - field.low) * factor)
    }
  for (const x of xs) canvas.line(margin + Math.round(x * scale), margin, 1, tall, lines)
  for (const y of ys) canvas.line(margin, margin + Math.round(y * scale), inner, 1, lines)
  const left = margin + inner + bar.gap
  for (let y = 0; y < tall; y++)
    for (let x = 0; x < bar.width; x++)
      canvas.color(left + x, margin + y, 255 - (255 * y) / Math.max(1, tall - 1))
  if (field.low <= field.high) {
    const labels = factor === 0 ? [field.high] : [field.high, (field.low + field.high) / 2, field.low]
    for (const [index, value] of labels.entries()) {
      const at = labels.length === 1 ? 0.5 : index / (labels.length - 1)
      canvas.text(
        left + bar.width + bar.labelGap,
        margin + Math.round(at * (tall - 7 * glyphScale)),
        formatNumber(field.logarithms ? 10 ** value : value),
      )
    }
  }
  return canvas.encode()
}

/** Interpolates between two values; returns the nearer one unless both are finite. */
function between(a: number, b: number, share: number): number {
  if (share === 0) return a
  if (Number.isFinite(a) && Number.isFinite(b)) return a + (b - a) * share
  return share < 0.5 ? a : b
}

/** Interpolates between four pixels. */
function smoothed({ width, height, values }: FieldPixels, x: number, y: number): number {
  const place = (at: number, size: number) => {
    const inside = Math.min(size - 1, Math.max(0, at))
    const first = Math.min(Math.floor(inside), size - 1)
    return { first, next: Math.min(first + 1, size - 1), share: inside - first }
  }
  const [column, row] = [place(x, width), place(y, height)]
  const across = (line: number) => {
    return between(values[line * width + column.first]!, values[line * width + column.next]!, column.share)
  }
  return between(across(row.first), across(row.next), row.share)
}

/** The grey of numbers, and of lines over light colours. */
const ink = 40

/** An image that is white. */
class Canvas {
  readonly #width: number
  readonly #height: number
  readonly #data: Uint8Array
  readonly #colors: Uint8Array

  constructor(width: number, height: number, colors: Uint8Array) {
    this.#colors = colors
    this.#width = width
    this.#height = height
    this.#data = new Uint8Array(width * height * 3).fill(255)
  }

  /** `index`: from 0, the lowest value, to 255, the highest. */
  color(x: number, y: number, index: number): void {
    const color = Math.round(index) * 3
    this.#data.set(this.#colors.subarray(color, color + 3), (y * this.#width + x) * 3)
  }

  /** Draws a translucent grey line. */
  line(x: number, y: number, width: number, height: number, grey: number): void {
    for (let row = y; row < y + height; row++)
      for (let column = x; column < x + width; column++) {
        const at = (row * this.#width + column) * 3
        for (let channel = at; channel < at + 3; channel++)
          this.#data[channel] = Math.round((this.#data[channel]! + 2 * grey) / 3)
      }
  }

  /** Draws digits, signs, points and the letter e. */
  text(x: number, y: number, text: string): void {
    let left = x
    for (const character of text) {
      for (const [row, bits] of (glyphs[character] ?? []).entries())
        for (let column = 0; column < 5; column++) {
          if (((bits >> (4 - column)) & 1) === 0) continue
          for (let dy = 0; dy < glyphScale; dy++)
            for (let dx = 0; dx < glyphScale; dx++)
              this.#ink(left + column * glyphScale + dx, y + row * glyphScale + dy)
        }
      left += 6 * glyphScale
    }
  }

  encode(): Uint8Array {
    return encode({ width: this.#width, height: this.#height, data: this.#data, channels: 3, depth: 8 })
  }

  #ink(x: number, y: number): void {
    if (x < this.#width && y < this.#height)
      this.#data.fill(ink, (y * this.#width + x) * 3, (y * this.#width + x) * 3 + 3)
  }
}

/** Seven rows of five pixels each; the leftmost pixel is the highest bit. */
const glyphs: Readonly<Record<string, readonly number[]>> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  '.': [0, 0, 0, 0, 0, 12, 12],
  '-': [0, 0, 0, 31, 0, 0, 0],
  '+': [0, 4, 4, 31, 4, 4, 0],
  e: [0, 0, 14, 17, 31, 16, 14],
}
