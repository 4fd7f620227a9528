import { type CompileOptions, type Device, type DeviceGroup, GpuError, type Kernel } from '@tandem-gpu/core'
import { compileTerminating } from '../../compile-terminating.ts'
import { characterOf } from '../../device-character.ts'
import { requireGroup } from '../../option-types.ts'
import { requireResult } from '../../require-result.ts'
import { compileTranspose, type TransposeKernel } from '../../transpose/transpose-kernels.ts'
import type { MatmulShape, MatmulType } from '../matmul-shape.ts'
import type { SplitKernels } from '../tensor/split-kernels.ts'
import aScalar from './a-scalar.part.wgsl.ts'
import aVector from './a-vector.part.wgsl.ts'
import accumulate from './accumulate.part.wgsl.ts'
import bcScalar from './bc-scalar.part.wgsl.ts'
import bcVector from './bc-vector.part.wgsl.ts'
import elementF32 from './element-f32.part.wgsl.ts'
import elementI32 from './element-i32.part.wgsl.ts'
import elementU32 from './element-u32.part.wgsl.ts'
import params from './params.part.wgsl.ts'
import registers from './registers.part.wgsl.ts'
import sumOfParts from './sum-of-parts.part.wgsl.ts'
import tilePlace from './tile-place.part.wgsl.ts'
import tiled from './tiled.part.wgsl.ts'
import transposed from './transposed.part.wgsl.ts'

/**
 * How a product is divided into blocks. `registers` uses no workgroup memory (software adapters). `tiled`
 * computes tiles of `tileRows` × `tileColumns`; `transposed` does too, but first transposes A into scratch
 * memory, which is faster for large products. Of these fields, only `parts` affects the bits of the result.
 */
export interface MatmulBlocking {
  readonly body: 'registers' | 'tiled' | 'transposed'
  readonly tileRows: number
  readonly tileColumns: number
  /**
   * The number of parts into which the sum over k is divided; their results are added in order. 1 means that
   * it is not divided.
   */
  readonly parts: number
}

/** The kernels that `compileMatmul` compiles. */
export interface MatmulKernels {
  readonly type: MatmulType
  readonly blocking: MatmulBlocking
  /**
   * For views whose rows start at multiples of four elements and, for B and C, have a multiple of four
   * columns.
   */
  readonly vector: Kernel
  /** For any view. */
  readonly scalar: Kernel
  /** Present if `vector` reads A transposed. */
  readonly transpose?: TransposeKernel
  /** Present if the sum over k is divided into parts. */
  readonly sumOfParts?: Kernel
  /**
   * Present if products of f32 are computed from f16 parts; `blocking` then applies to the elements that are
   * computed in f32.
   */
  readonly split?: SplitKernels
  destroy(): void
}

const elements: Record<MatmulType, string> = { f32: elementF32, i32: elementI32, u32: elementU32 }

/**
 * How a workgroup computes its tile: `across` × `down` invocations, each with `rowBlocks` × `columnBlocks`
 * blocks of 4 × 4.
 */
interface Tile {
  readonly body: 'tiled' | 'transposed'
  readonly across: number
  readonly down: number
  readonly rowBlocks: number
  readonly columnBlocks: number
  /** Speed on a full GPU as a fraction of the fastest tile's, measured on an H200. */
  readonly efficiency: number
  /**
   * The fraction of that speed with 1, 2, … warps on each of a multiprocessor's four schedulers, measured on
   * an H200; 1 for more warps.
   */
  readonly sparse: readonly number[]
}

const tiles: readonly Tile[] = [
  { body: 'tiled', across: 16, down: 16, rowBlocks: 4, columnBlocks: 2, efficiency: 0.88, sparse: [] },
  { body: 'tiled', across: 16, down: 8, rowBlocks: 2, columnBlocks: 4, efficiency: 0.87, sparse: [0.75] },
  { body: 'tiled', across: 8, down: 16, rowBlocks: 2, columnBlocks: 4, efficiency: 0.85, sparse: [0.75] },
  { body: 'tiled', across: 8, down: 8, rowBlocks: 4, columnBlocks: 2, efficiency: 0.8, sparse: [0.88] },
  { body: 'tiled', across: 8, down: 8, rowBlocks: 2, columnBlocks: 4, efficiency: 0.8, sparse: [0.88] },
  {
    body: 'tiled',
    across: 8,
    down: 8,
    rowBlocks: 2,
    columnBlocks: 2,
    efficiency: 0.74,
    sparse: [0.69, 0.92],
  },
]

/**
 * The tile of products that transpose A first. One of the tiles above has the same size: its kernel is used
 * for views that do not consist of whole vectors.
 */
