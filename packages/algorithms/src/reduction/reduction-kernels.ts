import { type DeviceGroup, GpuError, type Kernel } from '@tandem-gpu/core'
import atomicWgsl from './atomic.wgsl.ts'
import bestScalarsWgsl from './best-scalars.wgsl.ts'
import bestSerialWgsl from './best-serial.wgsl.ts'
import bestVectorsWgsl from './best-vectors.wgsl.ts'
import interleavedConflictsWgsl from './interleaved-conflicts.wgsl.ts'
import interleavedDivergentWgsl from './interleaved-divergent.wgsl.ts'
import operationsWgsl from './operations.wgsl.ts'
import sequentialWgsl from './sequential.wgsl.ts'

/** The ladder, slowest first, then what one would use. */
export const reductionKernelNames = [
  'atomic',
  'interleaved-divergent',
  'interleaved-conflicts',
  'sequential',
  'best',
] as const

export type ReductionKernelName = (typeof reductionKernelNames)[number]
export type ReductionOperation = 'sum' | 'min' | 'max'
export type ReductionType = 'f32' | 'i32' | 'u32'

/**
 * Elements whose order of combination is fixed by the kernels. Device slices start at multiples of it, so that every partial
 * result is the same whatever the number of devices.
 */
export const leafLength = 16_384

/** One way to turn consecutive blocks of `blockLength` elements into one value each. */
export interface BlockKernel {
  readonly kernel: Kernel
  readonly blockLength: number
  readonly blocksPerWorkgroup: number
}

export interface ReductionKernels {
  readonly name: ReductionKernelName
  readonly operation: ReductionOperation
  readonly type: ReductionType
  /** Takes any view; used for what `aligned` cannot take, and for partial results. */
  readonly general: BlockKernel
  /** Takes whole blocks at offsets of multiples of 4 elements, in the order of `general`. */
  readonly aligned?: BlockKernel
  /** Adds everything into one key (see operations.wgsl), and the kernel that turns the devices' keys into one value. */
  readonly atomic?: { readonly count: BlockKernel; readonly merge: BlockKernel }
  destroy(): void
}

/** How `best` reduces a leaf: by a workgroup, or by one invocation without barriers. Same order, same bits. */
export type BestVariant = 'vectors' | 'serial'

/** Compiles what `recordReduction` needs. `unsupported` for the atomic kernel with f32. `variant` is of `best`; default `serial` where the adapter is the CPU. */
export async function compileReduction(
  group: DeviceGroup,
  options: {
    kernel: ReductionKernelName
    operation: ReductionOperation
    type: ReductionType
    variant?: BestVariant
  },
): Promise<ReductionKernels> {
  const { kernel: name, operation, type, variant = group.software ? 'serial' : 'vectors' } = options
  if (!reductionKernelNames.includes(name))
    throw new GpuError(
      'validation',
      `There is no reduction kernel ${name}: choose ${reductionKernelNames.join(', ')}.`,
    )
  if (!['sum', 'min', 'max'].includes(operation))
    throw new GpuError('validation', `There is no reduction operation ${operation}: choose sum, min or max.`)
  if (!['f32', 'i32', 'u32'].includes(type))
    throw new GpuError('unsupported', `The reduction takes f32, i32 or u32, not ${type}.`)
  if (name === 'atomic' && type === 'f32')
    throw new GpuError(
      'unsupported',
      'The atomic kernel takes i32 and u32: WGSL has no atomic<f32>, and additions in an order that changes from run to run would change the bits of a sum.',
    )

  const code = operation === 'sum' ? (type === 'f32' ? 1 : 0) : operation === 'min' ? 2 : 3
  const keys = operation === 'sum' ? 0 : { u32: 0, i32: 1, f32: 2 }[type]
  const compiled: Kernel[] = []
  const block = async (
    label: string,
    wgsl: string,
    blockLength: number,
    blocksPerWorkgroup = 1,
    encodeAs = keys,
    decodeAs = keys,
  ): Promise<BlockKernel> => {
    const kernel = await group.compile({
      label: `reduction-${label}`,
      wgsl: operationsWgsl + wgsl,
      constants: { operation: code, encodeAs, decodeAs },
    })
    compiled.push(kernel)
    return { kernel, blockLength, blocksPerWorkgroup }
  }
  const make = async (): Promise<Pick<ReductionKernels, 'general' | 'aligned' | 'atomic'>> => {
    switch (name) {
      case 'atomic': {
        const count = await block('atomic', atomicWgsl, 256, 1, keys, 0)
        const merge = await block('atomic-merge', sequentialWgsl, 256, 1, 0, keys)
        return { general: merge, atomic: { count, merge } }
      }
      case 'interleaved-divergent':
        return { general: await block(name, interleavedDivergentWgsl, 256) }
      case 'interleaved-conflicts':
        return { general: await block(name, interleavedConflictsWgsl, 256) }
      case 'sequential':
        return { general: await block(name, sequentialWgsl, 256) }
      case 'best':
        if (variant === 'serial')
          return { general: await block('best-serial', bestSerialWgsl, leafLength, 4) }
        return {
          general: await block('best-scalars', bestScalarsWgsl, leafLength),
          aligned: await block('best-vectors', bestVectorsWgsl, leafLength),
        }
    }
  }
  const destroy = () => {
    for (const kernel of compiled) kernel.destroy()
  }
  try {
    return { name, operation, type, ...(await make()), destroy }
  } catch (error) {
    destroy()
    throw error
  }
}

/** Additions (or comparisons) on the longest path from an element to the result: the `k` of the error bound γ_k. */
export function reductionDepth(name: ReductionKernelName, length: number): number {
  const [blockLength, depth] = name === 'best' ? [leafLength, 3 + 2 + 2 + 15 + 15] : [256, 8]
  let levels = 0
  for (let count = length; count > 1; count = Math.ceil(count / blockLength)) levels++
  return levels * depth
}
