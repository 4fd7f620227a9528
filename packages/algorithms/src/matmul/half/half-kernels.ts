import type { CompileOptions, Device, DeviceGroup, Kernel } from '@tandem-gpu/core'
import { compileTerminating } from '../../compile-terminating.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import elementF32 from '../single/element-f32.part.wgsl.ts'
import params from '../single/params.part.wgsl.ts'
import registers from '../single/registers.part.wgsl.ts'
import { hasHalfProducts, leastHalfByteLength } from '../tensor/split-kernels.ts'
import tensorPlace from '../tensor/tensor-place.part.wgsl.ts'
import halfAccess from './half-access.part.wgsl.ts'
import halfParts from './half-parts.part.wgsl.ts'
import halfProduct from './half-product.part.wgsl.ts'
import halfRound from './half-round.part.wgsl.ts'
import halfSum from './half-sum.part.wgsl.ts'

/** `tensor`: subgroup matrices. `registers`: products in f32, for devices without subgroup matrices. */
export type HalfBody = 'tensor' | 'registers'

/** The rows and columns of C that a workgroup computes. */
export interface HalfTile {
  readonly rows: number
  readonly columns: number
}

/**
 * How a product of f16 is divided into blocks. Of these fields, only `parts` affects the bits of the result.
 */
export interface HalfBlocking {
  readonly body: HalfBody
  readonly tile: HalfTile
  /**
   * The number of parts into which the sum over k is divided; their results are added in order. 1 means that
   * it is not divided.
   */
  readonly parts: number
  /** The length of a part in k: for tensor cores a multiple of `halfStep`. */
  readonly depth: number
}

/** The kernels of a product of f16. */
export interface HalfKernels {
  readonly blocking: HalfBlocking
  /** Computes the f32 sums of each part. */
  readonly product: Kernel
  /** Adds the parts if there are several, and rounds to f16 if the result has that type. */
  readonly finish: Kernel | undefined
  destroy(): void
}

/** The multiple to which k is padded, and the minimum multiple for rows and columns. */
const halfStep = 128

const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

/** The sizes in memory for `rows` rows of C, for its columns and for k: whole tiles and steps. */
export function paddedHalves({ tile }: HalfBlocking, rows: number, { n, k }: MatmulShape) {
  return {
    rows: up(rows, Math.max(halfStep, tile.rows)),
    columns: up(n, Math.max(halfStep, tile.columns)),
    depth: up(k, halfStep),
  }
}

/**
 * A tile of the tensor kernel: the bytes of its three stages, and, measured on an H200, how many run
 * concurrently and their speed.
 */
interface TensorTile extends HalfTile {
  readonly byteLength: number
  readonly atOnce: number
  readonly efficiency: number
}

const tensorTiles: readonly TensorTile[] = [
  { rows: 128, columns: 256, byteLength: 147_456, atOnce: 132, efficiency: 1 },
  { rows: 128, columns: 128, byteLength: leastHalfByteLength, atOnce: 264, efficiency: 0.9 },
]
const registersTile: HalfTile = { rows: 32, columns: 32 }

/**
 * A part has at least this length in k, and the number of parts is limited so that the parts of all 128 × 128
 * tiles run concurrently on an H200.
 */
const leastDepth = 512

/**
 * The blocking for products of `shape` of which a device computes `rows` rows: on tensor cores if all of
 * `devices` have them. The number of parts depends on the shape alone, so the bits do not depend on the
 * number of devices.
 */
export function chooseHalfBlocking(
  shape: MatmulShape,
  rows: number,
  devices: readonly Device[],
): HalfBlocking {
  const { m, n, k } = shape
  if (!devices.every(hasHalfProducts)) return { body: 'registers', tile: registersTile, parts: 1, depth: k }
  const count = (tile: HalfTile, rows: number) => Math.ceil(rows / tile.rows) * Math.ceil(n / tile.columns)
  const least = tensorTiles.at(-1)!
  const wanted = Math.min(Math.floor(k / leastDepth), Math.floor(least.atOnce / Math.max(1, count(least, m))))
  const depth = up(k / Math.max(1, wanted), halfStep)
  const parts = Math.ceil(k / depth) || 1
  const cost = (tile: TensorTile) => Math.ceil((count(tile, rows) * parts) / tile.atOnce) / tile.efficiency
  const memory = Math.min(...devices.map(({ limits }) => limits.maxWorkgroupMemoryByteLength))
  const [tile] = tensorTiles.filter((tile) => tile.byteLength <= memory).sort((a, b) => cost(a) - cost(b))
  return { body: 'tensor', tile: tile!, parts, depth }
}

const join = (...parts: readonly string[]) => parts.join('\n')

/** All three matrices are padded to whole tiles, so no bounds checks are needed. */
function tensorSource({ rows, columns }: HalfTile): CompileOptions {
  const subgroups = `const SUBGROUPS_DOWN = ${rows / 64}u;\nconst SUBGROUPS_ACROSS = ${columns / 64}u;`
  return {
    label: `matmul f16 ${rows}×${columns} tensor`,
    wgsl: join(halfProduct, subgroups, tensorPlace),
    bounds: 'unchecked',
  }
}

const registersSource: CompileOptions = {
  label: 'matmul f16 registers',
  wgsl: join(elementF32, params, halfAccess, registers),
}
const roundSource: CompileOptions = { label: 'matmul f16 round', wgsl: join(halfParts, halfRound) }
const sumSource: CompileOptions = { label: 'matmul f16 sum of parts', wgsl: join(halfParts, halfSum) }

/** Every kernel of products of f16: for tests and for ahead-of-time compilation. */
export function halfSources(): CompileOptions[] {
  return [...tensorTiles.map(tensorSource), registersSource, roundSource, sumSource]
}

/** Compiles the kernels for `blocking`, for every device of the group. */
export async function compileHalf(
  group: DeviceGroup,
  blocking: HalfBlocking,
  resultType: 'f16' | 'f32',
): Promise<HalfKernels> {
  const finish = resultType === 'f16' ? roundSource : blocking.parts > 1 ? sumSource : undefined
  const { kernels, destroy } = await compileTerminating(group, {
    product: blocking.body === 'tensor' ? tensorSource(blocking.tile) : registersSource,
    finish,
  })
  return { blocking, product: kernels.product, finish: kernels.finish, destroy }
}
