import type { Adapter, Backend } from '@tandem-gpu/core'
import { GpuError, requireOptions } from '@tandem-gpu/core'
import type { Link, RankAdapter, Runtime } from '@tandem-gpu/core/backend'
import { emitCuda } from '@tandem-gpu/wgsl'
import { type CudaAdapter, cudaAdapters, findAdapters } from './adapters.ts'
import type { Translate } from './cuda-kernel.ts'
import { hasScopedMemory } from './cuda-runtime.ts'
import { toGpuError } from './driver-error.ts'
import { KernelCache, type KernelCacheOptions } from './kernel-cache.ts'
import { KernelCompiler } from './kernel-compiler.ts'
import { defaultLibraries, type Libraries } from './libraries.ts'
import { ConnectedRuntime, SharedRuntime } from './linked-runtimes.ts'
import { LocalRuntime } from './local-runtime.ts'
import type { Lowering } from './lowering.ts'
import { type NativeAddon, type NativeGroup, nativeAddon } from './native-addon.ts'
import { loadNccl } from './nccl.ts'
import { agree, agreeHere, SharedMemory, tryShared } from './shared-memory.ts'
import { packagedKernels, type ShippedKernels } from './shipped-kernels.ts'
import { findTopology } from './topology.ts'

export interface CudaOptions {
  /** Where kernels, translated and compiled, are cached between processes; false disables the cache. */
  readonly kernelCache?: false | KernelCacheOptions | undefined
  /**
   * Contract a·b+c to one operation with a single rounding. Applies to all kernels of the backend. Default
   * true.
   */
  readonly fmad?: boolean | undefined
  /**
   * If false, kernels cannot access the memory of other devices, including virtual ones. Use it to test the
   * code paths that work without peer access. Default true.
   */
  readonly peerAccess?: boolean | undefined
  /**
   * How programs over several GPUs become CUDA graphs. Default `auto`: one graph if GPUs copy megabytes to
   * each other, otherwise one graph for each GPU.
   */
  readonly lowering?: Lowering | undefined
  /**
   * Names or paths of the NVIDIA libraries, tried in order. Default: the loader's search path, then the usual
   * folders.
   */
  readonly libraries?: Partial<Libraries> | undefined
  /**
   * PTX for machines without NVRTC. Default: the kernels of @tandem-gpu/algorithms, which this package
   * includes.
   */
  readonly shippedKernels?: ShippedKernels | undefined
}

/**
 * A backend for every NVIDIA GPU that is visible to CUDA in this process. Loads no library before the first
 * call.
 */
export function cuda(options: CudaOptions = {}): Backend<Runtime> {
  return cudaBackend(options, ({ module, bounds, label, terminates, workgroupsPerMultiprocessor }, form) => {
    const { parts: _, ...translated } = emitCuda(module, {
      bounds,
      label,
      stoppable: terminates === true ? 'start' : true,
      indirect: form === 'indirect',
      workgroupsPerMultiprocessor,
    })
    return translated
  })
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
  requireOptions(libraries, 'libraries', {
    cuda: 'object',
    nvrtc: 'object',
    nvml: 'object',
    nccl: 'object',
  })
  for (const [name, list] of Object.entries(libraries))
    if (!(Array.isArray(list) && list.every((entry) => typeof entry === 'string')))
      throw new GpuError(
        'validation',
        `The option libraries.${name} of cuda must be an array of names or paths.`,
      )
}

/**
 * The backend with a given translator, for tests. Two translators must not share a kernel cache, whose keys do
 * not name them.
 */
