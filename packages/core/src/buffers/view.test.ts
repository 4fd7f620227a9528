import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGpuError } from '../errors.ts'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { blockRegion, type Region, reshapeRegion, shapeRegion, sliceRegion } from './view.ts'

/** The elements of a region, row after row. */
function elements({ offset, rows, columns, stride }: Region): number[] {
  return Array.from(
    { length: rows * columns },
    (_, i) => offset + Math.floor(i / columns) * stride + (i % columns),
  )
}

const code = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    return isGpuError(error) ? error.code : error
  }
  return undefined
}

const size = fc.integer({ min: 0, max: 12 })

describe('regions', () => {
  test('a block has the elements at its rows and columns, or is refused', () => {
    fc.assert(
      fc.property(size, size, size, size, size, size, (rows, columns, row, column, height, width) => {
        const matrix = shapeRegion([rows, columns], 'a matrix')
        const block = () => blockRegion(matrix, row, column, height, width, 'a matrix')
        if (row + height > rows || column + width > columns) {
          expect(code(block)).toBe('validation')
          return
        }
        const expected: number[] = []
        for (let i = 0; i < height; i++)
          for (let j = 0; j < width; j++) expected.push((row + i) * columns + column + j)
        expect(elements(block())).toEqual(expected)
        expect(block().length).toBe(height * width)
      }),
    )
  })

  test('blocks of blocks are blocks of the whole', () => {
    fc.assert(
      fc.property(size, size, size, size, (row, column, innerRow, innerColumn) => {
        const matrix = shapeRegion([30, 30], 'a matrix')
        const outer = blockRegion(matrix, row, column, 16, 17, 'a matrix')
        const inner = blockRegion(outer, innerRow, innerColumn, 4, 5, 'a block')
        expect(inner).toEqual(blockRegion(matrix, row + innerRow, column + innerColumn, 4, 5, 'a matrix'))
      }),
    )
  })

  test('a slice of a reshape is a slice of the line', () => {
    fc.assert(
      fc.property(size, size, fc.nat(150), fc.nat(150), (rows, columns, offset, length) => {
        const line = shapeRegion(rows * columns, 'a line')
        const matrix = reshapeRegion(line, rows, columns, undefined, 'a line')
        const slice = () => sliceRegion(matrix, offset, length, 'a matrix')
        if (offset + length > rows * columns) expect(code(slice)).toBe('validation')
        else expect(elements(slice())).toEqual(Array.from({ length }, (_, i) => offset + i))
      }),
    )
  })

  test('a view that is not contiguous has no slice and no reshape', () => {
    const block = blockRegion(shapeRegion([4, 4], 'm'), 0, 0, 2, 2, 'm')
    expect(code(() => sliceRegion(block, 0, 2, 'b'))).toBe('validation')
    expect(code(() => reshapeRegion(block, 1, 2, undefined, 'b'))).toBe('validation')
    const row = blockRegion(shapeRegion([4, 4], 'm'), 1, 1, 1, 3, 'm')
    expect(elements(sliceRegion(row, 1, 2, 'r'))).toEqual([6, 7])
  })

  test('a reshape may leave room between rows, but not more than there is', () => {
    const line = shapeRegion(10, 'a vector')
    expect(elements(reshapeRegion(line, 3, 2, 4, 'l'))).toEqual([0, 1, 4, 5, 8, 9])
    expect(code(() => reshapeRegion(line, 3, 3, 4, 'l'))).toBe('validation')
    expect(code(() => reshapeRegion(line, 2, 4, 3, 'l'))).toBe('validation')
  })
})

test('a buffer is the view of all of it', async () => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const buffer = await group.devices[0]!.allocate('f16', [3, 5], { label: 'm' })
  expect(buffer).toMatchObject({
    offset: 0,
    rows: 3,
    columns: 5,
    stride: 5,
    length: 15,
    byteLength: 30,
    type: 'f16',
  })
  expect(buffer.buffer).toBe(buffer)
  expect(buffer.slice(2, 9).buffer).toBe(buffer)
  expect(() => buffer.block(0, 0, 4, 1)).toThrow(
    'The block of 4 x 1 at (0, 0) exceeds buffer "m", which has 3 x 5 elements.',
  )
  buffer.destroy()
  await group.destroy()
})
