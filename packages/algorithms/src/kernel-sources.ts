import type { CompileOptions, Device } from '@tandem-gpu/core'
import { fftSources } from './fft/fft-sources.ts'
import { fftLimits } from './fft/plan-fft.ts'
import { histogramSources } from './histogram/histogram-kernels.ts'
import { jacobiSources } from './jacobi/jacobi-kernels.ts'
import { halfSources } from './matmul/half/half-kernels.ts'
import { matmulSources } from './matmul/single/matmul-kernels.ts'
import { splitSources } from './matmul/tensor/split-kernels.ts'
import { reductionSources } from './reduction/reduction-kernels.ts'
import { scanSources } from './scan/scan-kernels.ts'
import { sortSources } from './sort/sort-kernels.ts'
import { transposeSources } from './transpose/transpose-kernels.ts'

/**
 * Every kernel that the algorithms can use: on `devices` for tests, and by default on CUDA devices, for which
 * tools/ship-kernels compiles them. A new algorithm adds its kernels here.
 */
export function algorithmSources(devices?: readonly Device[]): CompileOptions[] {
  // Subgroups of CUDA devices have 32 lanes.
  const variants = devices === undefined ? (['subgroups'] as const) : undefined
  return [
    ...transposeSources(),
    ...reductionSources(),
    ...scanSources(variants),
    ...sortSources(variants, devices?.[0]?.limits.maxWorkgroupMemoryByteLength),
    ...histogramSources(),
    ...matmulSources(),
    ...jacobiSources(),
    ...fftSources(devices && { ...fftLimits(devices), lines: true }),
    ...splitSources(),
    ...halfSources(),
  ]
}