export function cudaBackend(options: CudaOptions, translate: Translate): Backend<Runtime> {
  requireCudaOptions(options)
  const libraries: Libraries = { ...defaultLibraries, ...options.libraries }
  const common = {
    translate,
    peerAccess: options.peerAccess ?? true,
    lowering: options.lowering ?? 'auto',
  } as const
  /** Throws if the addon or the driver is missing. */
  const load = async (): Promise<{ addon: NativeAddon; compiler: KernelCompiler }> => {
    const found = await findAdapters(nativeAddon(), libraries)
    if (found.absence !== undefined)
      throw new GpuError(
        found.absence.code,
        [found.absence.reason, found.absence.remedy].filter(Boolean).join(' '),
      )
    const { addon, probe } = found
    const compiler = new KernelCompiler({
      addon,
      nvrtc: libraries.nvrtc,
      driverVersion: probe.driverVersion,
      fmad: options.fmad ?? true,
      cache: options.kernelCache === false ? undefined : new KernelCache(options.kernelCache),
      shippedKernels: options.shippedKernels ?? packagedKernels,
    })
    return { addon, compiler }
  }
  /** If `addressable`, other libraries may use the memory of the one GPU. */
  const open = async (given: readonly Adapter[], label: string, addressable: boolean) => {
    const { addon, compiler } = await load()
    const adapters = cudaAdapters(given)
    const ordinals = [...new Set(adapters.map(({ index }) => index))]
    try {
      return new LocalRuntime({
        ...common,
        native: await addon.openGroup(libraries.cuda, ordinals, addressable),
        adapters,
        gpuOfDevice: adapters.map(({ index }) => ordinals.indexOf(index)),
        compiler,
        label,
        addressable,
      })
    } catch (error) {
      throw toGpuError(error, `Opening ${ordinals.length} CUDA devices`)
    }
  }
  const links: Link[] = [
    {
      name: 'ipc',
      reach: 'machine',
      plans: 'whole',
      async open(given, processes, { label = 'cuda' } = {}) {
        const adapters = cudaAdapters(given)
        requireShareable(adapters, options)
        const own = adapterOf(processes.rank, adapters)
        let native: NativeGroup | undefined
        try {
          const { shared, compiler } = await agreeHere(processes, `Opening ${own.id}`, async () => {
            const { addon, compiler } = await load()
            native = await addon.openGroup(libraries.cuda, [own.index], true)
            return { shared: new SharedMemory(native, processes), compiler }
          })
          await tryShared(shared)
          // In every process, its own GPU is number 0.
          const ranks = [...new Set([own, ...adapters].map(({ rank }) => rank))]
          const gpuOfDevice = adapters.map(({ rank }) => ranks.indexOf(rank))
          const described = { ...common, native: shared.native, adapters, gpuOfDevice, compiler, label }
          return new SharedRuntime({ ...described, peerAccess: true, lowering: 'graph-per-gpu' }, shared)
        } catch (error) {
          await native?.close()
          throw error
        }
      },
    },
    {
      name: 'nccl',
      reach: 'network',
      plans: 'parts',
      async open(given, processes, { label = 'cuda' } = {}) {
        const all = cudaAdapters(given)
        requireOneGpuEach(all)
        const { rank } = processes
        const own = adapterOf(rank, all)
        const adapters = all.filter((adapter) => adapter.rank === rank)
        const count = new Set(all.map((adapter) => adapter.rank)).size
        let native: NativeGroup | undefined
        try {
          const doing = `Opening ${own.id}`
          const opened = await agreeHere(processes, doing, async () => {
            const { addon, compiler } = await load()
            native = await addon.openGroup(libraries.cuda, [own.index])
            await loadNccl(addon, libraries.nccl)
            return { addon, compiler, native }
          })
          void processes.broken.then(() => opened.native.breakOff())
          const [name = ''] = await agree(processes, doing, async () =>
            rank === 0 ? Buffer.from(await opened.addon.ncclUniqueId(libraries.nccl)).toString('hex') : '',
          )
          await agree(
            processes,
            'Connecting the GPUs of all processes',
            () => opened.native.joinRanks(libraries.nccl, Buffer.from(name, 'hex'), rank, count),
            () => opened.native.breakOff(),
          )
          const gpuOfDevice = adapters.map(() => 0)
          return new ConnectedRuntime({ ...common, ...opened, adapters, gpuOfDevice, label }, processes)
        } catch (error) {
          await native?.close()
          throw error
        }
      },
    },
    {
      name: 'gpu-aware',
      reach: 'network',
      plans: 'segments',
      async open(adapters, { rank }, { label = 'cuda' } = {}) {
        const own = cudaAdapters(adapters.filter((adapter) => adapter.rank === rank))
        const gpus = new Set(own.map(({ index }) => index)).size
        if (gpus > 1)
          throw new GpuError('unsupported', `A process has ${gpus} GPUs; each process may have only one.`)
        return open(own, label, true)
      },
    },
  ]
  return {
    name: 'cuda',
    async adapters() {
      const { adapters, absence, notes } = await findAdapters(nativeAddon(), libraries)
      return { adapters, ...(absence && { absence }), ...(notes && { notes }) }
    },
    open: (adapters, { label = 'cuda' } = {}) => open(adapters, label, false),
    links,
    topology: () => findTopology(nativeAddon(), libraries),
  }
}

type RankedGpu = RankAdapter & CudaAdapter

function adapterOf(rank: number, adapters: readonly RankedGpu[]): RankedGpu {
  const own = adapters.find((adapter) => adapter.rank === rank)
  if (own === undefined) throw new GpuError('validation', `Rank ${rank} has none of the adapters.`)
  return own
}

/** Throws `unsupported`, in all processes, if two processes share a GPU or one process has several. */
function requireOneGpuEach(adapters: readonly RankedGpu[]): void {
  const rankOf = new Map<string, number>()
  const gpuOf = new Map<number, string>()
  for (const { rank, uuid: gpu } of adapters) {
    if ((rankOf.get(gpu) ?? rank) !== rank)
      throw new GpuError(
        'unsupported',
        `Ranks ${rankOf.get(gpu)} and ${rank} have the same GPU (${gpu}), which can run only one process at a time.`,
      )
    if ((gpuOf.get(rank) ?? gpu) !== gpu)
      throw new GpuError('unsupported', `Rank ${rank} has several GPUs; each process may have only one.`)
    rankOf.set(gpu, rank)
    gpuOf.set(rank, gpu)
  }
}

/** Throws `unsupported`, in all processes, if they cannot share the memory of these GPUs. */
function requireShareable(adapters: readonly RankedGpu[], { peerAccess, lowering }: CudaOptions): void {
  if (peerAccess === false) throw new GpuError('unsupported', 'The option peerAccess of cuda is false.')
  if (lowering === 'one-graph')
    throw new GpuError(
      'unsupported',
      "The option lowering of cuda is 'one-graph', and a graph cannot span processes.",
    )
  requireOneGpuEach(adapters)
  const old = adapters.find(({ architecture }) => !hasScopedMemory(architecture))
  if (old !== undefined)
    throw new GpuError(
      'unsupported',
      `A GPU of architecture ${old.architecture} does not support scoped memory operations.`,
    )
}