const transposedTile: Tile = {
  body: 'transposed',
  across: 16,
  down: 8,
  rowBlocks: 4,
  columnBlocks: 2,
  efficiency: 1,
  sparse: [0.75],
}

/** Smaller products do not fill a tile, or gain less than the pass that transposes A and its launch cost. */
const leastTransposed: MatmulShape = { m: 128, n: 128, k: 512 }

const rowsOf = (tile: Tile) => 4 * tile.rowBlocks * tile.down
const columnsOf = (tile: Tile) => 4 * tile.columnBlocks * tile.across

/** Two tiles of A and two of B, each with a depth of eight in k. */
const workgroupByteLength = (tile: Tile) => (rowsOf(tile) + columnsOf(tile)) * 8 * 2 * 4

const blockingOf = (tile: Tile, parts: number): MatmulBlocking => ({
  body: tile.body,
  tileRows: rowsOf(tile),
  tileColumns: columnsOf(tile),
  parts,
})

/**
 * The number of multiprocessors that the choice of blocks assumes. It is fixed, so that the same shape gives
 * the same bits on every GPU.
 */
export const assumedProcessors = 132

/** Assumptions for the choice of tiles. */
export interface CandidateOptions {
  /**
   * The number of columns of the result that one product computes. It affects the tile, not the sum. Default:
   * all columns of the shape.
   */
  readonly localColumns?: number | undefined
  /** False if there is no memory for A transposed, or if too few products share it. */
  readonly transposed?: boolean | undefined
}

/** The first of `matmulCandidates`, which is expected to be the fastest. */
export function chooseBlocking(
  device: Device,
  shape: MatmulShape,
  localRows: number = shape.m,
  options: CandidateOptions = {},
): MatmulBlocking {
  return matmulCandidates(device, shape, localRows, options)[0]
}

/**
 * Blockings worth measuring for a product of global shape `shape`, of which a device computes `localRows`
 * rows: up to four that fit the device, the expected fastest first. `parts` is the same in all and depends on
 * `shape` alone, so the bits depend neither on the choice nor on the number of devices.
 */
export function matmulCandidates(
  device: Device,
  shape: MatmulShape,
  localRows: number = shape.m,
  options: CandidateOptions = {},
): [MatmulBlocking, ...MatmulBlocking[]] {
  const { maxWorkgroupInvocations, maxWorkgroupMemoryByteLength } = device.limits
  const rows = Math.max(1, localRows)
  const large = rows >= leastTransposed.m && shape.n >= leastTransposed.n && shape.k >= leastTransposed.k
  const offered = large && options.transposed !== false ? [transposedTile, ...tiles] : tiles
  const fitting = offered.filter(
    (tile) =>
      characterOf(device.info).fastBarriers &&
      tile.across * tile.down <= maxWorkgroupInvocations &&
      workgroupByteLength(tile) <= maxWorkgroupMemoryByteLength,
  )
  if (fitting.length === 0) return [{ body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 }]
  let parts = 1
  let least = Number.POSITIVE_INFINITY
  for (let candidate = 1; candidate <= 32 && shape.k / candidate >= 128; candidate++) {
    const cost = leastCycles(shape, candidate)
    if (cost < least * 0.97) {
      least = cost
      parts = candidate
    }
  }
  const { localColumns = shape.n } = options
  const cost = (tile: Tile) => tileCost(tile, rows, { ...shape, n: localColumns }, parts)
  const [first, ...rest] = fitting
    .sort((a, b) => cost(a) - cost(b))
    .slice(0, 4)
    .map((tile) => blockingOf(tile, parts))
  return [first!, ...rest]
}

/** The estimated clock cycles of a whole product on one GPU, if the sum over k is divided into `parts`. */
export function leastCycles(shape: MatmulShape, parts: number): number {
  return Math.min(...tiles.map((tile) => tileCost(tile, shape.m, shape, parts)))
}

/** The estimated clock cycles of a product with one of several `matmulCandidates`. */
export function estimatedCycles(blocking: MatmulBlocking, shape: MatmulShape): number {
  return tileCost(tileOf(blocking), Math.max(1, shape.m), shape, blocking.parts)
}

/**
 * Estimated clock cycles: the warps of whole blocks on the fullest multiprocessor take turns on its four
 * schedulers, each at 0.82 multiply-adds per lane and cycle (measured). Adding the parts and transposing A
 * cost extra.
 */
