import type { Adapter, Backend } from '@tandem-gpu/core'
import { GpuError, requireOptions } from '@tandem-gpu/core'
import { emitCuda } from '@tandem-gpu/wgsl'
import { findAdapters } from './adapters.ts'
import type { Translate } from './cuda-kernel.ts'
import { CudaRuntime } from './cuda-runtime.ts'
import { toGpuError } from './driver-error.ts'
import { KernelCache, type KernelCacheOptions } from './kernel-cache.ts'
import { KernelCompiler } from './kernel-compiler.ts'
import { defaultLibraries, type Libraries } from './libraries.ts'
import type { Lowering } from './lowering.ts'
import { nativeAddon } from './native-addon.ts'
import { packagedKernels, type ShippedKernels } from './shipped-kernels.ts'
import { findTopology } from './topology.ts'

export interface CudaOptions {
  /** Where compiled kernels are kept between processes; false keeps none. */
  readonly kernelCache?: false | KernelCacheOptions | undefined
  /** Fuse a·b+c into one rounding (default true). One choice holds for all kernels of the backend. */
  readonly fmad?: boolean | undefined
  /** False denies kernels other devices' memory, virtual devices' too: for testing what needs no peer access. */
  readonly peerAccess?: boolean | undefined
  /** How programs over several GPUs become CUDA graphs; default `auto`: one graph where GPUs copy megabytes to each other, else one for each GPU. */
  readonly lowering?: Lowering | undefined
  /** Names or paths of the NVIDIA libraries, tried in order; default: the loader's, then the usual folders. */
  readonly libraries?: Partial<Libraries> | undefined
  /** PTX for machines without NVRTC; default: the kernels of @tandem-gpu/algorithms, packed with this package. */
  readonly shippedKernels?: ShippedKernels | undefined
}

/** Every NVIDIA GPU that CUDA shows to this process. Nothing is loaded before the first call. */
export function cuda(options: CudaOptions = {}): Backend {
  return cudaBackend(options, (source) =>
    emitCuda(source.module, { bounds: source.bounds, label: source.label }),
  )
}

const cudaOptions = {
  kernelCache: 'any',
  fmad: 'boolean',
  peerAccess: 'boolean',
  lowering: ['auto', 'one-graph', 'graph-per-gpu'],
  libraries: 'object',
  shippedKernels: 'function',
} as const

/** Throws `validation` for options of wrong types. */
function requireCudaOptions(options: CudaOptions): void {
  requireOptions(options, 'cuda', cudaOptions)
  const { kernelCache, libraries } = options
  if (kernelCache !== undefined && kernelCache !== false)
    requireOptions(kernelCache, 'kernelCache', { directory: 'string', maxByteLength: 'number' })
  if (libraries === undefined) return
  requireOptions(libraries, 'libraries', { cuda: 'object', nvrtc: 'object', nvml: 'object' })
  for (const [name, list] of Object.entries(libraries))
    if (!(Array.isArray(list) && list.every((entry) => typeof entry === 'string')))
      throw new GpuError(
        'validation',
        `The option libraries.${name} of cuda must be an array of names or paths.`,
      )
}

/** With a translator of the caller's choice, for tests. */
export function cudaBackend(options: CudaOptions, translate: Translate): Backend {
  requireCudaOptions(options)
  const libraries: Libraries = { ...defaultLibraries, ...options.libraries }
  return {
    name: 'cuda',
    async adapters() {
      const { probe: _, ...report } = await findAdapters(nativeAddon(), libraries)
      return report
    },
    async open(adapters, { label = 'cuda' } = {}) {
      const addon = nativeAddon()
      const { probe, absence } = await findAdapters(addon, libraries)
      if (addon instanceof Error || probe === undefined) {
        throw new GpuError(absence!.code, [absence!.reason, absence!.remedy].filter(Boolean).join(' '))
      }
      const ordinals = [...new Set(adapters.map(ordinalOf))]
      try {
        return new CudaRuntime({
          native: await addon.openGroup(libraries.cuda, ordinals),
          adapters,
          gpuOfDevice: adapters.map((adapter) => ordinals.indexOf(ordinalOf(adapter))),
          compiler: new KernelCompiler({
            addon,
            nvrtc: libraries.nvrtc,
            driverVersion: probe.driverVersion,
            fmad: options.fmad ?? true,
            cache: options.kernelCache === false ? undefined : new KernelCache(options.kernelCache),
            shippedKernels: options.shippedKernels ?? packagedKernels,
          }),
          translate,
          peerAccess: options.peerAccess ?? true,
          lowering: options.lowering ?? 'auto',
          label,
        })
      } catch (error) {
        throw toGpuError(error, `Opening ${ordinals.length} CUDA devices`)
      }
    },
    topology: () => findTopology(nativeAddon(), libraries),
  }
}

function ordinalOf(adapter: Adapter): number {
  if (adapter.backend !== 'cuda' || adapter.index === undefined) {
    throw new GpuError('validation', `Adapter '${adapter.id}' is not one of the CUDA backend's.`)
  }
  return adapter.index
}
