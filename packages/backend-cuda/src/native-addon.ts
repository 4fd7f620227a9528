import { isMainThread } from 'node:worker_threads'
import { type Absence, GpuError, type Telemetry } from '@tandem-gpu/core'
import { type AddonPackage, addonFailure, addonLoader } from '@tandem-gpu/core/native'

/**
 * The exports of native/src. Libraries are lists of names or paths to try in order; errors carry `nativeCode`
 * (see driver-error.ts).
 */
export interface NativeAddon {
  probe(cuda: readonly string[]): Promise<NativeProbe>
  /**
   * `ordinals` are distinct CUDA devices; the `gpu` arguments of the group are indices into it. `shareable`:
   * other processes may map the memory of the group's one GPU.
   */
  openGroup(cuda: readonly string[], ordinals: readonly number[], shareable?: boolean): Promise<NativeGroup>
  /** 22803 for NCCL 2.28.3. Rejects with `unsupported` if NCCL cannot be loaded or is too old. */
  ncclVersion(nccl: readonly string[]): Promise<number>
  /** A name for `joinRanks`. */
  ncclUniqueId(nccl: readonly string[]): Promise<Uint8Array>
  /**
   * To be called when the process begins to exit: with jobs in flight, it ends without the destructors of
   * libraries.
   */
  endWithJobs(): void
  nvrtcVersion(nvrtc: readonly string[]): Promise<[major: number, minor: number]>
  /** Compiles on one of four threads, from 0 to 3. */
  nvrtcCompile(nvrtc: readonly string[], request: NvrtcRequest, thread: number): Promise<NvrtcOutcome>
  /**
   * The compilation in flight on the thread may never end: neither the process nor later compilations wait for
   * it. Those that wait behind it on its thread do not settle either.
   */
  abandonCompiler(thread: number): void
  nvmlDevices(nvml: readonly string[]): Promise<{ driverVersion: string; devices: NvmlDevice[] }>
  nvmlRead(nvml: readonly string[], uuid: string): Promise<Telemetry>
  nvmlLinks(nvml: readonly string[], uuid: string): Promise<NvmlLinks>
  nvmlCommonAncestor(nvml: readonly string[], first: string, second: string): Promise<number>
}

export interface NativeProbe {
  /** 13000 for CUDA 13.0. */
  readonly driverVersion: number
  readonly devices: readonly NativeDevice[]
  /** Reader × owner, row-major. */
  readonly peers: readonly boolean[]
}

export interface NativeDevice {
  readonly ordinal: number
  readonly name: string
  readonly pciBusId: string
  /** Without NVML's prefix. */
  readonly uuid: string
  readonly totalByteLength: number
  readonly maxThreadsPerBlock: number
  readonly maxBlockDimX: number
  readonly maxBlockDimY: number
  readonly maxBlockDimZ: number
  readonly maxSharedMemoryPerBlockOptin: number
  readonly warpSize: number
  readonly computeCapabilityMajor: number
  readonly computeCapabilityMinor: number
}

export interface NvrtcRequest {
  readonly source: string
  readonly name: string
  readonly options: readonly string[]
}

export interface NvrtcOutcome {
  readonly compiled: boolean
  readonly log: string
  /** Empty if NVRTC does not keep it. */
  readonly ptx: string
  /** Empty for a virtual architecture. */
  readonly cubin: Uint8Array<ArrayBuffer>
}

export interface NvmlDevice {
  readonly index: number
  readonly uuid: string
  readonly pciBusId: string
}

/** The active NVLinks of a device. */
export interface NvmlLinks {
  /** The device at the other end, unless that is a switch. */
  readonly remotePciBusIds: readonly string[]
  /** The number of links to an NVSwitch. */
  readonly toSwitch: number
}

/**
 * Calls are executed one after another on the group's own thread, in the order in which they are made.
 * Addresses are exact as numbers.
 */
