import {
  type Device,
  type DeviceGroup,
  type ElementArray,
  elementArray,
  GpuError,
  OwnedResources,
  requireCount,
} from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  readElements,
  streamChunkLength,
} from '../element-source.ts'
import type { MatmulShape, MatmulType } from '../matmul/matmul-shape.ts'
import { productOperands, productOptionTypes } from '../matmul/product-operands.ts'
import { compileMatmul, type MatmulBlocking, matmulCandidates } from '../matmul/single/matmul-kernels.ts'
import { isSmallProduct, matmulVerifier, resultOfAll } from '../matmul/verify/verify-matmul.ts'
import { requireArguments } from '../option-types.ts'
import { notVerified, type Report, type Verification } from '../report.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { type RingScheme, recordRing, ringSchemes } from './record-ring.ts'
import { allocateRing, fillRing, type Ring } from './ring-memory.ts'

/** Options of `ringMatmul`. A is m × k, B is k × n and C is m × n. */
export interface RingMatmulOptions<T extends MatmulType = MatmulType>
  extends MatmulShape,
    AlgorithmOptions,
    GeneratedInputOptions {
  /** Default f32. */
  readonly type?: T | undefined
  /** m × k, row-major. Default: reproducible random elements from `seed`. */
  readonly a?: ElementSource<T> | undefined
  /** k × n, row-major. */
  readonly b?: ElementSource<T> | undefined
  /** Receives the m × n result, row-major. */
  readonly output?: ElementSink<T> | undefined
  /** The number of devices in the ring, the first ones of the group. Default: all. */
  readonly devices?: number | undefined
  /** Default `interleaved`. */
  readonly scheme?: RingScheme | undefined
  /** The number of pieces into which scheme `streamed` divides a step. Default 16. */
  readonly pieces?: number | undefined
}

/** The report of `ringMatmul`. */
export interface RingReport extends Report {
  readonly algorithm: 'ring'
  readonly type: MatmulType
  readonly scheme: RingScheme
  /** Only with scheme `streamed`. */
  readonly pieces?: number
  readonly blocking: MatmulBlocking
  /** The number of rows of A in each slice; `columns` has the number of columns of B and C on each node. */
  readonly slices: readonly number[]
  readonly columns: readonly number[]
  readonly samples: readonly number[]
}

const optionTypes = {
  ...productOptionTypes,
  devices: 'number',
  pieces: 'number',
  scheme: 'string',
} as const

/**
 * C = A · B on a ring of devices. B is divided by columns and stays on the devices; slices of rows of A
 * circulate through host memory. GPU clusters use this scheme if messages cannot be sent from device memory.
 * `scheme` selects what overlaps. The time includes all uploads, messages and the download of C, but not the
 * distribution of A and B. The result has the same bits as that of `matmul` with resident matrices. Rejects
 * with `validation` for wrong options.
 */
export async function ringMatmul<T extends MatmulType = 'f32'>(
  group: DeviceGroup,
  given: RingMatmulOptions<T>,
): Promise<RingReport> {
  const options = requireArguments(group, 'ringMatmul', given, optionTypes, ['m', 'n', 'k'])
  const { m, n, k, verify = true } = options
  const { scheme = 'interleaved', pieces = 16 } = options
  const { type, shape, a, b } = productOperands<T, ElementSource<T>>(options, false)
  requireRingOptions(group, options)
  const devices = group.devices.slice(0, options.devices)

  const blocking = ringBlocking(devices, shape)
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileMatmul(group, type, blocking))
    const ring = owned.keep(await allocateRing(group, type, shape, devices))
    await fillRing(group, ring, a, b)
    const run = await runMeasured(
      group,
      (recorder) => recordRing(recorder, kernels, ring, { scheme, pieces }),
      { ...options, label: `ring ${scheme}` },
    )
    const { output } = options
    if (output)
      await readResult(group, ring, ring.nodes, 'all', async (row, data) => {
        if (typeof output === 'function') await output(row * n, data)
        else output.set(data as never, row * n)
      })
    const verification = verify ? await verifyRing(group, ring, devices, a, b) : notVerified
    return {
      algorithm: 'ring',
      ...describeRun(group, run, { flops: 2 * m * n * k }, devices),
      shape: { m, n, k },
      type,
      scheme,
      ...(scheme === 'streamed' && { pieces }),
      blocking,
      slices: ring.slices.map(({ rows }) => rows),
      columns: ring.nodes.map(({ columns }) => columns.rows),
      ...verification,
      samples: run.measurement.samples,
      notes: [],
    }
  } finally {
    owned.destroy()
  }
}

