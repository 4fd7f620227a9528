import {
  type CompileOptions,
  type DeviceGroup,
  GpuError,
  type Kernel,
  requireOptions,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { characterOf } from '../device-character.ts'
import { requireGroup, requireNumbers } from '../option-types.ts'
import atomicWgsl from './atomic.wgsl.ts'
import bestScalarsWgsl from './best-scalars.wgsl.ts'
import bestSerialWgsl from './best-serial.wgsl.ts'
import bestVectorsWgsl from './best-vectors.wgsl.ts'
import interleavedConflictsWgsl from './interleaved-conflicts.wgsl.ts'
import interleavedDivergentWgsl from './interleaved-divergent.wgsl.ts'
import tailSubgroupsWgsl from './leaf-tail-subgroups.part.wgsl.ts'
import tailWorkgroupWgsl from './leaf-tail-workgroup.part.wgsl.ts'
import operationsWgsl from './operations.wgsl.ts'
import sequentialWgsl from './sequential.wgsl.ts'

/** The kernels of the ladder, slowest first; the last one is for production. */
export const reductionKernelNames = [
  'atomic',
  'interleaved-divergent',
  'interleaved-conflicts',
  'sequential',
  'best',
] as const

/** A kernel of the ladder. */
export type ReductionKernelName = (typeof reductionKernelNames)[number]
/** The operation of `reduce`. */
export type ReductionOperation = 'sum' | 'min' | 'max'
/** Types of elements that can be reduced. */
export type ReductionType = 'f32' | 'i32' | 'u32'

/**
 * The number of elements that the kernels combine in a fixed order. Device slices start at multiples of it,
 * so that every partial result is the same for any number of devices.
 */
export const leafLength = 16_384

/** One way to turn consecutive blocks of `blockLength` elements into one value each. */
export interface BlockKernel {
  readonly kernel: Kernel
  readonly blockLength: number
  readonly blocksPerWorkgroup: number
}

/** The kernels that `compileReduction` compiles. */
export interface ReductionKernels {
  readonly name: ReductionKernelName
  readonly operation: ReductionOperation
  readonly type: ReductionType
  /** Supports any view. It reduces the blocks that `aligned` does not support, and the partial results. */
  readonly general: BlockKernel
  /** Supports whole blocks at offsets that are multiples of 4 elements, in the order of `general`. */
  readonly aligned?: BlockKernel
  /**
   * `count` combines all elements into one key (see operations.wgsl), and `merge` turns the keys of the
   * devices into one value.
   */
  readonly atomic?: { readonly count: BlockKernel; readonly merge: BlockKernel }
  destroy(): void
}

/**
 * How `best` reduces a leaf: by a workgroup; by a workgroup that ends in subgroup operations, except for f32
 * sums, whose bits would depend on that order; or by one invocation without barriers. All produce the same
 * bits.
 */
export type BestVariant = 'vectors' | 'subgroups' | 'serial'

/** f32 minimum and maximum compare integer keys; only f32 sums depend on the order. */
function bestVariant(group: DeviceGroup, operation: ReductionOperation, type: ReductionType): BestVariant {
  if (!characterOf(group).fastBarriers) return 'serial'
  const subgroups = group.devices.every((device) => device.features.has('subgroups'))
  return subgroups && !(operation === 'sum' && type === 'f32') ? 'subgroups' : 'vectors'
}

/**
 * Compiles the kernels that `recordReduction` needs. Throws `unsupported` for the atomic kernel with f32.
 * `variant` applies to `best`; default: chosen for the devices.
 */
export async function compileReduction(
  group: DeviceGroup,
  options: {
    kernel: ReductionKernelName
    operation: ReductionOperation
    type: ReductionType
    variant?: BestVariant
  },
): Promise<ReductionKernels> {
  requireGroup(group)
  requireOptions(options, 'compileReduction', {
    kernel: 'string',
    operation: 'string',
    type: 'string',
    variant: 'string',
  })
  const { kernel: name, operation, type } = options
  if (!reductionKernelNames.includes(name))
    throw new GpuError(
      'validation',
      `There is no reduction kernel ${name}; the kernels are ${reductionKernelNames.join(', ')}.`,
    )
  if (!['sum', 'min', 'max'].includes(operation))
    throw new GpuError(
      'validation',
      `There is no reduction operation ${operation}; the operations are sum, min and max.`,
    )
  requireNumbers('A reduction needs elements', type)
  if (name === 'atomic' && type === 'f32')
    throw new GpuError(
      'unsupported',
      'The atomic kernel supports i32 and u32 only: WGSL has no atomic<f32>, and a sum whose order changes from run to run would change its bits.',
    )

  const variant = options.variant ?? bestVariant(group, operation, type)
  if (variant === 'subgroups' && operation === 'sum' && type === 'f32')
    throw new GpuError(
      'unsupported',
      'Sums of f32 cannot use subgroup operations: their bits would depend on the subgroup size.',
    )
  const sources = kernelSources({ kernel: name, operation, type, variant })
  const { kernels, destroy } = await compileTerminating(group, {
    general: sources.general.compile,
    aligned: sources.aligned?.compile,
    count: sources.count?.compile,
  })
  const block = (kernel: Kernel, { blockLength, blocksPerWorkgroup }: BlockSource): BlockKernel => ({
    kernel,
    blockLength,
    blocksPerWorkgroup,
  })
  const general = block(kernels.general, sources.general)
  return {
    name,
    operation,
    type,
    general,
    ...(kernels.aligned && sources.aligned && { aligned: block(kernels.aligned, sources.aligned) }),
    ...(kernels.count &&
      sources.count && { atomic: { count: block(kernels.count, sources.count), merge: general } }),
    destroy,
  }
}

/** The constants of operations.wgsl. */
export function operationConstants(operation: ReductionOperation, type: ReductionType) {
  const code = operation === 'sum' ? (type === 'f32' ? 1 : 0) : operation === 'min' ? 2 : 3
  const encoding = operation === 'sum' ? 0 : { u32: 0, i32: 1, f32: 2 }[type]
  return { operation: code, encodeAs: encoding, decodeAs: encoding }
}

interface BlockSource extends Omit<BlockKernel, 'kernel'> {
  readonly compile: CompileOptions
}

/**
 * The sources of one kernel of the ladder: `general` always, `aligned` for whole blocks, and `count` for the
 * atomic kernel, whose counters `general` merges.
 */
function kernelSources(options: {
  kernel: ReductionKernelName
  operation: ReductionOperation
  type: ReductionType
  variant: BestVariant
}): { general: BlockSource; aligned?: BlockSource; count?: BlockSource } {
  const { kernel: name, operation, type, variant } = options
  const constants = operationConstants(operation, type)
  const source = (
    label: string,
    wgsl: string,
    blockLength = 256,
    blocksPerWorkgroup = 1,
    keys: { in?: boolean; out?: boolean } = {},
    enable = '',
  ): BlockSource => ({
    blockLength,
    blocksPerWorkgroup,
    compile: {
      label: `reduction-${label} ${operation} ${type}`,
      wgsl: `${enable}alias Input = ${keys.in ? 'u32' : type};\nalias Output = ${keys.out ? 'u32' : type};\n${operationsWgsl}${wgsl}`,
      constants: { ...constants, ...(keys.in && { encodeAs: 0 }), ...(keys.out && { decodeAs: 0 }) },
    },
  })
  switch (name) {
    case 'atomic':
      return {
        general: source('atomic-merge', sequentialWgsl, 256, 1, { in: true }),
        count: source('atomic', atomicWgsl, 256, 1, { out: true }),
      }
    case 'interleaved-divergent':
      return { general: source(name, interleavedDivergentWgsl) }
    case 'interleaved-conflicts':
      return { general: source(name, interleavedConflictsWgsl) }
    case 'sequential':
      return { general: source(name, sequentialWgsl) }
    case 'best': {
      if (variant === 'serial') return { general: source('best-serial', bestSerialWgsl, leafLength, 4) }
      const [suffix, tail, enable] =
        variant === 'subgroups'
          ? ['-subgroups', tailSubgroupsWgsl, 'enable subgroups;\n']
          : ['', tailWorkgroupWgsl, '']
      return {
        general: source(`best-scalars${suffix}`, tail + bestScalarsWgsl, leafLength, 1, {}, enable),
        aligned: source(`best-vectors${suffix}`, tail + bestVectorsWgsl, leafLength, 1, {}, enable),
      }
    }
  }
}

/** Every kernel that the reduction can use: for tests and for ahead-of-time compilation. */
export function reductionSources(): CompileOptions[] {
  const bestVariants = ['vectors', 'subgroups', 'serial'] as const
  const sources: CompileOptions[] = []
  for (const kernel of reductionKernelNames)
    for (const operation of ['sum', 'min', 'max'] as const)
      for (const type of ['f32', 'i32', 'u32'] as const)
        for (const variant of kernel === 'best' ? bestVariants : (['vectors'] as const)) {
          if (type === 'f32' && (kernel === 'atomic' || (variant === 'subgroups' && operation === 'sum')))
            continue
          const { general, aligned, count } = kernelSources({ kernel, operation, type, variant })
          for (const source of [general, aligned, count]) if (source) sources.push(source.compile)
        }
  return sources
}

/**
 * Additions (or comparisons) on the longest path from an element to the result: the `k` of the error bound
 * γ_k.
 */
export function reductionDepth(name: ReductionKernelName, length: number): number {
  const [blockLength, depth] = name === 'best' ? [leafLength, 3 + 2 + 2 + 15 + 15] : [256, 8]
  let levels = 0
  for (let count = length; count > 1; count = Math.ceil(count / blockLength)) levels++
  return levels * depth
}
