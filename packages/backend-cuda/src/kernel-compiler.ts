import { GpuError, isGpuError } from '@tandem-gpu/core'
import type { FrontEndCache } from '@tandem-gpu/core/backend'
import type { CudaKernel } from '@tandem-gpu/wgsl'
import { isNativeError, toGpuError } from './driver-error.ts'
import { DiskFrontEndCache } from './front-end-cache.ts'
import { KernelCache } from './kernel-cache.ts'
import { nvrtcFor } from './libraries.ts'
import { hasWrongParts, isVirtual, mayBeMiscompiled, mayBeWrong } from './machine-code.ts'
import type { NativeAddon, NvrtcOutcome } from './native-addon.ts'
import { type ShippedKernels, shippedPtx } from './shipped-kernels.ts'

export interface KernelCompilerOptions {
  readonly addon: NativeAddon
  readonly nvrtc: readonly string[]
  readonly driverVersion: number
  /** Contract a·b+c to one operation with a single rounding. */
  readonly fmad: boolean
  readonly cache: KernelCache | undefined
  readonly shippedKernels: ShippedKernels | undefined
  /** How long NVRTC may take for a kernel: an equal share for each level of optimization. */
  readonly mostSeconds?: number | undefined
}

/** The parts of a translation that the compiler uses. */
export type CompilableKernel = Pick<CudaKernel, 'source' | 'lineMap'> &
  Partial<Pick<CudaKernel, 'ptxasLevel'>>

/**
 * Change this if the same source would compile to different code for a reason that the key does not contain.
 */
const cacheFormat = '21'
/**
 * The newest virtual architecture that every NVRTC since 11.1 supports, for GPUs newer than the available
 * NVRTC.
 */
const fallbackArchitecture = 'compute_80'

/** The addon's threads that compile nothing now. */
const idleThreads = [0, 1, 2, 3]
/** Compilations that wait for a thread. */
const waiting: ((thread: number) => void)[] = []

/** ptxas does not optimize. */
const plain = ['--ptxas-options=-O0']
/** Less optimization, by ptxas too (-O1). */
const quicker = ['--Ofast-compile=min']
/** Hardly any optimization. Nothing is inlined, so ptxas, which makes errors around calls, must not optimize. */
const quickest = ['--Ofast-compile=max', ...plain]
/** nvcc does not load through the read-only cache by itself. */
const uncached = '--define-macro=__restrict__='
/**
 * The passes of NVVM, nvcc's optimizer before sm_100, that are left out: without them none of the algorithms' works took
 * 1 % more time on an H200. LoopIndexSplit and ReuseLocalMemory have errors. NVRTC ignores names that it does not know.
 */
const unusedPasses = [
  'AggressiveDCE',
  'ArgumentPromotion',
  'BasicDeadBarrierElimination',
  'BranchDist',
  'CondPropagation',
  'DeadStoreElimination',
  'GVN',
  'JumpThreading',
  'LoopDeletion',
  'LoopIdiom',
  'LoopIndexSplit',
  'LoopUnswitch',
  'PropagateAlignment',
  'ReuseLocalMemory',
  'SCCP',
  'SignExtEliminate',
  'SimplifyLibCalls',
  'Sinking2',
  'TailCallElimination',
]
const withoutUnusedPasses = unusedPasses.flatMap((pass) => [
  '-Xnvvm',
  '-Xopt',
  '-Xnvvm',
  `-disable-${pass}Pass`,
])
/**
 * What a kernel is compiled with until ptxas cannot have miscompiled it: then with extremes and negations of
 * signed integers that NVRTC and ptxas do not recognize, and, because they do not cure all, without optimization by
 * ptxas, which has none of the known errors.
 */
const attempts = [[], ['--define-macro=WGSL_OPAQUE_SIGNS'], plain]

/**
 * CUDA C++ → machine code for one architecture, from the disk cache, NVRTC, or PTX shipped with the package.
 */
export class KernelCompiler {
  readonly #options: KernelCompilerOptions
  readonly frontEndCache: FrontEndCache | undefined
  readonly #nvrtc: readonly string[]
  #version: Promise<string | GpuError> | undefined
  /** None if this NVRTC refuses the option. */
  #unusedPasses: readonly string[] = withoutUnusedPasses

