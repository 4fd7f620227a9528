import {
  type Device,
  type DeviceGroup,
  type ElementArray,
  elementArray,
  GpuError,
  OwnedResources,
} from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import { type ElementSink, type ElementSource, streamChunkLength } from '../element-source.ts'
import { compileMatmul, type MatmulBlocking, matmulCandidates } from '../matmul/matmul-kernels.ts'
import type { MatmulShape, MatmulType } from '../matmul/matmul-shape.ts'
import { productOperands } from '../matmul/product-operands.ts'
import { matmulVerifier } from '../matmul/verify-matmul.ts'
import { requireArguments } from '../option-types.ts'
import { describeGroup, gigaRate, notVerified, type Report } from '../report.ts'
import { runMeasured } from '../run-measured.ts'
import { type RingScheme, recordRing, ringSchemes } from './record-ring.ts'
import { allocateRing, fillRing, type Ring } from './ring-memory.ts'

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
  /** Takes the m × n result, row-major. */
  readonly output?: ElementSink<T> | undefined
  /** How many devices of the group form the ring, the first ones. Default: all. */
  readonly devices?: number | undefined
  /** Default `interleaved`. */
  readonly scheme?: RingScheme | undefined
  /** Pieces of a step in scheme `streamed`. Default 16. */
  readonly pieces?: number | undefined
}

export interface RingReport extends Report {
  readonly algorithm: 'ring'
  readonly type: MatmulType
  readonly scheme: RingScheme
  /** Of scheme `streamed`. */
  readonly pieces?: number
  readonly blocking: MatmulBlocking
  /** Rows of A in each slice, and columns of B and C on each node. */
  readonly slices: readonly number[]
  readonly columns: readonly number[]
  readonly samples: readonly number[]
}

const optionTypes = {
  m: 'number',
  n: 'number',
  k: 'number',
  type: ['f32', 'i32', 'u32'],
  a: 'elements',
  b: 'elements',
  output: 'elements',
  devices: 'number',
  pieces: 'number',
  scheme: 'string',
} as const

/**
 * C = A · B on a ring of devices: B stays on them, cut by columns; slices of rows of A circulate through host memory, which is the scheme
 * of GPU clusters whose messages cannot leave device memory. `scheme` says what overlaps. The time includes all uploads, messages and the
 * download of C, not the distribution of A and B. The bits are those of `matmul` with resident matrices.
 */
export async function ringMatmul<T extends MatmulType = 'f32'>(
  group: DeviceGroup,
  options: RingMatmulOptions<T>,
): Promise<RingReport> {
  requireArguments(group, options, optionTypes, ['m', 'n', 'k'])
  const { m, n, k, schedule = 'overlapped', verify = true } = options
  const { scheme = 'interleaved', pieces = 16 } = options
  const { type, shape, a, b } = productOperands<T, ElementSource<T>>(options)
  requireRingOptions(group, options)
  const devices = group.devices.slice(0, options.devices)

  const blocking = ringBlocking(devices, shape)
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileMatmul(group, type, blocking))
    const ring = owned.keep(await allocateRing(group, type, shape, devices))
    await fillRing(group, ring, a, b)
    const { measurement, comparison } = await runMeasured(
      group,
      (recorder) => recordRing(recorder, kernels, ring, { scheme, pieces }),
      { ...options, label: `ring ${scheme}` },
    )
    const verifier = verify ? await matmulVerifier(type, shape, a, b) : undefined
    if (verifier || options.output)
      await readResult(group, ring, async (row, data) => {
        if (typeof options.output === 'function') await options.output(row * n, data)
        else options.output?.set(data as never, row * n)
        await verifier?.rows(row, data)
      })
    const flops = 2 * m * n * k
    return {
      algorithm: 'ring',
      ...describeGroup(group, devices),
      schedule,
      shape: { m, n, k },
      type,
      scheme,
      ...(scheme === 'streamed' && { pieces }),
      blocking,
      slices: ring.slices.map(({ rows }) => rows),
      columns: ring.nodes.map(({ columns }) => columns.rows),
      ...(verifier?.result() ?? notVerified),
      seconds: measurement.seconds,
      clock: measurement.clock,
      samples: measurement.samples,
      flops,
      rate: gigaRate(flops, measurement.seconds),
      unit: 'GFLOP/s',
      notes: [],
      ...(comparison && { comparison }),
    }
  } finally {
    owned.destroy()
  }
}

/** The blocking of one step's product. The sum over k is cut as the resident `matmul` of the same shape cuts it, so that the bits are equal. */
export function ringBlocking(devices: readonly Device[], shape: MatmulShape): MatmulBlocking {
  return matmulCandidates(devices[0]!, shape, Math.ceil(shape.m / devices.length), { transposed: false })[0]
}

function requireRingOptions(
  group: DeviceGroup,
  { scheme = 'none', pieces = 1, devices = 1 }: Pick<RingMatmulOptions, 'scheme' | 'pieces' | 'devices'>,
): void {
  if (!ringSchemes.includes(scheme))
    throw new GpuError('validation', `There is no ring scheme ${scheme}: choose ${ringSchemes.join(', ')}.`)
  if (!(Number.isSafeInteger(pieces) && pieces >= 1))
    throw new GpuError('validation', `A step has ${pieces} pieces; it must have 1 or more.`)
  if (!(Number.isSafeInteger(devices) && devices >= 1 && devices <= group.devices.length))
    throw new GpuError(
      'validation',
      `A ring of ${devices} devices is asked for; the group has ${group.devices.length}.`,
    )
}

/** Reads C in pieces of whole rows, in ascending order, in every process. */
async function readResult<T extends MatmulType>(
  group: DeviceGroup,
  { nodes, shape: { m, n }, type }: Ring<T>,
  take: (row: number, data: ElementArray<T>) => Promise<void>,
): Promise<void> {
  if (n === 0) return
  const rowsAtOnce = Math.max(1, Math.floor(streamChunkLength / n))
  for (let top = 0; top < m; top += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, m - top)
    const rows = elementArray(type, count * n)
    for (const { c, columns, result } of nodes) {
      const width = columns.rows
      if (width === 0) continue
      const part =
        group.rankCount === 1
          ? result.array.subarray(top * width, (top + count) * width)
          : await group.queue.read(c.block(top, 0, count, width))
      for (let row = 0; row < count; row++)
        rows.set(part.subarray(row * width, (row + 1) * width) as never, row * n + columns.row)
    }
    await take(top, rows)
  }
}
