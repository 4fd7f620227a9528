import type { CompileOptions, Device, DeviceGroup, Kernel } from '@tandem-gpu/core'
import aScalar from './a-scalar.part.wgsl.ts'
import aVector from './a-vector.part.wgsl.ts'
import bcScalar from './bc-scalar.part.wgsl.ts'
import bcVector from './bc-vector.part.wgsl.ts'
import elementF32 from './element-f32.part.wgsl.ts'
import elementI32 from './element-i32.part.wgsl.ts'
import elementU32 from './element-u32.part.wgsl.ts'
import params from './params.part.wgsl.ts'
import registers from './registers.part.wgsl.ts'
import splitSum from './split-sum.part.wgsl.ts'
import tiled from './tiled.part.wgsl.ts'

/** Integer products and sums wrap modulo 2^32. */
export type MatmulType = 'f32' | 'i32' | 'u32'

/** m × n = (m × k) · (k × n). */
export interface MatmulShape {
  readonly m: number
  readonly n: number
  readonly k: number
}

/**
 * How a product is blocked. `registers` uses no workgroup memory (software adapters); `tiled` makes tiles of `tileRows` × `tileColumns`.
 * The bits of the result depend on `parts` alone.
 */
export interface MatmulBlocking {
  readonly body: 'registers' | 'tiled'
  readonly tileRows: number
  readonly tileColumns: number
  /** K is cut into this many parts, whose results are added in order; 1 is no cut. */
  readonly parts: number
}

export interface MatmulKernels {
  readonly type: MatmulType
  readonly blocking: MatmulBlocking
  /** For views whose rows start at multiples of four elements and, for B and C, have a multiple of four columns. */
  readonly vector: Kernel
  /** For any view. */
  readonly scalar: Kernel
  /** Present where `blocking.parts` is above 1. */
  readonly splitSum?: Kernel
}

const elements: Record<MatmulType, string> = { f32: elementF32, i32: elementI32, u32: elementU32 }

const tiles = [
  { tileRows: 128, tileColumns: 128, efficiency: 1 },
  { tileRows: 64, tileColumns: 128, efficiency: 0.92 },
  { tileRows: 128, tileColumns: 64, efficiency: 0.92 },
  { tileRows: 64, tileColumns: 64, efficiency: 0.85 },
] as const

/** Multiprocessors that the choice of blocks assumes: fixed, so that the same shape gives the same bits on every GPU. */
const assumedProcessors = 132

/**
 * The blocking for a product of global shape `shape`, of which a device computes `localRows` rows. `parts` follows from `shape` alone, so
 * the bits do not depend on the number of devices.
 */
export function chooseBlocking(
  device: Device,
  shape: MatmulShape,
  localRows: number = shape.m,
  options: { split?: boolean } = {},
): MatmulBlocking {
  const { maxWorkgroupInvocations, maxWorkgroupMemoryByteLength } = device.limits
  if (device.info.software || maxWorkgroupInvocations < 256 || maxWorkgroupMemoryByteLength < 16_384)
    return { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 }
  let parts = 1
  if (options.split !== false) {
    let least = Number.POSITIVE_INFINITY
    for (let candidate = 1; candidate <= 32 && shape.k / candidate >= 128; candidate++) {
      const cost = Math.min(...tiles.map((tile) => tileCost(tile, shape.m, shape, candidate)))
      if (cost < least * 0.97) {
        least = cost
        parts = candidate
      }
    }
  }
  const rows = Math.max(1, localRows)
  const best = tiles.reduce((a, b) =>
    tileCost(b, rows, shape, parts) < tileCost(a, rows, shape, parts) ? b : a,
  )
  return { body: 'tiled', tileRows: best.tileRows, tileColumns: best.tileColumns, parts }
}

/** Estimated clock cycles: whole blocks on the fullest multiprocessor, plus the sum of the parts. */
function tileCost(tile: (typeof tiles)[number], rows: number, { n, k }: MatmulShape, parts: number): number {
  const blocks = Math.ceil(rows / tile.tileRows) * Math.ceil(n / tile.tileColumns) * parts
  const perProcessor = Math.ceil(blocks / assumedProcessors)
  const warps = (tile.tileRows * tile.tileColumns) / 2048
  const rate = 128 * tile.efficiency * occupancyRate(perProcessor * warps)
  const depth = Math.ceil(k / parts) + 64
  const product = (perProcessor * tile.tileRows * tile.tileColumns * depth) / rate
  const sum = parts > 1 ? 4_000 + (rows * n * 8 * (parts + 1)) / 2_400 : 0
  return product + sum
}

/** Part of its speed that a multiprocessor reaches with so many warps: measured on an H200, where 16 are as many as fit, and 8 reach 0.72. */
function occupancyRate(warps: number): number {
  if (warps >= 16) return 1
  return warps >= 8 ? 0.72 + 0.035 * (warps - 8) : 0.09 * warps
}

/** Source of one kernel; `vector` says that rows of all three matrices start at multiples of four elements. */
export function matmulSource(type: MatmulType, blocking: MatmulBlocking, vector: boolean): CompileOptions {
  const { body, tileRows, tileColumns } = blocking
  const access = vector ? 'vector' : 'scalar'
  const bc = vector ? bcVector : bcScalar
  if (body === 'registers')
    return {
      label: `matmul ${type} registers ${access}`,
      wgsl: [elements[type], params, vector ? aVector : aScalar, bc, registers].join('\n'),
    }
  const tx = tileColumns / 8
  const ty = tileRows / 8
  const constants = `const TX = ${tx}u;\nconst TY = ${ty}u;\nconst THREADS = ${tx * ty}u;\n`
  return {
    label: `matmul ${type} ${tileRows}×${tileColumns} ${access}`,
    wgsl: [elements[type], params, aScalar, bc, constants, tiled].join('\n'),
  }
}

export function splitSumSource(type: MatmulType): CompileOptions {
  return { label: `matmul ${type} sum of parts`, wgsl: [elements[type], splitSum].join('\n') }
}

/** Every kernel that matmul can use: for tests and for compilation ahead of time. */
export function matmulSources(): CompileOptions[] {
  const types: MatmulType[] = ['f32', 'i32', 'u32']
  const blockings: MatmulBlocking[] = [
    { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 },
    ...tiles.map(({ tileRows, tileColumns }) => ({
      body: 'tiled' as const,
      tileRows,
      tileColumns,
      parts: 1,
    })),
  ]
  return types.flatMap((type) => [
    ...blockings.flatMap((blocking) => [
      matmulSource(type, blocking, true),
      matmulSource(type, blocking, false),
    ]),
    splitSumSource(type),
  ])
}

/** Compiles what `blocking` needs, for every device of the group. The group caches kernels: calling again costs nothing. */
export async function compileMatmul(
  group: DeviceGroup,
  type: MatmulType,
  blocking: MatmulBlocking,
): Promise<MatmulKernels> {
  const [vector, scalar, sum] = await Promise.all([
    group.compile(matmulSource(type, blocking, true)),
    group.compile(matmulSource(type, blocking, false)),
    blocking.parts > 1 ? group.compile(splitSumSource(type)) : undefined,
  ])
  return { type, blocking, vector, scalar, ...(sum && { splitSum: sum }) }
}
