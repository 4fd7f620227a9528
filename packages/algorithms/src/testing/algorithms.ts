import type { CompileOptions, Device, DeviceGroup } from '@tandem-gpu/core'
import { fft } from '../fft/fft.ts'
import { fftSources } from '../fft/fft-sources.ts'
import { fftLimits } from '../fft/plan-fft.ts'
import { histogram } from '../histogram/histogram.ts'
import { histogramSources } from '../histogram/histogram-kernels.ts'
import { jacobi } from '../jacobi/jacobi.ts'
import { jacobiSources } from '../jacobi/jacobi-kernels.ts'
import { halfSources } from '../matmul/half/half-kernels.ts'
import { matmul } from '../matmul/matmul.ts'
import { matmulSources } from '../matmul/single/matmul-kernels.ts'
import { splitSources } from '../matmul/tensor/split-kernels.ts'
import { reduce } from '../reduction/reduce.ts'
import { reductionSources } from '../reduction/reduction-kernels.ts'
import type { Report } from '../report.ts'
import { ringMatmul } from '../ring/ring-matmul.ts'
import { scan } from '../scan/scan.ts'
import { scanSources } from '../scan/scan-kernels.ts'
import { sort } from '../sort/sort.ts'
import { sortSources } from '../sort/sort-kernels.ts'
import { transpose } from '../transpose/transpose.ts'
import { transposeSources } from '../transpose/transpose-kernels.ts'

/** What the tests and tools/ship-kernels need to know of an algorithm. */
interface Algorithm {
  readonly run: (group: DeviceGroup, options: never) => Promise<Report>
  /** Every kernel that it can use on `devices`; by default on CUDA devices, for which they are shipped. */
  readonly sources: (devices?: readonly Device[]) => readonly CompileOptions[]
  /**
   * Options of small runs on two devices, which together set the options of the algorithm. The tests replace
   * each by wrong values, and compare the results on many processes with those on one.
   */
  readonly calls: readonly (() => Readonly<Record<string, unknown>>)[]
}

/** Subgroups of CUDA devices have 32 lanes. */
const cudaVariants = ['subgroups'] as const
const six = () => new Float32Array(6)

/** Every algorithm. A new one adds itself here. */
export const algorithms: Readonly<Record<string, Algorithm>> = {
  transpose: {
    run: transpose,
    sources: transposeSources,
    calls: [
      () => ({ rows: 2, columns: 3, type: 'f32', input: six(), output: six() }),
      () => ({ rows: 3, columns: 2, type: 'f32', kernel: 'square', transport: 'copy', output: six() }),
    ],
  },
  reduce: {
    run: reduce,
    sources: reductionSources,
    calls: [
      () => ({
        elements: 6,
        type: 'f32',
        kernel: 'best',
        operation: 'sum',
        timeUploads: false,
        input: six(),
      }),
    ],
  },
  scan: {
    run: scan,
    sources: (devices) => scanSources(devices ? undefined : cudaVariants),
    calls: [
      () => ({ elements: 6, type: 'f32', operation: 'max', exclusive: true, input: six(), output: six() }),
    ],
  },
  sort: {
    run: sort,
    sources: (devices) =>
      sortSources(devices ? undefined : cudaVariants, devices?.[0]?.limits.maxWorkgroupMemoryByteLength),
    calls: [
      () => ({ elements: 6, type: 'f32', descending: true, input: six(), output: six() }),
      () => ({ elements: 6, type: 'f32', values: six(), valueType: 'f32', valuesOutput: six() }),
      () => ({ elements: 6, type: 'f32', indices: new Uint32Array(6) }),
    ],
  },
  histogram: {
    run: histogram,
    sources: histogramSources,
    calls: [
      () => ({ elements: 6, type: 'f32', bins: 3, low: -1, high: 2, output: new Uint32Array(3) }),
      () => ({ elements: 6, type: 'f32', edges: [0, 1, 2], input: six() }),
    ],
  },
  jacobi: {
    run: jacobi,
    sources: jacobiSources,
    calls: [
      () => ({ rows: 2, columns: 3, input: six(), source: six(), output: six(), iterations: 2, devices: 1 }),
      () => ({ rows: 2, columns: 3, tolerance: 0.5, residualEvery: 1, startIteration: 1, onProgress() {} }),
      () => ({ rows: 3, columns: 2, iterations: 2, decomposition: '2d', transport: 'auto', fuse: 'auto' }),
    ],
  },
  fft: {
    run: fft,
    sources: (devices) => fftSources(devices && { ...fftLimits(devices), lines: true }),
    calls: [
      () => ({ shape: [3, 2], axes: [1], norm: 'ortho', input: new Float32Array(12).fill(1) }),
      () => ({ shape: [2, 3], direction: 'inverse', order: 'transposed', output: new Float32Array(12) }),
      () => ({ shape: [5], real: true, output: six() }),
    ],
  },
  matmul: {
    run: matmul,
    sources: () => [...matmulSources(), ...splitSources(), ...halfSources()],
    calls: [
      () => ({ m: 2, n: 3, k: 3, type: 'f32', a: six(), output: six(), devices: 2, mode: 'resident' }),
      () => ({ m: 2, n: 3, k: 3, streamWidth: 4, memoryLimitBytes: 4000, tuning: false, model: undefined }),
    ],
  },
  ring: {
    run: ringMatmul,
    // It has the kernels of matmul.
    sources: () => [],
    calls: [() => ({ m: 2, n: 3, k: 3, a: six(), output: six(), devices: 2, scheme: 'streamed', pieces: 2 })],
  },
}

/** Every kernel of the algorithms on `devices`; by default on CUDA devices. */
export function algorithmSources(devices?: readonly Device[]): CompileOptions[] {
  return Object.values(algorithms).flatMap(({ sources }) => sources(devices))
}
