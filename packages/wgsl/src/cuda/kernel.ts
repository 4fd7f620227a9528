/** How an access outside a buffer is treated. */
export type CudaBounds = 'clamp' | 'trap' | 'unchecked'

/** Options of `emitCuda`. */
export interface CudaOptions {
  readonly bounds: CudaBounds
  /** Names the source in `#line` directives and in the head comment; the module's label by default. */
  readonly label?: string | undefined
  /** False leaves out `#line` directives, for reading. True by default. */
  readonly lineDirectives?: boolean | undefined
  /**
   * Gives the kernel a parameter `stop-word` where it has loops that may run long: the address of 16 bytes in
   * the GPU's memory, aligned to 16. They are a word, a time that kernels keep there, and the address of a
   * word in the host's memory. Once either word is not zero, every invocation in such a loop leaves the
   * kernel within about 100 ms, without further effects; what it was to write is then undefined. Barriers and
   * subgroup operations count an invocation that has left as arrived. With `start`, for a kernel that is
   * known to end, each invocation looks at the word once, where it begins. False by default.
   */
  readonly stoppable?: boolean | 'start' | undefined
  /**
   * Thread blocks that are to share a multiprocessor: the compiler gives each thread few enough registers for
   * that. Default: it chooses.
   */
  readonly workgroupsPerMultiprocessor?: number | undefined
  /**
   * The kernel reads how many workgroups there are from three words in memory, and a grid of any number of
   * blocks in x runs them all; none where a word exceeds the largest number allowed. Not with the bounds
   * `trap`. False by default.
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
    | 'workgroup-counts'
    | 'most-workgroups'
  /** The parameter's name in the source. */
  readonly name: string
  /** Its type in CUDA C++. */
  readonly type: string
  /** Index into `reflect(ir).bindings`; undefined for what is no binding's. */
  readonly bindingIndex: number | undefined
}

/** A translation of one entry point. */
export interface CudaKernel {
  /** Complete CUDA C++17 for NVRTC or nvcc; it includes no header. */
  readonly source: string
  /** The name of the `extern "C"` kernel. */
  readonly entryName: string
  readonly workgroupSize: readonly [number, number, number]
  /** Workgroup memory that the kernel declares itself. */
  readonly staticSharedByteLength: number
  /** Workgroup memory to ask for at the launch: not zero only above 48 KiB. */
  readonly dynamicSharedByteLength: number
  readonly parameters: readonly CudaParameter[]
  /**
   * `lineMap[i]` is the WGSL line (from 1) of line i + 1 of `source`; undefined in the prelude and
   * declarations.
   */
  readonly lineMap: readonly (number | undefined)[]
  /** Oldest architecture that compiles it, when it needs more than any that CUDA still supports. */
  readonly minimumComputeCapability: readonly [number, number] | undefined
  readonly usesSubgroups: boolean
  /** True when threads of a block meet at barriers or exchange values. */
  readonly usesBarriers: boolean
  /**
   * With the option `stoppable`: whether all loops that may run long can be left, or none is there; with
   * `start` true. Else false.
   */
  readonly isStoppable: boolean
  /** The parts of `source`, for programs that hold several kernels. */
  readonly parts: CudaParts
}

/** The text without its prelude, and the names of the prelude that stand in it. */
export interface CudaParts {
  readonly body: string
  readonly preludeNames: readonly string[]
}

/** The parameter through which the host tells a kernel to leave. */
export const stopWordName = 'stop_word'
export const stopWordType = 'const unsigned*'
