import { type CompileOptions, type DeviceGroup, type Kernel, requireOptions } from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { requireGroup, requireNumbers } from '../option-types.ts'
import operationsWgsl from '../reduction/operations.wgsl.ts'
import { operationConstants } from '../reduction/reduction-kernels.ts'
import { fastestVariant, requireSubgroupsOf32 } from '../subgroup-size.ts'
import climbSubgroupsWgsl from './climb-subgroups.part.wgsl.ts'
import climbWorkgroupWgsl from './climb-workgroup.part.wgsl.ts'
import finishWgsl from './finish-tiles.part.wgsl.ts'
import groupsBindings from './groups-bindings.part.wgsl.ts'
import loadScalarsWgsl from './load-scalars.part.wgsl.ts'
import loadVectorsWgsl from './load-vectors.part.wgsl.ts'
import chainWgsl from './scan-chain.part.wgsl.ts'
import groupsWgsl from './scan-groups.part.wgsl.ts'
import operationWgsl from './scan-operation.part.wgsl.ts'
import sumsWgsl from './scan-sums.part.wgsl.ts'
import tilesWgsl from './scan-tiles.part.wgsl.ts'
import serialClimbWgsl from './serial-climb.part.wgsl.ts'
import serialGroupsWgsl from './serial-groups.part.wgsl.ts'
import serialSumsWgsl from './serial-sums.part.wgsl.ts'
import serialTilesWgsl from './serial-tiles.part.wgsl.ts'
import storeScalarsWgsl from './store-scalars.part.wgsl.ts'
import storeVectorsWgsl from './store-vectors.part.wgsl.ts'
import sumsBindings from './sums-bindings.part.wgsl.ts'
import tilesBindings from './tiles-bindings.part.wgsl.ts'

/** The operation of `scan`. */
export type ScanOperation = 'sum' | 'min' | 'max'
/** Types of elements that can be scanned. */
export type ScanType = 'f32' | 'i32' | 'u32'

/**
 * How a tile is scanned: by subgroups of 32 lanes, through workgroup memory, or by one invocation without
 * barriers. All produce the same bits.
 */
export type ScanVariant = 'subgroups' | 'workgroup' | 'serial'

/**
 * The number of elements that one workgroup scans. Device slices start at multiples of it, so that the bits
 * do not depend on the number of devices.
 */
export const scanTileLength = 4096

/** The number of tiles whose sums one workgroup scans. */
export const tilesPerSuperGroup = 1024

/** Kernels that do the same to tiles. */
export interface TileKernels {
  /** For any view. */
  readonly scalars: Kernel
  /** For whole tiles at offsets that are multiples of 4 elements. */
  readonly vectors?: Kernel | undefined
}

/** The kernels that `compileScan` compiles. */
export interface ScanKernels {
  readonly type: ScanType
  readonly operation: ScanOperation
  readonly variant: ScanVariant
  /** The bits of the neutral element of the operation. */
  readonly neutral: number
  /** The number of tiles that a workgroup of `sums` and `tiles` processes. */
  readonly tilesPerWorkgroup: number
  /** Compute one sum for each tile. */
  readonly sums: TileKernels
  /**
   * Computes, for each tile, the sum of the preceding tiles in its super-group; and the sums of the
   * super-groups.
   */
  readonly groups: Kernel
  /** Adds the sum of the preceding super-groups. */
  readonly chain: Kernel
  /** Scan the elements of each tile. */
  readonly tiles: TileKernels
  destroy(): void
}

/** Options of `compileScan`. */
export interface CompileScanOptions {
  readonly type: ScanType
  /** Default `sum`. */
  readonly operation?: ScanOperation | undefined
  /** Default: chosen for the devices. */
  readonly variant?: ScanVariant | undefined
}

/**
 * Compiles the kernels that `recordScan` needs. Rejects with `unsupported` if the variant uses subgroups and
 * a device may have subgroups of a size other than 32.
 */