function tileCost(tile: Tile, rows: number, { n, k }: MatmulShape, parts: number): number {
  const blocks = Math.ceil(rows / rowsOf(tile)) * Math.ceil(n / columnsOf(tile)) * parts
  const warps = (Math.ceil(blocks / assumedProcessors) * tile.across * tile.down) / 32
  const turns = Math.ceil(warps / 4)
  const rate = 0.82 * tile.efficiency * (tile.sparse[turns - 1] ?? 1)
  const depth = Math.ceil(k / parts) + 64
  const product = (turns * 16 * tile.rowBlocks * tile.columnBlocks * depth) / rate
  const sum = parts > 1 ? 4_000 + (rows * n * 8 * (parts + 1)) / 2_400 : 0
  const pass = tile.body === 'transposed' ? 4_000 + (rows * k * 8) / 2_000 : 0
  return pass + product + sum
}

function tileOf({ body, tileRows, tileColumns }: MatmulBlocking): Tile {
  const found = [transposedTile, ...tiles].find(
    (tile) => tile.body === body && rowsOf(tile) === tileRows && columnsOf(tile) === tileColumns,
  )
  if (found === undefined)
    throw new GpuError('validation', `Matmul has no ${body} tile of ${tileRows} × ${tileColumns}.`)
  return found
}

/** The source of one kernel. If `vector`, rows of all three matrices start at multiples of four elements. */
function matmulSource(type: MatmulType, blocking: MatmulBlocking, vector: boolean): CompileOptions {
  const { body, tileRows, tileColumns } = blocking
  if (body === 'transposed' && !vector) return matmulSource(type, { ...blocking, body: 'tiled' }, false)
  const access = vector ? 'vector' : 'scalar'
  const bc = vector ? bcVector : bcScalar
  if (body === 'registers')
    return {
      label: `matmul ${type} registers ${access}`,
      wgsl: [elements[type], params, vector ? aVector : aScalar, bc, registers].join('\n'),
    }
  const { across, down, rowBlocks, columnBlocks } = tileOf(blocking)
  const constants = `const TX = ${across}u;\nconst TY = ${down}u;\nconst A_BLOCKS = ${rowBlocks}u;\nconst B_BLOCKS = ${columnBlocks}u;\n`
  if (body === 'transposed')
    return {
      label: `matmul ${type} ${tileRows}×${tileColumns} transposed`,
      wgsl: [elements[type], params, bc, constants, accumulate, tilePlace, transposed].join('\n'),
    }
  return {
    label: `matmul ${type} ${tileRows}×${tileColumns} ${access}`,
    wgsl: [elements[type], params, aScalar, bc, constants, accumulate, tilePlace, tiled].join('\n'),
  }
}

function sumOfPartsSource(type: MatmulType): CompileOptions {
  return { label: `matmul ${type} sum of parts`, wgsl: [elements[type], sumOfParts].join('\n') }
}

/** Every kernel that matmul can use: for tests and for ahead-of-time compilation. */
export function matmulSources(): CompileOptions[] {
  const types: MatmulType[] = ['f32', 'i32', 'u32']
  const blockings: MatmulBlocking[] = [
    { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 },
    ...tiles.map((tile) => blockingOf(tile, 1)),
  ]
  return types.flatMap((type) => [
    ...blockings.flatMap((blocking) => [
      matmulSource(type, blocking, true),
      matmulSource(type, blocking, false),
    ]),
    matmulSource(type, blockingOf(transposedTile, 1), true),
    sumOfPartsSource(type),
  ])
}

/**
 * Compiles the kernels for `blocking` on every device of the group. The group caches kernels, so calling
 * again costs nothing.
 */
export async function compileMatmul(
  group: DeviceGroup,
  type: MatmulType,
  blocking: MatmulBlocking,
): Promise<MatmulKernels> {
  requireGroup(group)
  requireResult(blocking, 'body', 'The blocking of compileMatmul', 'a value that chooseBlocking returned')
  // Throws for a blocking that does not exist, before anything is compiled.
  const sources = {
    vector: matmulSource(type, blocking, true),
    scalar: matmulSource(type, blocking, false),
    sumOfParts: blocking.parts > 1 ? sumOfPartsSource(type) : undefined,
  }
  const [product, transpose] = await Promise.allSettled([
    compileTerminating(group, sources),
    blocking.body === 'transposed'
      ? compileTranspose(group, { type, scatter: false, persistent: false })
      : undefined,
  ])
  const compiled = [product, transpose].flatMap((result) =>
    result.status === 'fulfilled' && result.value ? [result.value] : [],
  )
  const destroy = () => {
    for (const one of compiled) one.destroy()
  }
  if (product.status === 'rejected' || transpose.status === 'rejected') {
    destroy()
    throw product.status === 'rejected' ? product.reason : (transpose as PromiseRejectedResult).reason
  }
  const { vector, scalar, sumOfParts } = product.value.kernels
  return {
    type,
    blocking,
    vector,
    scalar,
    ...(sumOfParts && { sumOfParts }),
    ...(transpose.value && { transpose: transpose.value }),
    destroy,
  }
}
