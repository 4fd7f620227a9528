import { type BufferView, type DeviceGroup, type HostBuffer, OwnedResources, ranges } from '@tandem-gpu/core'
import type { VectorOptions } from '../algorithm-options.ts'
import { type ElementSource, generatedElements, readIntoHost, requireElements } from '../element-source.ts'
import { requireArguments, vectorOptions } from '../option-types.ts'
import { notVerified, type VectorReport } from '../report.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { allocateSharded, type ShardedMatrix, writeSharded } from '../sharded-matrix.ts'
import { recordReduction } from './record-reduction.ts'
import {
  compileReduction,
  leafLength,
  type ReductionKernelName,
  type ReductionOperation,
  type ReductionType,
} from './reduction-kernels.ts'
import {
  combineParts,
  type ReductionProblem,
  type ReductionReference,
  readBits,
  reduceSlices,
  valueOfBits,
  verifyReduction,
} from './reference-reduction.ts'

/** Options of `reduce`. */
export interface ReduceOptions<T extends ReductionType = ReductionType> extends VectorOptions<T> {
  /** Default `best`. */
  readonly kernel?: ReductionKernelName | undefined
  /** Default `sum`. */
  readonly operation?: ReductionOperation | undefined
  /**
   * If true, the input starts in page-locked host memory: every run uploads it in pieces and reduces pieces
   * that have arrived while others are uploaded. If false, the input stays on the devices, and only the
   * reduction is timed. Default false.
   */
  readonly timeUploads?: boolean | undefined
}

/** The report of `reduce`. */
export interface ReductionReport extends VectorReport {
  readonly algorithm: 'reduce'
  readonly kernel: ReductionKernelName
  readonly operation: ReductionOperation
  /** Whether the time includes the transfer from the host. */
  readonly uploads: boolean
  readonly value: number
  /** The value's 32-bit pattern, `0x` and eight hexadecimal digits: JSON has neither NaN nor -0. */
  readonly valueBits: string
}

const optionTypes = {
  ...vectorOptions,
  kernel: 'string',
  operation: 'string',
  timeUploads: 'boolean',
} as const

/**
 * Sum, minimum or maximum of a vector spread over all devices of the group: ceil(n / N) elements on each
 * device, rounded up to whole leaves of 16,384, so that the result has the same bits on any number of
 * devices.
 *
 * Sums of integers wrap modulo 2^32. Minimum and maximum of f32 are NaN (0x7fc00000) if any element is NaN,
 * and order -0 before +0. The result for no elements is 0, or the identity of minimum and maximum. `bytes`
 * counts one read of every element.
 */
export async function reduce<T extends ReductionType>(
  group: DeviceGroup,
  given: ReduceOptions<T>,
): Promise<ReductionReport> {
  const options = requireArguments(group, 'reduce', given, optionTypes, ['elements', 'type'])
  const { elements, type, kernel = 'best', operation = 'sum' } = options
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileReduction(group, { kernel, operation, type }))
    const source = options.input ?? generatedElements(type, options.seed)
    const input = owned.keep(
      await allocateSharded(group, type, elements, 1, {
        label: 'input',
        zero: false,
        alignment: leafLength,
      }),
    )
    requireElements('The input', source, type, elements)
    const output = owned.keep(await group.devices[0]!.allocate(type, 1, { label: 'result' }))
    const uploads = options.timeUploads === true
    if (!uploads) await writeSharded(group, input, source)
    const pieces: { readonly host?: HostBuffer<T>; readonly offset: number; readonly view: BufferView<T> }[] =
      []
    for (const { device, row, rows, view } of input.slices) {
      const host =
        uploads && rows > 0
          ? owned.keep(
              group.allocateHost(type, rows, { label: `input on the host ${device.ordinal}`, device }),
            )
          : undefined
      for (const { first: offset, count: length } of ranges(rows, uploads ? uploadedPieceLength : rows)) {
        pieces.push({ ...(host && { host }), offset, view: view.reshape(1, rows).slice(offset, length) })
        if (host === undefined || !device.local) continue
        await readIntoHost(host, offset, source, row + offset, length)
      }
    }

    const run = await runMeasured(
      group,
      (recorder) => {
        for (const { host, offset, view } of pieces)
          if (host !== undefined && recorder.touches(view.buffer.device.ordinal))
            recorder.upload(host.slice(offset, view.length), view, { label: 'upload piece' })
        recordReduction(recorder, group, { kernels, input: pieces.map(({ view }) => view), output })
      },
      { ...options, label: `reduce ${elements} ${type} by ${kernel}` },
    )
    const bits = await readBits(group, output)
    const problem = { type, operation, length: elements }
    const check =
      options.verify === false
        ? notVerified
        : verifyReduction(kernel, problem, await reduceOnHosts(group, source, problem, input), bits)
    return {
      algorithm: 'reduce',
      ...describeRun(group, run, { bytes: elements * 4 }),
      type,
      kernel,
      operation,
      shape: { elements },
      uploads,
      slices: input.slices.map((slice) => slice.rows),
      value: valueOfBits(type, bits),
      valueBits: `0x${bits.toString(16).padStart(8, '0')}`,
      ...check,
      notes: [],
    }
  } finally {
    owned.destroy()
  }
}

/** The result as computed on the CPU; each process reduces the elements of its devices. */
async function reduceOnHosts<T extends ReductionType>(
  group: DeviceGroup,
  source: ElementSource<T>,
  problem: ReductionProblem & { readonly type: T },
  { slices }: ShardedMatrix<T>,
): Promise<ReductionReference> {
  return combineParts(problem, await reduceSlices(group, source, problem, slices))
}

/**
 * 16 MiB, which take a third of a millisecond at 55 GB/s. A whole number of leaves, so that the bits do not
 * depend on the piece length.
 */
const uploadedPieceLength = 256 * leafLength