/**
 * The blocking of the product in one step: a slice times the columns of one node. The sum over k is divided
 * as in a resident `matmul` of the same shape, so that the bits are equal.
 */
export function ringBlocking(devices: readonly Device[], shape: MatmulShape): MatmulBlocking {
  const [rows, localColumns] = [shape.m, shape.n].map((length) => Math.ceil(length / devices.length))
  return matmulCandidates(devices[0]!, shape, rows, { transposed: false, localColumns })[0]
}

function requireRingOptions(
  group: DeviceGroup,
  { scheme = 'none', pieces = 1, devices = 1 }: Pick<RingMatmulOptions, 'scheme' | 'pieces' | 'devices'>,
): void {
  if (!ringSchemes.includes(scheme))
    throw new GpuError(
      'validation',
      `There is no ring scheme ${scheme}; the schemes are ${ringSchemes.join(', ')}.`,
    )
  requireCount(pieces, 'The option pieces', 1)
  if (!(Number.isSafeInteger(devices) && devices >= 1 && devices <= group.devices.length))
    throw new GpuError(
      'validation',
      `A ring of ${devices} devices was requested, but the group has ${group.devices.length}.`,
    )
}

/** Checks C. Each process checks the columns of its nodes, which are consecutive, as a separate product. */
async function verifyRing<T extends MatmulType>(
  group: DeviceGroup,
  ring: Ring<T>,
  devices: readonly Device[],
  a: ElementSource<T>,
  b: ElementSource<T>,
): Promise<Verification> {
  const { type, shape } = ring
  const { m, n, k } = shape
  const nodes = ring.nodes.filter(({ device }) => device.local)
  const first = nodes[0]?.columns.row ?? 0
  const width = nodes.reduce((sum, { columns }) => sum + columns.rows, 0)
  const ownColumns: ElementReader<T> = async (offset, into) => {
    for (let at = 0; at < into.length; ) {
      const [row, column] = [Math.floor((offset + at) / width), (offset + at) % width]
      const length = Math.min(width - column, into.length - at)
      into.set((await readElements(b, type, row * n + first + column, length)) as never, at)
      at += length
    }
  }
  const everyElement = isSmallProduct(shape)
  const columns = width === n ? b : ownColumns
  const verifier = await matmulVerifier(type, { m, n: width, k }, a, columns, { everyElement })
  await readResult(group, ring, nodes, 'owner', (row, data) => verifier.rows(row, data))
  return resultOfAll(verifier, { group, devices })
}

/**
 * Reads the columns of C on `nodes`, which are consecutive, in ascending order and in pieces of whole rows.
 * With `all`, every process reads them.
 */
async function readResult<T extends MatmulType>(
  group: DeviceGroup,
  { shape: { m }, type }: Ring<T>,
  nodes: Ring<T>['nodes'],
  to: 'all' | 'owner',
  take: (row: number, data: ElementArray<T>) => Promise<void>,
): Promise<void> {
  const first = nodes[0]?.columns.row ?? 0
  const n = nodes.reduce((sum, { columns }) => sum + columns.rows, 0)
  if (n === 0) return
  const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / n))
  for (let top = 0; top < m; top += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, m - top)
    const rows = elementArray(type, count * n)
    for (const { c, columns, result } of nodes) {
      const width = columns.rows
      if (width === 0) continue
      const part =
        group.rankCount === 1 || to === 'owner'
          ? result.array.subarray(top * width, (top + count) * width)
          : await group.queue.read(c.block(top, 0, count, width))
      for (let row = 0; row < count; row++)
        rows.set(part.subarray(row * width, (row + 1) * width) as never, row * n + columns.row - first)
    }
    await take(top, rows)
  }
}
