import type { CompileOptions, DeviceGroup, ElementType, Kernel } from '@tandem-gpu/core'
import { GpuError } from '@tandem-gpu/core'
import gatherWgsl from './transpose-gather.wgsl.ts'
import registersWgsl from './transpose-registers.wgsl.ts'
import squareWgsl from './transpose-square.wgsl.ts'
import stripsWgsl from './transpose-strips.wgsl.ts'

const transposeTypes = ['f32', 'i32', 'u32'] as const
export type TransposeType = (typeof transposeTypes)[number]

/**
 * `square`: the source's kernel, 32 × 32 tiles through workgroup memory. `strips`: 32 × 64 tiles in an order that suits memory
 * better. `registers`: no barriers, for adapters on the CPU.
 */
export type TransposeVariant = keyof typeof variants

const variants = {
  square: { wgsl: squareWgsl, tile: [32, 32] },
  strips: { wgsl: stripsWgsl, tile: [32, 64] },
  registers: { wgsl: registersWgsl, tile: [32, 32] },
} as const

/** Tiles of the gathering kernel: columns × rows of the sender's slice, so that rows are read 128 or 256 bytes at a time. */
export type GatherTile = keyof typeof gatherTiles

const gatherTiles = {
  '32x64': [32, 64],
  '64x32': [64, 32],
  '64x64': [64, 64],
} as const

/** The shipped choice first. */
export const gatherTileNames = ['32x64', '64x32', '64x64'] as const satisfies readonly GatherTile[]

/** Slices that one dispatch of the gathering kernel reads: with the output, as many storage buffers as every device binds. */
export const gatherSenders = 7

export interface TransposeKernel {
  /** Transposes one block. */
  readonly kernel: Kernel
  readonly variant: TransposeVariant
  /** What one workgroup transposes. */
  readonly tile: readonly [columns: number, rows: number]
  /** Transposes one receiver's blocks from all senders at once; what transport `gather` needs. */
  readonly gather?: GatherKernel
  destroy(): void
}

export interface GatherKernel {
  readonly kernel: Kernel
  readonly tile: readonly [columns: number, rows: number]
}

/**
 * Compiles what a transpose needs; default: `strips`, or `registers` where the adapter is the CPU, and no gathering kernel.
 */
export async function compileTranspose(
  group: DeviceGroup,
  type: ElementType,
  variant: TransposeVariant = group.software ? 'registers' : 'strips',
  gatherTile?: GatherTile,
): Promise<TransposeKernel> {
  const [kernel, gather] = await Promise.all([
    group.compile(transposeSource(type, variant)),
    gatherTile === undefined ? undefined : group.compile(gatherSource(type, gatherTile)),
  ])
  return {
    kernel,
    variant,
    tile: variants[variant].tile,
    ...(gather && gatherTile ? { gather: { kernel: gather, tile: gatherTiles[gatherTile] } } : {}),
    destroy() {
      kernel.destroy()
      gather?.destroy()
    },
  }
}

function transposeSource(type: ElementType, variant: TransposeVariant): CompileOptions {
  requireType(type)
  if (!Object.hasOwn(variants, variant))
    throw new GpuError(
      'validation',
      `There is no transpose kernel ${variant}: choose ${Object.keys(variants).join(', ')}.`,
    )
  return {
    label: `transpose-${variant} ${type}`,
    wgsl: `alias Element = ${type};\n${variants[variant].wgsl}`,
  }
}

function gatherSource(type: ElementType, tile: GatherTile): CompileOptions {
  requireType(type)
  if (!Object.hasOwn(gatherTiles, tile))
    throw new GpuError(
      'validation',
      `The gathering transpose has no tiles of ${tile}: choose ${gatherTileNames.join(', ')}.`,
    )
  const [columns, rows] = gatherTiles[tile]
  return {
    label: `transpose-gather ${tile} ${type}`,
    wgsl: `alias Element = ${type};\nconst tileColumns = ${columns}u;\nconst tileRows = ${rows}u;\n${gatherWgsl}`,
  }
}

function requireType(type: ElementType): void {
  if (!transposeTypes.includes(type as TransposeType))
    throw new GpuError('unsupported', `The transpose takes f32, i32 or u32, not ${type}.`)
}

/** Every kernel that the transpose can use: for tests and for compilation ahead of time. */
export function transposeSources(): CompileOptions[] {
  const names = Object.keys(variants) as TransposeVariant[]
  return transposeTypes.flatMap((type) => [
    ...names.map((variant) => transposeSource(type, variant)),
    ...gatherTileNames.map((tile) => gatherSource(type, tile)),
  ])
}