export async function compileScan(group: DeviceGroup, options: CompileScanOptions): Promise<ScanKernels> {
  requireGroup(group)
  requireOptions(options, 'compileScan', {
    type: 'string',
    operation: ['sum', 'min', 'max'],
    variant: ['subgroups', 'workgroup', 'serial'],
  })
  const { type, operation = 'sum', variant = fastestVariant(group) } = options
  requireNumbers('A scan needs elements', type)
  if (variant === 'subgroups') requireSubgroupsOf32(group)
  const { kernels, destroy } = await compileTerminating(group, kernelSources(type, operation, variant))
  return {
    ...{ type, operation, variant, destroy },
    neutral: neutralBits(type, operation),
    tilesPerWorkgroup: variant === 'serial' ? 4 : 1,
    sums: { scalars: kernels.sums, vectors: kernels.alignedSums },
    groups: kernels.groups,
    chain: kernels.chain,
    tiles: { scalars: kernels.tiles, vectors: kernels.alignedTiles },
  }
}

/** A key of operations.wgsl, or for sums of f32 the bits of -0.0. */
function neutralBits(type: ScanType, operation: ScanOperation): number {
  if (operation === 'sum') return type === 'f32' ? 0x80000000 : 0
  // The keys of the infinities.
  if (type === 'f32') return operation === 'min' ? 0xff800000 : 0x007fffff
  return operation === 'min' ? 0xffffffff : 0
}

function kernelSources(type: ScanType, operation: ScanOperation, variant: ScanVariant) {
  const constants = { ...operationConstants(operation, type), neutral: neutralBits(type, operation) }
  const head = variant === 'subgroups' ? 'enable subgroups;\nrequires subgroup_id;\n' : ''
  const source = (name: string, element: string, ...parts: readonly string[]): CompileOptions => ({
    label: `scan-${name}-${variant} ${operation} ${type}`,
    wgsl: `${head}alias Element = ${element};\n${operationsWgsl}${operationWgsl}${parts.join('\n')}`,
    constants,
  })
  const serial = variant === 'serial'
  const [sums, groups, tiles] = serial
    ? [serialSumsWgsl, serialGroupsWgsl, serialTilesWgsl]
    : [sumsWgsl, groupsWgsl, tilesWgsl]
  const climb = { subgroups: climbSubgroupsWgsl, workgroup: climbWorkgroupWgsl, serial: serialClimbWgsl }[
    variant
  ]
  const sumsOf = (name: string, element: string, load: string) =>
    source(`sums${name}`, element, sumsBindings, load, climb, sums)
  const tilesOf = (name: string, element: string, load: string, store: string) =>
    source(`tiles${name}`, element, tilesBindings, load, store, climb, finishWgsl, tiles)
  const vector = `vec4<${type}>`
  return {
    chain: source('chain', type, chainWgsl),
    sums: sumsOf('', type, loadScalarsWgsl),
    alignedSums: serial ? undefined : sumsOf('-vectors', vector, loadVectorsWgsl),
    groups: source('groups', type, groupsBindings, climb, groups),
    tiles: tilesOf('', type, loadScalarsWgsl, storeScalarsWgsl),
    alignedTiles: serial ? undefined : tilesOf('-vectors', vector, loadVectorsWgsl, storeVectorsWgsl),
  }
}

/** Every kernel that the scan can use, for some variants: for tests and for ahead-of-time compilation. */
export function scanSources(
  variants: readonly ScanVariant[] = ['subgroups', 'workgroup', 'serial'],
): CompileOptions[] {
  const sources: CompileOptions[] = []
  for (const variant of variants)
    for (const operation of ['sum', 'min', 'max'] as const)
      for (const type of ['f32', 'i32', 'u32'] as const)
        for (const source of Object.values(kernelSources(type, operation, variant)))
          if (source !== undefined) sources.push(source)
  return sources
}

/** The number of additions on the longest path to an element: the `k` of the error bound γ_k. */
export function scanDepth(elements: number): number {
  const superGroups = Math.max(1, Math.ceil(elements / (scanTileLength * tilesPerSuperGroup)))
  // Three additions in a vector, four passes over 32 values, and the three additions that combine these.
  return 3 + 4 * 5 + (superGroups - 1) + 3
}
