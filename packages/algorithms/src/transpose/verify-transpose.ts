import type { DeviceGroup, ElementArray, ElementType } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import type { Verification } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'

/**
 * Compares `output` with the transpose of `source` (`output.columns` × `output.rows`, row-major), every element, bit for bit.
 * Reads the source again in chunks of rows, so that host memory holds only a chunk of each.
 */
export async function verifyTranspose<T extends ElementType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  output: ShardedMatrix<T>,
): Promise<Verification> {
  const rows = output.columns
  const columns = output.rows
  const chunkRows = Math.max(1, Math.floor(streamChunkLength / Math.max(1, columns)))
  let wrong = 0
  let maxError = 0
  for (let top = 0; top < rows && columns > 0; top += chunkRows) {
    const height = Math.min(chunkRows, rows - top)
    const expected = await readElements(source, output.type, top * columns, height * columns)
    const expectedBits = bitsOf(expected)
    for (const slice of output.slices) {
      if (slice.rows === 0) continue
      const actual = await group.queue.read(slice.view.block(0, top, slice.rows, height))
      const actualBits = bitsOf(actual)
      for (let row = 0; row < slice.rows; row++)
        for (let column = 0; column < height; column++) {
          const at = row * height + column
          const from = column * columns + slice.row + row
          if (actualBits[at] === expectedBits[from]) continue
          wrong++
          const difference = Math.abs(actual[at]! - expected[from]!)
          maxError = Math.max(maxError, Number.isFinite(difference) ? difference : Number.MAX_VALUE)
        }
    }
  }
  return {
    checked: true,
    verified: wrong === 0,
    verification:
      wrong === 0
        ? `all ${rows * columns} elements equal the input's, bit for bit`
        : `${wrong} of ${rows * columns} elements differ from the input's`,
    maxError,
  }
}

function bitsOf(array: ElementArray): Uint32Array | Uint16Array {
  return array.BYTES_PER_ELEMENT === 4
    ? new Uint32Array(array.buffer, array.byteOffset, array.length)
    : new Uint16Array(array.buffer, array.byteOffset, array.length)
}
