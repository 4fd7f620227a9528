import {
  fft,
  histogram,
  jacobi,
  matmul,
  type Report,
  reduce,
  reductionKernelNames,
  scan,
  sort,
  type TuningOptions,
  transpose,
} from '@tandem-gpu/algorithms'
import type { DeviceGroup, Schedule } from '@tandem-gpu/core'
import { type BenchResult, benchResult } from './document.ts'

export interface CaseSettings extends TuningOptions {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly signal: AbortSignal
  readonly warmup: number
  readonly samples: number
  readonly seed: number
}

/** One measurement on the devices of a group. */
export type BenchCase = (group: DeviceGroup, settings: CaseSettings) => Promise<BenchResult>

interface MatmulSizes {
  readonly m: number
  readonly n: number
  readonly k: number
}

interface SizeSet {
  readonly transpose: readonly number[]
  readonly reduce: readonly number[]
  /** Elements of the ladder of integer kernels. */
  readonly ladder: number
  readonly matmul: readonly MatmulSizes[]
  /** The sides of matrices that are streamed through the devices from host memory. */
  readonly streamed: readonly number[]
  readonly jacobi: readonly { readonly side: number; readonly iterations: number }[]
  /** Elements of scans, histograms and sorts. */
  readonly vectors: readonly number[]
  /** All axes of these arrays are transformed, except for those of two axes that are not square: of them, the lines of the last axis. */
  readonly transforms: readonly (readonly number[])[]
}

const cube = (side: number): MatmulSizes => ({ m: side, n: side, k: side })
/** Lines of these lengths, as many as make `values` complex numbers. */
const lines = (values: number, lengths: readonly number[]) =>
  lengths.map((length) => [Math.floor(values / length), length])
const sweeps = (sides: readonly number[], iterations: number) => sides.map((side) => ({ side, iterations }))

export const sizeSetNames = ['small', 'medium', 'large'] as const
export type SizeSetName = (typeof sizeSetNames)[number]

/** `small` suits a software GPU; `large` needs tens of GiB of device and host memory. */
const sizeSets: Readonly<Record<SizeSetName, SizeSet>> = {
  small: {
    transpose: [256, 512, 1024],
    reduce: [2 ** 16, 2 ** 18, 2 ** 20],
    ladder: 2 ** 14,
    matmul: [64, 128, 256].map(cube),
    streamed: [128],
    jacobi: sweeps([65, 129], 100),
    vectors: [2 ** 14, 2 ** 16],
    transforms: [...lines(2 ** 14, [64, 1000]), [128, 128], [16, 32, 32]],
  },
  medium: {
    transpose: [2048, 4096, 8192],
    reduce: [2 ** 22, 2 ** 24, 2 ** 26],
    ladder: 2 ** 22,
    matmul: [1024, 2048, 4096].map(cube),
    streamed: [2048],
    jacobi: sweeps([1024, 2048], 1000),
    vectors: [2 ** 20, 2 ** 22, 2 ** 24],
    transforms: [...lines(2 ** 24, [64, 1024, 1009, 4096, 2 ** 16]), [2048, 2048], [256, 256, 256]],
  },
  large: {
    transpose: [2048, 8192, 16384, 32768],
    reduce: [2 ** 22, 2 ** 28, 2 ** 29, 2 ** 31],
    ladder: 2 ** 22,
    matmul: [
      ...[1024, 2048, 4096, 8192, 16384].map(cube),
      ...[64, 128, 256, 512].flatMap((narrow) => [
        { m: narrow, n: 8192, k: 8192 },
        { m: 8192, n: narrow, k: 8192 },
      ]),
    ],
    streamed: [8192, 16384, 32768],
    jacobi: sweeps([2048, 4096, 8192, 16384], 1000),
    vectors: [2 ** 22, 2 ** 28],
    transforms: [
      ...lines(2 ** 27, [64, 256, 512, 1000, 1009, 1024, 4096, 8192, 2 ** 16, 2 ** 20]),
      ...[
        [8192, 8192],
        [512, 512, 512],
      ],
    ],
  },
}

export const workNames = [
  ...['transpose', 'reduce', 'ladder', 'matmul', 'streamed', 'jacobi'],
  ...['scan', 'histogram', 'sort', 'fft'],
] as const
export type WorkName = (typeof workNames)[number]

export function benchCases(work: WorkName, set: SizeSetName): BenchCase[] {
  const sizes = sizeSets[set]
  switch (work) {
    case 'transpose':
      return sizes.transpose.map((side) =>
        measured('transpose', (group, settings) =>
          transpose(group, { ...settings, rows: side, columns: side, type: 'f32' }),
        ),
      )
    case 'reduce':
      return sizes.reduce.map((elements) =>
        measured('sum', (group, settings) => reduce(group, { ...settings, elements, type: 'f32' })),
      )
    case 'ladder':
      return reductionKernelNames.map((kernel) =>
        measured(
          'sum-i32',
          (group, settings) => reduce(group, { ...settings, elements: sizes.ladder, type: 'i32', kernel }),
          kernel,
        ),
      )
    case 'matmul':
      return sizes.matmul.map((shape) =>
        measured('gemm', (group, settings) =>
          matmul(group, { ...settings, ...shape, devices: group.devices.length, mode: 'resident' }),
        ),
      )
    case 'streamed':
      return sizes.streamed.map((side) =>
        measured('gemm-streamed', (group, settings) =>
          matmul(group, { ...settings, ...cube(side), devices: group.devices.length, mode: 'streamed' }),
        ),
      )
    case 'jacobi':
      return sizes.jacobi.map(({ side, iterations }) =>
        // One run consists of many sweeps, so few samples are enough.
        measured('jacobi', (group, settings) =>
          jacobi(group, {
            ...settings,
            samples: Math.min(settings.samples, 3),
            rows: side,
            columns: side,
            iterations,
          }),
        ),
      )
    case 'scan':
      return sizes.vectors.map((elements) =>
        measured('scan', (group, settings) => scan(group, { ...settings, elements, type: 'f32' })),
      )
    case 'histogram':
      return sizes.vectors.map((elements) =>
        measured('histogram', (group, settings) =>
          histogram(group, { ...settings, elements, type: 'f32', bins: 256, low: -1, high: 1 }),
        ),
      )
    case 'sort':
      return sizes.vectors.flatMap((elements) => [
        measured('sort', (group, settings) => sort(group, { ...settings, elements, type: 'u32' })),
        // The indices move with the elements, as any values of 32 bits would.
        measured('sort-pairs', (group, settings) =>
          sort(group, { ...settings, elements, type: 'u32', indices: () => {} }),
        ),
      ])
    case 'fft':
      return sizes.transforms.map((shape) =>
        measured('fft', (group, settings) =>
          fft(group, {
            ...settings,
            shape,
            ...(shape.length === 2 && shape[0] !== shape[1] && { axes: [1] }),
          }),
        ),
      )
  }
}

function measured(
  work: string,
  run: (group: DeviceGroup, settings: CaseSettings) => Promise<Report>,
  kernel?: string,
): BenchCase {
  return async (group, settings) => benchResult(work, await run(group, settings), kernel)
}
