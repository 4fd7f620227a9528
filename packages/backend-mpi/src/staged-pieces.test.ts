import { expect, it } from 'vitest'
import { stagedPieces } from './staged-pieces.ts'

const MiB = 2 ** 20

it('does not divide a message that can be sent in one piece', () => {
  const region = { buffer: 3, byteOffset: 40, rowByteLength: 12, rows: 5, rowByteStride: 20 }
  expect(stagedPieces(region, 'host')).toEqual({
    byteLength: 60,
    pieces: [{ byteLength: 60, byteOffset: 0, slot: 0, regions: [{ region, at: 0 }] }],
  })
})

it.each([
  ['host', 64],
  ['device', 16],
] as const)(
  'needs %s memory for at most three pieces, which are whole multiples of the unit of transfer',
  (through, most) => {
    for (const megabytes of [11, 13, 256, 1000, 5000]) {
      const rowByteLength = megabytes * MiB
      const region = { buffer: 0, byteOffset: 0, rowByteLength, rows: 1, rowByteStride: rowByteLength }
      const { byteLength, pieces } = stagedPieces(region, through)
      const size = pieces[0]!.byteLength
      expect(size % (4 * MiB)).toBe(0)
      expect(pieces.length).toBeLessThanOrEqual(most)
      expect(byteLength).toBe(Math.min(rowByteLength, 3 * size))
      expect(pieces.reduce((sum, piece) => sum + piece.byteLength, 0)).toBe(rowByteLength)
      for (const { byteOffset, slot, byteLength: length } of pieces) {
        expect(byteOffset).toBe(slot * size)
        expect(byteOffset + length).toBeLessThanOrEqual(byteLength)
      }
    }
  },
)

it('covers every byte of rows with gaps once, in order, whatever the length of a row', () => {
  for (const [rowByteLength, rows, rowByteStride] of [
    [5 * MiB + 12, 3, 6 * MiB],
    [19_996, 700, 20_000],
    [4, 2_200_000, 8],
  ] as const) {
    const { pieces } = stagedPieces({ buffer: 0, byteOffset: 64, rowByteLength, rows, rowByteStride }, 'host')
    let place = 0
    for (const piece of pieces) {
      expect(piece.regions.length).toBeLessThanOrEqual(3)
      let at = 0
      for (const { region, at: begin } of piece.regions) {
        expect(begin).toBe(at)
        const [row, column] = [Math.floor(place / rowByteLength), place % rowByteLength]
        expect(region.byteOffset).toBe(64 + row * rowByteStride + column)
        if (region.rows > 1) expect([column, region.rowByteStride]).toEqual([0, rowByteStride])
        at += region.rows * region.rowByteLength
        place += region.rows * region.rowByteLength
      }
      expect(at).toBe(piece.byteLength)
    }
    expect(place).toBe(rows * rowByteLength)
  }
})
