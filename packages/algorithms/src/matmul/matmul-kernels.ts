import { type CompileOptions, type Device, type DeviceGroup, GpuError, type Kernel } from '@tandem-gpu/core'
import { compileAll } from '../compile-all.ts'
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
  destroy(): void
}

const elements: Record<MatmulType, string> = { f32: elementF32, i32: elementI32, u32: elementU32 }

/** How a workgroup makes its tile: `across` × `down` invocations of `rowBlocks` × `columnBlocks` blocks of 4 × 4 each. */
interface Tile {
  readonly across: number
  readonly down: number
  readonly rowBlocks: number
  readonly columnBlocks: number
  /** Speed on a full GPU, of the fastest tile's: measured on an H200, as is `sparse`. */
  readonly efficiency: number
  /** What is left of it with 1, 2, … warps on each of a multiprocessor's four schedulers; 1 beyond. */
  readonly sparse: readonly number[]
}

const tiles: readonly Tile[] = [
  { across: 16, down: 16, rowBlocks: 4, columnBlocks: 2, efficiency: 1, sparse: [] },
  { across: 16, down: 8, rowBlocks: 2, columnBlocks: 4, efficiency: 0.99, sparse: [0.75] },
  { across: 8, down: 16, rowBlocks: 2, columnBlocks: 4, efficiency: 0.97, sparse: [0.75] },
  { across: 8, down: 8, rowBlocks: 4, columnBlocks: 2, efficiency: 0.91, sparse: [0.88] },
  { across: 8, down: 8, rowBlocks: 2, columnBlocks: 4, efficiency: 0.91, sparse: [0.88] },
  { across: 8, down: 8, rowBlocks: 2, columnBlocks: 2, efficiency: 0.84, sparse: [0.69, 0.92] },
]

const rowsOf = (tile: Tile) => 4 * tile.rowBlocks * tile.down
const columnsOf = (tile: Tile) => 4 * tile.columnBlocks * tile.across

/** Two tiles of A and two of B, eight deep in k. */
const workgroupByteLength = (tile: Tile) => (rowsOf(tile) + columnsOf(tile)) * 8 * 2 * 4

/** Multiprocessors that the choice of blocks assumes: fixed, so that the same shape gives the same bits on every GPU. */
const assumedProcessors = 132

/** The first of `matmulCandidates`: expected to be the fastest. */
export function chooseBlocking(
  device: Device,
  shape: MatmulShape,
  localRows: number = shape.m,
  options: { split?: boolean } = {},
): MatmulBlocking {
  return matmulCandidates(device, shape, localRows, options)[0]
}

/**
 * Blockings worth measuring for a product of global shape `shape`, of which a device computes `localRows` rows: up to four that fit the
 * device, the expected fastest first. `parts` is the same in all and follows from `shape` alone, so the bits depend neither on the choice
 * nor on the number of devices.
 */
export function matmulCandidates(
  device: Device,
  shape: MatmulShape,
  localRows: number = shape.m,
  options: { split?: boolean } = {},
): [MatmulBlocking, ...MatmulBlocking[]] {
  const { maxWorkgroupInvocations, maxWorkgroupMemoryByteLength } = device.limits
  const fitting = tiles.filter(
    (tile) =>
      !device.info.software &&
      tile.across * tile.down <= maxWorkgroupInvocations &&
      workgroupByteLength(tile) <= maxWorkgroupMemoryByteLength,
  )
  if (fitting.length === 0) return [{ body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 }]
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
  const cost = (tile: Tile) => tileCost(tile, rows, shape, parts)
  const [first, ...rest] = fitting
    .sort((a, b) => cost(a) - cost(b))
    .slice(0, 4)
    .map(
      (tile): MatmulBlocking => ({
        body: 'tiled',
        tileRows: rowsOf(tile),
        tileColumns: columnsOf(tile),
        parts,
      }),
    )
  return [first!, ...rest]
}

/**
 * Estimated clock cycles: the warps of whole blocks on the fullest multiprocessor take turns on its four schedulers, each at 0.72
 * multiply-adds a lane and cycle (measured); then the sum of the parts.
 */
function tileCost(tile: Tile, rows: number, { n, k }: MatmulShape, parts: number): number {
  const blocks = Math.ceil(rows / rowsOf(tile)) * Math.ceil(n / columnsOf(tile)) * parts
  const warps = (Math.ceil(blocks / assumedProcessors) * tile.across * tile.down) / 32
  const turns = Math.ceil(warps / 4)
  const rate = 0.72 * tile.efficiency * (tile.sparse[turns - 1] ?? 1)
  const depth = Math.ceil(k / parts) + 64
  const product = (turns * 16 * tile.rowBlocks * tile.columnBlocks * depth) / rate
  const sum = parts > 1 ? 4_000 + (rows * n * 8 * (parts + 1)) / 2_400 : 0
  return product + sum
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
  const tile = tiles.find((tile) => rowsOf(tile) === tileRows && columnsOf(tile) === tileColumns)
  if (!tile) throw new GpuError('validation', `Matmul has no tile of ${tileRows} × ${tileColumns}.`)
  const { across, down, rowBlocks, columnBlocks } = tile
  const constants = `const TX = ${across}u;\nconst TY = ${down}u;\nconst A_BLOCKS = ${rowBlocks}u;\nconst B_BLOCKS = ${columnBlocks}u;\n`
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
    ...tiles.map((tile) => ({
      body: 'tiled' as const,
      tileRows: rowsOf(tile),
      tileColumns: columnsOf(tile),
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
  const { kernels, destroy } = await compileAll(group, {
    vector: matmulSource(type, blocking, true),
    scalar: matmulSource(type, blocking, false),
    splitSum: blocking.parts > 1 ? splitSumSource(type) : undefined,
  })
  const { vector, scalar, splitSum } = kernels
  return { type, blocking, vector, scalar, ...(splitSum && { splitSum }), destroy }
}
