import { type CompileOptions, compileAll, type Device, type DeviceGroup, type Kernel } from '@tandem-gpu/core'
import elementF32 from './element-f32.part.wgsl.ts'
import halfAccess from './half-access.part.wgsl.ts'
import halfProduct from './half-product.part.wgsl.ts'
import halfRound from './half-round.part.wgsl.ts'
import params from './params.part.wgsl.ts'
import registers from './registers.part.wgsl.ts'
import { hasHalfProducts } from './split-kernels.ts'
import tensorPlace from './tensor-place.part.wgsl.ts'

/** `tensor`: subgroup matrices. `registers`: products of f32, for devices without them. */
export type HalfBody = 'tensor' | 'registers'

/** Rows and columns of C that a workgroup of the tensor kernel makes, and the multiple to which all matrices are padded. */
export const halfTile = 128

/** What a product of f16 dispatches. */
export interface HalfKernels {
  readonly body: HalfBody
  /** The sums in f32. */
  readonly product: Kernel
  /** Present where the result is f16. */
  readonly round: Kernel | undefined
  destroy(): void
}

/** The kernels of products of f16. */
export function halfSources(): { tensor: CompileOptions; registers: CompileOptions; round: CompileOptions } {
  const join = (...parts: readonly string[]) => parts.join('\n')
  return {
    // All three matrices are padded to whole tiles, so no check of bounds is left to do.
    tensor: { label: 'matmul f16 tensor', wgsl: join(halfProduct, tensorPlace), bounds: 'unchecked' },
    registers: { label: 'matmul f16 registers', wgsl: join(elementF32, params, halfAccess, registers) },
    round: { label: 'matmul f16 round', wgsl: halfRound },
  }
}

/** Compiles the kernels for every device of the group; tensor cores take part where all of `devices` have them. */
export async function compileHalf(
  group: DeviceGroup,
  devices: readonly Device[],
  resultType: 'f16' | 'f32',
): Promise<HalfKernels> {
  const body = devices.every(hasHalfProducts) ? 'tensor' : 'registers'
  const sources = halfSources()
  const { kernels, destroy } = await compileAll(group, {
    product: sources[body],
    round: resultType === 'f16' ? sources.round : undefined,
  })
  return { body, product: kernels.product, round: kernels.round, destroy }
}
