import type { CompileOptions, Device, DeviceGroup, Kernel } from '@tandem-gpu/core'
import { compileTerminating } from '../../compile-terminating.ts'
import type { MatmulShape } from '../matmul-shape.ts'
import columnExtremes from './column-extremes.part.wgsl.ts'
import splitColumns from './split-columns.part.wgsl.ts'
import splitParams from './split-params.part.wgsl.ts'
import splitParts from './split-parts.part.wgsl.ts'
import splitProduct from './split-product.part.wgsl.ts'
import splitProductParams from './split-product-params.part.wgsl.ts'
import splitRemainder from './split-remainder.part.wgsl.ts'
import splitRows from './split-rows.part.wgsl.ts'
import splitRule from './split-rule.part.wgsl.ts'
import splitScalar from './split-scalar.part.wgsl.ts'
import splitVector from './split-vector.part.wgsl.ts'
import storeScalar from './store-scalar.part.wgsl.ts'
import storeVector from './store-vector.part.wgsl.ts'
import tensorPlace from './tensor-place.part.wgsl.ts'

/**
 * How a product of f32 is computed. `ieee`: every product and sum in f32. `split`: three products of f16
 * parts on tensor cores. `auto`: `split` if every device has tensor cores and the product is large; this
 * depends only on the shape and the devices.
 */
export type MatmulPrecision = 'ieee' | 'split' | 'auto'

/** A tile of C, and the depth in k that the product kernel processes at a time. */
export const splitTile = { rows: 64, columns: 128, depth: 64 } as const

/**
 * The windows of k within which tensor cores sum products of the high parts: `first`, `next` and `next` again
 * form a group. The truncation error of tensor cores increases with W, the length of `next`, and the error of
 * sums in f32 with √k, so W is about 1.5·√k; beyond 192 little time is gained.
 */
export function splitWindows(k: number): { readonly first: number; readonly next: number } {
  const stage = splitTile.depth / 2
  const next = stage * Math.min(6, Math.max(2, Math.floor((1.5 * Math.sqrt(k)) / stage)))
  return { first: stage * Math.floor(next / stage / 2), next }
}

/**
 * The factor of u·M in the bound of an element's error, with u = 2^-24 and M = Σ|a||b|. The bound also
 * includes k·2^-49·α·β, where α and β are the largest elements of row and column. The factor is the sum of:
 *
 * - 1.6·min(k, W) for high parts on tensor cores. When an H100 adds 16 products to a sum, it truncates all
 *   but the largest of the 17 terms, by less than u/2 of the largest, and the result by less than 2u of it
 *   (Khattak and Mikaitis, arXiv 2512.07004, 2025): in all 10u of the total since the group began. A group
 *   comprises at most W/2, W and W of k, in steps of 16: 10/16·5/2·W.
 * - k/800 for products with low parts there, which are 2^-10 of M and take k/8 steps without a window; at
 *   most 0.24·k/W, since W ≤ 192.
 * - 1.29·k/W + 4 for the sums of windows in f32: 1.29·k/W + 1 additions to at most M, and to the sums of each
 *   window, which total 3·M.
 * - 10 for the parts: each differs from its element by 2u; the omitted product of low parts is at most 4u;
 *   adding the products with low parts has an error of u; and the excess of high parts over their elements
 *   adds less than u.
 */
export function splitErrorFactor(k: number): number {
  const { next } = splitWindows(k)
  return (1.55 * k) / next + 1.6 * Math.min(k, next) + 14
}

/** A kernel for views whose rows start at multiples of four elements, and one for any view. */
export interface AccessKernels {
  readonly vector: Kernel
  readonly scalar: Kernel
}

/** The kernels of a split product, in dispatch order; `rows` for A, the next two for B. */
export interface SplitKernels {
  readonly rows: AccessKernels
  readonly extremes: AccessKernels
  readonly columns: AccessKernels
  readonly product: AccessKernels
  readonly remainder: Kernel
  destroy(): void
}

type Access = 'vector' | 'scalar'
const loads: Record<Access, string> = { vector: splitVector, scalar: splitScalar }
const stores: Record<Access, string> = { vector: storeVector, scalar: storeScalar }

const sourceOf = (label: string, ...parts: readonly string[]): CompileOptions => ({
  label: `matmul split ${label}`,
  wgsl: parts.join('\n'),
})
const partsSource = (label: string, body: string, access: Access) =>
  sourceOf(`${label} ${access}`, splitParams, loads[access], splitParts, body)
