import {
  jacobi,
  matmul,
  type Report,
  reduce,
  reductionKernelNames,
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
}

const cube = (side: number): MatmulSizes => ({ m: side, n: side, k: side })
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
  },
  medium: {
    transpose: [2048, 4096, 8192],
    reduce: [2 ** 22, 2 ** 24, 2 ** 26],
    ladder: 2 ** 22,
    matmul: [1024, 2048, 4096].map(cube),
    streamed: [2048],
    jacobi: sweeps([1024, 2048], 1000),
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
  },
}

export const workNames = ['transpose', 'reduce', 'ladder', 'matmul', 'streamed', 'jacobi'] as const
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
  }
}

function measured(
  work: string,
  run: (group: DeviceGroup, settings: CaseSettings) => Promise<Report>,
  kernel?: string,
): BenchCase {
  return async (group, settings) => benchResult(work, await run(group, settings), kernel)
}
