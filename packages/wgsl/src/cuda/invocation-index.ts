import { subgroupSize } from '../collectives.ts'

/** The dimensions of CUDA's built-in variables. */
export const axes = ['x', 'y', 'z'] as const

/** The mask of all lanes. */
export const allLanes = `0x${(2 ** subgroupSize - 1).toString(16)}u`

/** The number of bits of a thread's index that hold its lane. */
export const laneBits = Math.log2(subgroupSize)

/** The index of a thread in its block. */
export function localIndexText(size: readonly [number, number, number]): string {
  const parts = axes.flatMap((a, i) => {
    if (size[i] === 1) return []
    const before = size.slice(0, i).reduce((n, s) => n * s, 1)
    return [before === 1 ? `threadIdx.${a}` : `threadIdx.${a} * ${before}u`]
  })
  return parts.length === 0 ? '0u' : parts.join(' + ')
}