/**
 * Needs no bounds checks: its parts are padded to whole tiles, and it checks the size of C itself. The
 * compiler could not prove any check redundant.
 */
const productSource = (access: Access): CompileOptions => ({
  ...sourceOf(
    `product ${access}`,
    splitProductParams,
    stores[access],
    splitParts,
    splitRule,
    tensorPlace,
    splitProduct,
  ),
  bounds: 'unchecked',
})

function sources() {
  return {
    rowsVector: partsSource('rows', splitRows, 'vector'),
    rowsScalar: partsSource('rows', splitRows, 'scalar'),
    extremesVector: partsSource('extremes', columnExtremes, 'vector'),
    extremesScalar: partsSource('extremes', columnExtremes, 'scalar'),
    columnsVector: partsSource('columns', splitColumns, 'vector'),
    columnsScalar: partsSource('columns', splitColumns, 'scalar'),
    productVector: productSource('vector'),
    productScalar: productSource('scalar'),
    remainder: sourceOf('remainder', splitParts, splitRule, tensorPlace, splitRemainder),
  }
}

/** Every kernel of split products: for tests and for ahead-of-time compilation. */
export function splitSources(): CompileOptions[] {
  return Object.values(sources())
}

/** Compiles the kernels for every device of the group. */
export async function compileSplit(group: DeviceGroup): Promise<SplitKernels> {
  const { kernels, destroy } = await compileTerminating(group, sources())
  const pair = (vector: Kernel, scalar: Kernel): AccessKernels => ({ vector, scalar })
  return {
    rows: pair(kernels.rowsVector, kernels.rowsScalar),
    extremes: pair(kernels.extremesVector, kernels.extremesScalar),
    columns: pair(kernels.columnsVector, kernels.columnsScalar),
    product: pair(kernels.productVector, kernels.productScalar),
    remainder: kernels.remainder,
    destroy,
  }
}

/** Bytes of workgroup memory of the product kernel. */
const workgroupByteLength = 83_968

/** Whether a device can run split products. */
export function hasSplitProducts(device: Device): boolean {
  return device.limits.maxWorkgroupMemoryByteLength >= workgroupByteLength && hasMatrices(device)
}

/** Bytes of workgroup memory of the product kernel of f16 with the smallest tile. */
export const leastHalfByteLength = 98_304

/** Whether a device can run products of f16 on tensor cores. */
export function hasHalfProducts(device: Device): boolean {
  return device.limits.maxWorkgroupMemoryByteLength >= leastHalfByteLength && hasMatrices(device)
}

/** Whether a device multiplies 16 × 16 × 16 matrices of f16 with sums in f32. */
function hasMatrices({ features, info }: Device): boolean {
  return (
    features.has('shader-f16') &&
    features.has('chromium-experimental-subgroup-matrix') &&
    (info.subgroupMatrixConfigs ?? []).some(
      ({ componentType, resultComponentType, M, N, K }) =>
        componentType === 'f16' && resultComponentType === 'f32' && M === 16 && N === 16 && K === 16,
    )
  )
}

/**
 * Whether `auto` splits: smaller products do not fill a GPU, or gain less than splitting costs. The number of
 * devices does not matter, so it does not change the bits of a result.
 */
export function gainsFromSplitting({ m, n, k }: MatmulShape, devices: readonly Device[]): boolean {
  return (
    Math.min(m, n) >= 1024 &&
    k >= 512 &&
    devices.every((device) => !device.info.software && hasSplitProducts(device))
  )
}

const up = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple

/**
 * Bytes of the parts and extremes of `rows` rows of A, and of `columns` columns of B with the flags of their
 * tiles.
 */
export function splitPartsByteLength(
  rows: number,
  columns: number,
  k: number,
): { rows: number; columns: number } {
  const line = 4 * up(k, splitTile.depth) + 8
  const [down, across] = [up(rows, splitTile.rows), up(columns, splitTile.columns)]
  const flags = 4 * (down / splitTile.rows) * (across / splitTile.columns)
  return { rows: line * down, columns: line * across + flags }
}

/**
 * Bytes that a device needs in addition to the matrices, for `rows` rows of A and a panel of B of `columns`
 * columns.
 */
export function splitByteLength(rows: number, columns: number, k: number): number {
  const parts = splitPartsByteLength(rows, columns, k)
  return parts.rows + parts.columns
}