  constructor(options: KernelCompilerOptions) {
    this.#options = options
    this.#nvrtc = nvrtcFor(options.nvrtc, options.driverVersion)
    this.frontEndCache = options.cache && new DiskFrontEndCache(options.cache)
  }

  /**
   * Loads NVRTC, whose version is part of the keys of cached kernels, so that the first kernel need not wait
   * for it. `compile` reports failures.
   */
  prepare(): void {
    this.#nvrtcVersion().catch(() => {})
  }

  /**
   * Rejects with `compilation` (with the WGSL line if the log contains it) or `unsupported`. `label` names
   * the kernel.
   */
  async compile(
    kernel: CompilableKernel,
    architecture: string,
    label: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const version = await this.#nvrtcVersion()
    if (isGpuError(version)) {
      const { fmad, shippedKernels } = this.#options
      const ptx = shippedPtx(shippedKernels, kernel.source, architecture)
      if (ptx !== undefined && fmad) return new TextEncoder().encode(ptx) as Uint8Array<ArrayBuffer>
      const why =
        ptx === undefined
          ? 'is not shipped in compiled form'
          : 'is shipped compiled with fused a·b+c, which `fmad: false` rules out'
      throw new GpuError('unsupported', `Kernel '${label}' ${why}, and ${version.message}`, {
        cause: version,
      })
    }
    const options = this.#compileOptions(architecture, version)
    const { cache, driverVersion } = this.#options
    const key = KernelCache.key([cacheFormat, kernel.source, ...options, String(driverVersion), version])
    const cached = cache?.get(key)
    if (cached !== undefined) return cached
    const image = await this.#build(kernel, architecture, version, label)
    await cache?.set(key, image)
    return image
  }

