import type { DeviceGroup, ElementArray, ElementType } from '@tandem-gpu/core'
import { type ElementSource, readElements, streamChunkLength } from '../element-source.ts'
import { gatherNumbers } from '../gather-numbers.ts'
import type { Verification } from '../report.ts'
import { type ShardedMatrix, splitRows } from '../sharded-matrix.ts'

/**
 * Compares every element of `output` with the transpose of `source` (`output.columns` × `output.rows`,
 * row-major), bit for bit. Reads the source again in chunks of rows, so that host memory holds only one chunk
 * at a time. Each process reads the rows of the source that `writeSharded` writes to its devices, and
 * receives the corresponding columns of the output.
 */
export async function verifyTranspose<T extends ElementType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  output: ShardedMatrix<T>,
): Promise<Verification> {
  const rows = output.columns
  const columns = output.rows
  const chunkRows = Math.max(1, Math.floor(streamChunkLength / Math.max(1, columns)))
  const shares = rowsOfRanks(group, rows)
  const turns = columns === 0 ? 0 : Math.max(0, ...shares.map((share) => Math.ceil(share.rows / chunkRows)))
  let wrong = 0
  let maxError = 0
  for (let turn = 0; turn < turns; turn++) {
    // All processes request all transfers of this turn, in the same order; each receives the data sent to it.
    const arriving = shares.flatMap(({ rank, row, rows: count }) => {
      const top = row + turn * chunkRows
      const height = Math.min(chunkRows, row + count - top)
      if (height <= 0) return []
      return output.slices
        .filter((slice) => slice.rows > 0)
        .map(async (slice) => ({
          top,
          height,
          slice,
          actual: await group.queue.read(slice.view.block(0, top, slice.rows, height), { to: rank }),
        }))
    })
    let expected: ElementArray<T> | undefined
    for (const { top, height, slice, actual } of await Promise.all(arriving)) {
      if (actual === undefined) continue
      expected ??= await readElements(source, output.type, top * columns, height * columns)
      const [expectedBits, actualBits] = [bitsOf(expected), bitsOf(actual)]
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
  return combined(group, rows * columns, wrong, maxError)
}

/** Combines the findings of all processes. */
async function combined(
  group: DeviceGroup,
  elements: number,
  wrong: number,
  maxError: number,
): Promise<Verification> {
  const first = group.devices.findIndex(({ local }) => local)
  const found = await gatherNumbers(group, group.devices, 2, (index) =>
    index === first ? [wrong, maxError] : [0, 0],
  )
  let [count, largest] = [0, 0]
  for (let at = 0; at < found.length; at += 2) {
    count += found[at]!
    largest = Math.max(largest, found[at + 1]!)
  }
  return {
    checked: true,
    verified: count === 0,
    verification:
      count === 0
        ? `all ${elements} elements equal the input's, bit for bit`
        : `${count} of ${elements} elements differ from the input's`,
    maxError: largest,
  }
}

/** The rows of a matrix over all devices of the group that each process holds, which are consecutive. */
function rowsOfRanks(group: DeviceGroup, rows: number): { rank: number; row: number; rows: number }[] {
  const shares: { rank: number; row: number; rows: number }[] = []
  for (const [ordinal, range] of splitRows(rows, group.devices.length).entries()) {
    const { rank } = group.devices[ordinal]!
    const last = shares.at(-1)
    if (last?.rank === rank) last.rows += range.rows
    else shares.push({ rank, ...range })
  }
  return shares
}

function bitsOf(array: ElementArray): Uint32Array | Uint16Array {
  return array.BYTES_PER_ELEMENT === 4
    ? new Uint32Array(array.buffer, array.byteOffset, array.length)
    : new Uint16Array(array.buffer, array.byteOffset, array.length)
}
