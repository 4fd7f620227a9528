/** How an access outside a buffer is treated. */
export type CudaBounds = 'clamp' | 'trap' | 'unchecked'

/** Options of `emitCuda`. */
export interface CudaOptions {
  readonly bounds: CudaBounds
  /** The name of the source in `#line` directives and in the head comment. Default: the module's label. */
  readonly label?: string | undefined
  /** False omits `#line` directives, for readability. Default true. */
  readonly lineDirectives?: boolean | undefined
  /**
   * Adds a parameter `stop-word` to a kernel with loops that may run long: the address of 16 bytes in GPU
   * memory, aligned to 16. They contain a word, a time that kernels store there, and the address of a word in
   * host memory. Once either word is nonzero, every invocation in such a loop leaves the kernel within about
   * 100 ms, without further effects; the output is then undefined. Barriers and subgroup operations treat an
   * invocation that has left as arrived. With `start`, for a kernel that is known to end, each invocation
   * checks the word once, at its beginning; the parameter is then `stop-word-or-null`, and null means that
   * nothing stops the launch. (With `indirect`, every invocation also checks between workgroups, and needs the
   * word.) Default false.
   */
  readonly stoppable?: boolean | 'start' | undefined
  /**
   * The number of thread blocks that should share a multiprocessor: the compiler limits the registers per
   * thread accordingly. Default: the compiler decides.
   */
  readonly workgroupsPerMultiprocessor?: number | undefined
  /**
   * The kernel reads the numbers of workgroups from three words in memory, and a grid of any number of blocks
   * in x runs them all, or none if a word exceeds the largest number allowed. Not available with the bounds
   * `trap`. Default false.
   */
  readonly indirect?: boolean | undefined
}

/** One parameter of a generated kernel, in order. Pointers and `u64` take 8 bytes each. */
export interface CudaParameter {
  readonly kind:
    | 'storage'
    | 'byte-length'
    | 'view'
    | 'uniform'
    | 'trap-record'
    | 'stop-word'
    /** Like 'stop-word', or null where nothing stops the kernel. */
    | 'stop-word-or-null'
    | 'workgroup-counts'
    | 'most-workgroups'
  /** The parameter's name in the source. */
  readonly name: string
  /** Its type in CUDA C++. */
  readonly type: string
  /** Index into `reflect(ir).bindings`; undefined for a parameter that does not belong to a binding. */
  readonly bindingIndex: number | undefined
}

/** A translation of one entry point. */
export interface CudaKernel {
  /** Complete CUDA C++17 for NVRTC or nvcc, without `#include`. */
  readonly source: string
  /** The name of the `extern "C"` kernel. */
  readonly entryName: string
  readonly workgroupSize: readonly [number, number, number]
  /** Byte length of the workgroup memory that the kernel declares. */
  readonly staticSharedByteLength: number
  /** Byte length of the workgroup memory to request at the launch; nonzero only above 48 KiB. */
  readonly dynamicSharedByteLength: number
  readonly parameters: readonly CudaParameter[]
  /**
   * `lineMap[i]` is the WGSL line (from 1) of line i + 1 of `source`; undefined in the prelude and
   * declarations.
   */
  readonly lineMap: readonly (number | undefined)[]
  /**
   * The oldest architecture that supports the kernel; undefined if every architecture that CUDA supports
   * does.
   */
  readonly minimumComputeCapability: readonly [number, number] | undefined
  /**
   * The optimization level at which ptxas translates the kernel correctly. It is 0 if the kernel has functions
   * that are not inlined, such as the one that reports an access with bounds `trap`: ptxas 13.0 assumes that the threads of a warp return from a call together, although
   * they need not, and keeps counters of loops in registers of the warp and leaves out the synchronization
   * before shuffles and matrix instructions. Pass it to NVRTC as `--ptxas-options=-O0`.
   */
  readonly ptxasLevel: 0 | 3
  readonly usesSubgroups: boolean
  /** True if threads of a block meet at barriers or exchange values. */
  readonly usesBarriers: boolean
  /**
   * With the option `stoppable`: whether all loops and calls that may run long, if any, can be
   * stopped. True with `start`. False without the option.
   */
  readonly isStoppable: boolean
  /** The parts of `source`, for programs that contain several kernels. */
  readonly parts: CudaParts
}

/** The text without its prelude, and the prelude names that it uses. */
export interface CudaParts {
  readonly body: string
  readonly preludeNames: readonly string[]
}

/** The parameter through which the host stops a kernel. */
export const stopWordName = 'stop_word'
export const stopWordType = 'const unsigned*'