  #compileOptions(architecture: string, version: string): string[] {
    return [
      `--gpu-architecture=${architecture}`,
      '--std=c++17',
      '-default-device',
      `--fmad=${this.#options.fmad ? 'true' : 'false'}`,
      // Omits declarations that kernels do not use: textures, and the runtime's functions and types. The
      // machine code is the same.
      ...(isAtLeast(version, 12, 4) ? ['-minimal'] : []),
      // NVRTC 12.9 and newer have a cache on disk. Tandem has its own, and new kernels compile in two thirds
      // of the time without NVRTC's (13.0: ten in turn take 0.47 s in place of 0.70 s).
      ...(isAtLeast(version, 12, 9) ? ['--no-cache'] : []),
    ]
  }

  async #build(
    kernel: CompilableKernel,
    architecture: string,
    version: string,
    label: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const options = this.#compileOptions(architecture, version)
    let levels = isAtLeast(version, 12, 8) ? [[], quicker, quickest] : [[]]
    const { mostSeconds = 180 } = this.#options
    const seconds = mostSeconds / levels.length
    const passes = this.#unusedPasses
    try {
      for (const attempt of kernel.ptxasLevel === 0 ? [plain] : attempts) {
        // It contradicts ptxas' -O0.
        if (attempt === plain) levels = levels.filter((level) => level !== quicker)
        const given = [...options, ...passes, ...attempt]
        let outcome = await this.#compileInTime(kernel.source, given, levels, seconds)
        while (outcome?.compiled && mayBeWrong(outcome.ptx, levels[0] === quickest)) {
          const isPart = hasWrongParts(outcome.ptx, levels[0] === quickest)
          if (!isPart && !given.includes(uncached)) given.push(uncached)
          else if (levels.length > 1) levels.shift()
          else
            throw new GpuError(
              'unsupported',
              `NVRTC ${version} compiles kernel '${label}' wrongly, because it computes with parts of integers. It needs NVRTC 12.8 or later.`,
            )
          outcome = await this.#compileInTime(kernel.source, given, levels, seconds)
        }
        if (outcome === undefined)
          throw new GpuError(
            'compilation',
            `NVRTC ${version} takes too long to compile kernel '${label}', and perhaps never ends. Try other expressions in nested minimums and maximums, and fewer rounds in loops with a constant number of them.`,
          )
        if (!outcome.compiled) throw compilationError(outcome.log, kernel, label)
        if (isVirtual(architecture)) {
          if (!mayBeMiscompiled(outcome, architecture)) return new TextEncoder().encode(outcome.ptx)
        } else if (attempt === plain || !mayBeMiscompiled(outcome, architecture)) return outcome.cubin
      }
      throw new GpuError(
        'unsupported',
        `Kernel '${label}' uses signed integers, conditions or workgroup memory in a way that the driver may miscompile for this GPU. It needs an NVRTC that knows the GPU; this one is ${version}.`,
      )
    } catch (error) {
      if (passes.length > 0 && /un(?:supported|recognized) option/.test(String(error))) {
        this.#unusedPasses = []
        return this.#build(kernel, architecture, version, label)
      }
      const isUnknown = isNativeError(error) && /invalid value for --gpu-architecture/.test(error.message)
      if (isUnknown && kernel.ptxasLevel === 0)
        throw new GpuError(
          'unsupported',
          `Kernel '${label}' has functions that are not inlined, because they are too long or report accesses out of bounds. For this GPU it needs an NVRTC that knows the GPU; this one is ${version}.`,
          { cause: error },
        )
      if (isUnknown && architecture !== fallbackArchitecture)
        return this.#build(kernel, fallbackArchitecture, version, label)
      throw toGpuError(error, `Compiling kernel '${label}'`)
    }
  }

  /**
   * Compiles at the first of the levels of optimization, and removes it and goes on with the next if NVRTC does
   * not finish in time. NVRTC cannot be interrupted, so its thread is left behind. Resolves to undefined after the
   * last level.
   */
  async #compileInTime(
    source: string,
    options: readonly string[],
    levels: (readonly string[])[],
    seconds: number,
  ): Promise<NvrtcOutcome | undefined> {
    const { addon } = this.#options
    for (; levels.length > 0; levels.shift()) {
      const request = { source, name: programName, options: [...options, ...levels[0]!] }
      // The time in which others compile does not count.
      const thread = idleThreads.shift() ?? (await new Promise<number>((resolve) => waiting.push(resolve)))
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(resolve, 1000 * seconds, undefined)
      })
      try {
        const outcome = await Promise.race([addon.nvrtcCompile(this.#nvrtc, request, thread), late])
        if (outcome !== undefined) return outcome
        addon.abandonCompiler(thread)
      } finally {
        clearTimeout(timer)
        const next = waiting.shift()
        if (next === undefined) idleThreads.push(thread)
        else next(thread)
      }
    }
    return undefined
  }

  #nvrtcVersion(): Promise<string | GpuError> {
    this.#version ??= this.#options.addon.nvrtcVersion(this.#nvrtc).then(
      ([major, minor]) => `${major}.${minor}`,
      (error: unknown) => {
        if (!isNativeError(error)) throw error
        if (error.nativeCode === 'out-of-memory') {
          this.#version = undefined
          return toGpuError(error, 'Starting NVRTC') as GpuError
        }
        return new GpuError(
          'unsupported',
          `${error.message} Install the CUDA toolkit, or NVRTC alone: libnvrtc12 from Debian or Ubuntu, or cuda-nvrtc-13-0 from NVIDIA.`,
          { cause: error },
        )
      },
    )
    return this.#version
  }
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

/**
 * The name of the CUDA source in NVRTC's log. It is not the label, because NVRTC treats a name that begins
 * with '-' as an option.
 */
const programName = 'translated.cu'
const logLine = /^(.*?)\((\d+)\): (?:catastrophic )?error(?: #\d+)?: (.*)$/m

/** A translated kernel should always compile, so the message holds the whole log. */
function compilationError(log: string, kernel: Pick<CudaKernel, 'lineMap'>, label: string): GpuError {
  const match = logLine.exec(log)
  const file = match?.[1] ?? ''
  const reported = Number(match?.[2])
  // Because of `#line`, the log already refers to WGSL lines; lines of the CUDA source itself are mapped with
  // the line map.
  const line = match === null ? undefined : file === programName ? kernel.lineMap[reported - 1] : reported
  const where = line === undefined ? '' : ` at line ${line}`
  return new GpuError(
    'compilation',
    `Kernel '${label}' failed to compile${where}: ${match?.[3] ?? 'see the log'}.\n${log}`,
    {
      ...(line === undefined ? {} : { line }),
    },
  )
}