export interface NativeGroup {
  /** Reader × owner, row-major. */
  readonly peers: readonly boolean[]
  allocate(gpu: number, byteLength: number, zero: boolean): Promise<number>
  free(address: number): void
  zero(gpu: number, address: number, byteLength: number): Promise<void>
  /** Resolves when all previously queued work is done. */
  drain(): Promise<void>
  /** Only for a shareable group: returns a handle with which other processes can map the memory. */
  exportMemory(address: number): Promise<{ handle: Uint8Array; byteOffset: number }>
  /** The address of the memory to which another process's `handle` refers; valid until `closeMemory`. */
  importMemory(gpu: number, handle: Uint8Array): Promise<number>
  closeMemory(address: number): void
  /**
   * Only for a shareable group: an external value that holds a TandemDeviceMemory (core's
   * native/tandem_device_memory.h). The receiver may keep handles in the GPU's context, which exists until
   * the process ends.
   */
  deviceMemory(address: number, byteLength: number): Promise<unknown>
  /**
   * Enables the graphs of a group of one GPU to exchange messages with those of other ranks, each of which
   * calls this with the same name. Waits for all ranks.
   */
  joinRanks(nccl: readonly string[], name: Uint8Array, rank: number, count: number): Promise<void>
  /** Takes effect at once: kernels that wait for another process end, and runs reject. */
  breakOff(): void
  /** Yields this core to other threads that wait for it. */
  yieldCore(): void
  /**
   * A page-locked word at the same address on every GPU; nonzero if kernels that wait for other GPUs must
   * leave.
   */
  readonly stopAddress: number
  /** Words in the memory of each GPU; nonzero if the kernels that check them must leave. */
  readonly leaveAddresses: readonly number[]
  /** Undefined in runtimes that do not allow an addon's memory in an ArrayBuffer, such as Electron. */
  mapHost(byteLength: number): { arrayBuffer: ArrayBuffer; address: number; locked: boolean } | undefined
  lockHost(arrayBuffer: ArrayBuffer): { address: number; locked: Promise<void> }
  /** Keeps `arrayBuffer` until the memory is unlocked; `detach` detaches a mapped one at once. */
  unlockHost(address: number, arrayBuffer: ArrayBuffer, detach: boolean): Promise<void>
  /** The caller chooses kernel and graph IDs, which must not have been used before. */
  loadKernel(
    id: number,
    gpu: number,
    image: Uint8Array<ArrayBuffer>,
    entry: string,
    dynamicSharedByteLength: number,
  ): Promise<void>
  unloadKernel(id: number): void
  createGraph(id: number, mainGpu: number, words: Float64Array<ArrayBuffer>): Promise<void>
  destroyGraph(id: number): void
  run(request: NativeRunRequest): Promise<NativeRunOutcome>
  /** A launcher that starts such a run from native code: an external value that holds a TandemLauncher. */
  createRunLauncher(before: NativeRunRequest['before'], steps: NativeRunRequest['steps']): unknown
  /**
   * An external value that holds a TandemLauncher (core's native/tandem_launcher.h), which starts these
   * graphs together. IDs as for graphs.
   */
  createLauncher(id: number, graphs: readonly number[]): Promise<unknown>
  destroyLauncher(id: number): void
  /**
   * Opens a command queue on a GPU (core's `CommandQueue`), with an ID that has not been used before.
   * `internalKernels` are the IDs of `copy16`, `scatter` and `stamp` there. A `timeoutSeconds` of 0 means no
   * limit.
   */
  openQueue(
    id: number,
    gpu: number,
    timeoutSeconds: number,
    internalKernels: readonly number[],
    onMessage: NativeQueueListener,
  ): NativeQueue
  write(region: NativeRegion, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  read(region: NativeRegion, into: Uint8Array<ArrayBuffer>): Promise<void>
  /** After this call nothing waits for queued work, not even the end of the process. */
  abandon(): void
  /**
   * Waits for queued work, frees everything and ends the thread. Resolves with a sentence for each call that
   * fails to free something.
   */
  close(): Promise<string[]>
}

/** `out-of-memory` (buffer, text), `skipped` (serial, buffer) or `lost` (text, nativeCode, result). */
export type NativeQueueListener = (
  kind: 'out-of-memory' | 'skipped' | 'lost',
  first: number,
  second: number,
  text: string,
  nativeCode: string,
  result: number,
) => void

/** The methods are those of core's `CommandQueue`, which also documents what is not documented here. */
export interface NativeQueue {
  loadKernel(kernel: number, description: NativeQueueKernel): Promise<void>
  /**
   * `host`: whether the buffer is in page-locked memory, which `mappedRange` returns. Buffers are created,
   * adopted and destroyed with the next call of another kind, or with `flush`.
   */
  createBuffer(buffer: number, byteLength: number, host: boolean): void
  adoptBuffer(buffer: number, address: number, byteLength: number): void
  /** Resolves with the address. The memory stays until both `destroyBuffer` and `releaseShared`. */
  shareBuffer(buffer: number): Promise<number>
  releaseShared(buffer: number): void
  destroyBuffer(buffer: number): void
  submit(serial: number, words: Float64Array, data: Uint8Array): void
  flush(): void
  mappedRange(buffer: number, byteOffset: number, byteLength: number): ArrayBuffer
  unmap(buffer: number, write: boolean): void
  fence(): Promise<void>
  settled(): Promise<void>
  /** Resolves when the GPU has completed the commands before, even if the queue is lost. */
  left(): Promise<void>
  close(): Promise<void>
}

export interface NativeQueueKernel {
  readonly image: Uint8Array<ArrayBuffer>
  readonly entry: string
  readonly block: readonly [number, number, number]
  readonly dynamicSharedByteLength: number
  /**
   * For each parameter, twice the position of its binding, plus 1 if it is the binding's length instead of
   * its address. Twice `bindings` stands for the address of the queue's stop word, 1 more for the address of
   * the workgroup counts, and 2 more for the maximum count.
   */
  readonly parameters: readonly number[]
  readonly bindings: number
}

/** Memory of a GPU; the host's side of a transfer is dense and row-major. */
export interface NativeRegion {
  readonly gpu: number
  readonly address: number
  readonly rowByteLength: number
  readonly rows: number
  readonly rowByteStride: number
}

/** Memory of a GPU that a run reads back after its last launch. */
export interface CollectedRange {
  readonly gpu: number
  readonly address: number
  readonly byteLength: number
  /** Zeroed before the first launch. */
  readonly clear: boolean
}

export interface NativeRunRequest {
  /** Graphs that start together once, before the clock starts. */
  readonly before: readonly number[]
  /** The graphs of one step start together, `count` times in a row; steps follow one another. */
  readonly steps: readonly { readonly graphs: readonly number[]; readonly count: number }[]
  /** The addresses to which `uniforms` is copied before the first launch. */
  readonly uniformTargets: readonly { readonly gpu: number; readonly address: number }[]
  readonly uniforms?: Uint8Array<ArrayBuffer>
  readonly collect: readonly CollectedRange[]
  /** One word; 1 ends the run after the launches in flight, 2 also tells their kernels to leave. */
  readonly abortWord: Int32Array<ArrayBuffer>
  /**
   * The time after the first launch at which the kernels are signalled to leave; once they have left, the run
   * rejects with `timeout`.
   */
  readonly limitSeconds?: number | undefined
}

export interface NativeRunOutcome {
  readonly seconds: number
  readonly launches: number
  readonly collected: readonly Uint8Array<ArrayBuffer>[]
}

const cudaPackage: AddonPackage = {
  name: '@tandem-gpu/backend-cuda',
  moduleUrl: import.meta.url,
  backend: 'cuda()',
}

const load = addonLoader<NativeAddon>(cudaPackage)
let isWatchingExit = false

/** The addon, or the reason why it does not load here. Loads at the first call; never throws. */
export function nativeAddon(): NativeAddon | Error {
  const addon = load()
  if (!(addon instanceof Error) && !isWatchingExit && isMainThread) {
    isWatchingExit = true
    process.on('exit', () => addon.endWithJobs())
  }
  return addon
}

/**
 * Returns the absence of the backend if the addon does not load. Throws `unsupported` for a broken
 * installation: a group that requested CUDA must not silently continue without it.
 */
export function addonAbsence(error: Error, platform?: string): Absence {
  const { kind, reason, remedy } = addonFailure(cudaPackage, error, platform)
  if (kind === 'foreign') return { code: 'unsupported', reason, remedy }
  if (kind === 'skipped') return { code: 'unsupported', reason, remedy, missing: 'addon' }
  throw new GpuError('unsupported', `${reason} ${remedy}`, { cause: error })
}
