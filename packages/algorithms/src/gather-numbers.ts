import { type Device, type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import { GatherTree } from './gather-tree.ts'
import type { MatrixSlice } from './sharded-matrix.ts'

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
