import {
  type BufferView,
  type Device,
  type DeviceGroup,
  type ElementArray,
  type ElementType,
  OwnedResources,
  ranges,
} from '@tandem-gpu/core'
import { streamChunkLength } from './element-source.ts'
import { GatherTree } from './gather-tree.ts'
import type { MatrixSlice, ShardedMatrix } from './sharded-matrix.ts'

/** Consecutive elements of a slice. */
export interface SlicePiece<T extends ElementType = ElementType> {
  /** The index of the slice. */
  readonly index: number
  /** The index of the first element in the slice, and in the whole matrix. */
  readonly first: number
  readonly at: number
  readonly count: number
  /** Reads the elements; or those at the same place in the same slice of another matrix. */
  read<U extends ElementType = T>(from?: ShardedMatrix<U>): Promise<ElementArray<U>>
}

/**
 * Returns `width` numbers for each slice of a matrix, in every process: the sums, or whatever `look` makes of
 * them, over the pieces of the slice, in order. The numbers begin with 0. Every process of the group must call
 * this function.
 */
export async function gatherFromPieces<T extends ElementType>(
  group: DeviceGroup,
  matrix: ShardedMatrix<T>,
  width: number,
  look: (piece: SlicePiece<T>, result: Float64Array) => Promise<void> | void,
): Promise<Float64Array[]> {
  return gatherFromSlices(group, matrix.slices, width, async ({ row, view }, index) => {
    const result = new Float64Array(width)
    for (const { first, count } of ranges(view.length, streamChunkLength)) {
      const read = async (from: ShardedMatrix = matrix) => {
        const slice: BufferView = from.slices[index]!.view
        return (await group.queue.read(slice.reshape(1, slice.length).slice(first, count), { to: 'owner' }))!
      }
      const piece = { index, first, at: row * matrix.columns + first, count, read }
      await look(piece as SlicePiece<T>, result)
    }
    return result
  })
}

/**
 * Returns `width` numbers for each slice of a matrix, in every process: each computes those of its devices'
 * slices. Every process of the group must call this function.
 */
export async function gatherFromSlices<S extends Pick<MatrixSlice, 'device'>>(
  group: DeviceGroup,
  slices: readonly S[],
  width: number,
  compute: (slice: S, index: number) => Promise<ArrayLike<number>>,
): Promise<Float64Array[]> {
  const own = new Map<number, ArrayLike<number>>()
  for (const [index, slice] of slices.entries())
    if (slice.device.local) own.set(index, await compute(slice, index))
  const all = await gatherNumbers(group, group.devices, width, (index) => own.get(index))
  return slices.map((_, index) => all.subarray(index * width, (index + 1) * width))
}

/**
 * Returns `width` numbers for each of the `devices` (by ascending ordinal), in order, in every process.
 * `own(index)` returns those of a device of this process, which it must have: each process computes its
 * share, and all receive everything. Every process of the group must call this function.
 */
export async function gatherNumbers(
  group: DeviceGroup,
  devices: readonly Device[],
  width: number,
  own: (index: number) => ArrayLike<number> | undefined,
): Promise<Float64Array> {
  const all = new Float64Array(devices.length * width)
  for (const [index, { local }] of devices.entries()) {
    if (!local) continue
    const numbers = own(index)
    if (numbers === undefined) throw new RangeError(`There are no numbers of device ${index}.`)
    all.set(numbers, index * width)
  }
  if (group.rankCount === 1 || all.length === 0) return all
  const owned = new OwnedResources()
  try {
    // The bits of a number are two words.
    const words = new Uint32Array(all.buffer)
    const tree = owned.keep(new GatherTree(group, devices, 2 * width, words.length, 'numbers'))
    const target = owned.keep(group.allocateHost('u32', words.length, { label: 'numbers of all' }))
    for (const [index, { local }] of devices.entries()) {
      if (!local) continue
      const { buffer, offset, length } = tree.place(index)
      buffer.array.set(words.subarray(offset, offset + length), offset)
    }
    const program = owned.keep(
      group.record((recorder) => tree.record(recorder, target), { label: 'gather numbers' }),
    )
    await group.queue.run(program)
    words.set(target.array)
    return all
  } finally {
    owned.destroy()
  }
}
