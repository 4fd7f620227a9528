import type { LiveHandles, LostInfo } from '@tandem-gpu/core'
import { GpuError, isGpuError } from '@tandem-gpu/core'
import {
  type AllocationRegion,
  type CommandQueueOptions,
  type ExecutionOptions,
  type ExecutionResult,
  type KernelForm,
  type KernelSource,
  kernelKey,
  type PlanCommand,
  type PlanPart,
  type Runtime,
  type Span,
} from '@tandem-gpu/core/backend'
import type { CudaAdapter } from './adapters.ts'
import { type ClockOffsets, measureClocks, spansFrom, stampWords } from './clock-calibration.ts'
import { CudaCommandQueue, type QueueRuntime } from './cuda-command-queue.ts'
import { type CudaExecutable, graphForms } from './cuda-executable.ts'
import type { CudaKernel, Translate, Translated } from './cuda-kernel.ts'
import type { CudaAllocation, CudaHandles, RecordedPlan } from './cuda-plan.ts'
import { isNativeError, toGpuError } from './driver-error.ts'
import type { GraphHandles } from './graph-cache.ts'
import { allocateHost, type CudaHostAllocation, freeHost } from './host-memory.ts'
import { internalKernels } from './internal-kernels.ts'
import type { KernelCompiler } from './kernel-compiler.ts'
import type { Lowering } from './lowering.ts'
import type { NativeGroup, NativeRegion, NativeRunRequest } from './native-addon.ts'
import { PhysicalGpus } from './physical-gpus.ts'
import type { SharedMemory } from './shared-memory.ts'
import { trapError } from './trap-record.ts'

export interface CudaRuntimeOptions {
  readonly native: NativeGroup
  readonly adapters: readonly CudaAdapter[]
  /** The physical GPU of each device; virtual devices of one adapter share a GPU. */
  readonly gpuOfDevice: readonly number[]
  readonly compiler: KernelCompiler
  readonly translate: Translate
  /** If false, kernels cannot access other devices' memory, and GPUs do not copy to each other directly. */
  readonly peerAccess: boolean
  /** How programs over several GPUs become graphs. */
  readonly lowering: Lowering
  readonly label: string
  /** Whether other libraries may use addresses of its memory. */
  readonly addressable?: boolean | undefined
}

/** Change this if the same translator would give `Translate` another result. */
const translationFormat = '1'

/** Kernels that were told to leave do so within milliseconds; what cannot be told, such as a copy, may take longer. */
const longestLeavingMilliseconds = 10_000

/** All open runtimes: a fault in one of them loses the devices of all. */
const openRuntimes = new Set<{ lose(error: GpuError): void }>()

/** The handles of a runtime whose executables have type `E`. */
export interface RuntimeHandles<E extends CudaExecutable> extends CudaHandles {
  readonly executable: E
}

/**
 * Open CUDA devices; core's `Runtime` defines the contract. All driver calls are made on the group's native
 * thread, in call order. `LocalRuntime` serves one process; `linked-runtimes.ts` has the runtimes that span
 * processes.
 */
export abstract class CudaRuntime<E extends CudaExecutable, C extends PlanPart = PlanCommand>
  implements Runtime<RuntimeHandles<E>, C>
{
  readonly devices: readonly CudaAdapter[]
  readonly lost: Promise<LostInfo>
  readonly #resolveLost: (info: LostInfo) => void
  protected readonly options: CudaRuntimeOptions
  protected readonly group: NativeGroup
  protected readonly gpus: PhysicalGpus
  readonly #allocations = new Set<CudaAllocation>()
  readonly #hostAllocations = new Set<CudaHostAllocation>()
  readonly #kernels = new Set<CudaKernel>()
  readonly #executables = new Set<E>()
  readonly #queues = new Set<CudaCommandQueue>()
  #clocks: ClockOffsets | undefined
  protected lostError: GpuError | undefined
  protected abandoned = false
  /** The ends of work that was told to leave. */
  readonly #leaving = new Set<Promise<void>>()
  #disposed: Promise<readonly string[]> | undefined

  /** `shared` is given if other processes have the GPUs from number 1 on. */
  constructor(options: CudaRuntimeOptions, shared?: SharedMemory) {
    this.options = options
    this.group = options.native
    this.devices = options.adapters
    this.gpus = new PhysicalGpus(
      options.native,
      options.gpuOfDevice,
      options.adapters,
      options.peerAccess,
      shared,
    )
    let resolveLost!: (info: LostInfo) => void
    this.lost = new Promise((resolve) => {
      resolveLost = resolve
    })
    this.#resolveLost = resolveLost
    openRuntimes.add(this)
  }

  canAccessPeer(reader: number, owner: number): boolean {
    return this.gpus.canAccessPeer(reader, owner)
  }

  async allocate(
    device: number,
    byteLength: number,
    { label, zero }: { label: string; zero: boolean },
  ): Promise<CudaAllocation> {
    const gpu = this.gpus.gpuOf(device)
    const address = await this.guard(`Allocating ${byteLength} bytes for '${label}'`, () =>
      this.gpus.memory.allocate(gpu, byteLength, zero),
    )
    const allocation: CudaAllocation = { device, byteLength, gpu, address }
    this.#allocations.add(allocation)
    return allocation
  }

  free(allocation: CudaAllocation): void {
    if (!this.#allocations.delete(allocation) || this.#disposed !== undefined) return
    if (allocation.release === undefined) this.gpus.memory.free(allocation.address)
    else allocation.release()
  }

  openCommandQueue(device: number, options: CommandQueueOptions): CudaCommandQueue {
    const gpu = this.gpus.gpuOf(device)
    this.options.compiler.prepare()
    const internal = [internalKernels.copy16, internalKernels.scatter, internalKernels.stamp]
    const runtime: QueueRuntime = {
      gpu,
      frontEndCache: this.options.compiler.frontEndCache,
      open: (timeoutSeconds, onMessage) => {
        const kernels = internal.map((entry) => this.gpus.internalKernel(entry, gpu))
        return this.group.openQueue(this.gpus.nextId(), gpu, timeoutSeconds, kernels, onMessage)
      },
      translate: (source, form) => this.#translate(source, [this.devices[device]!.architecture], form),
      image: (translated, label) =>
        this.options.compiler.compile(translated, this.devices[device]!.architecture, label),
      failed: (error, doing) => this.translated(error, doing),
      leaves: (left) => this.#expectToLeave(left),
      closed: (queue) => this.#queues.delete(queue),
      share: (memory) => {
        const allocation: CudaAllocation = { device, gpu, ...memory }
        this.#allocations.add(allocation)
        return allocation
      },
    }
    const queue = new CudaCommandQueue(runtime, options)
    this.#queues.add(queue)
    return queue
  }

  allocateHost(byteLength: number): CudaHostAllocation {
    const allocation = allocateHost(this.group, byteLength, (lock) =>
      this.guard(`Page-locking ${byteLength} bytes of host memory`, lock),
    )
    this.#hostAllocations.add(allocation)
    return allocation
  }

  freeHost(allocation: CudaHostAllocation): void {
    if (this.#disposed === undefined && this.#hostAllocations.delete(allocation))
      freeHost(this.group, allocation)
  }

  async compile(source: KernelSource): Promise<CudaKernel> {
    this.#throwIfLost()
    const architectures = this.#architectures()
    const translated = this.#translate(source, architectures)
    const { entryName, dynamicSharedByteLength } = translated
    const compiling = new Map<string, ReturnType<KernelCompiler['compile']>>()
    const imageFor = (architecture: string) => {
      const known = compiling.get(architecture)
      const image = known ?? this.options.compiler.compile(translated, architecture, source.label)
      compiling.set(architecture, image)
      return image
    }
    const images = await Promise.all(architectures.map(imageFor))
    const ids = architectures.map(() => this.gpus.nextId())
    try {
      await this.guard(`Loading kernel '${source.label}'`, () =>
        Promise.all(
          images.map((image, gpu) =>
            this.group.loadKernel(ids[gpu]!, gpu, image, entryName, dynamicSharedByteLength),
          ),
        ),
      )
    } catch (error) {
      // Some GPUs may have loaded the kernel before another failed.
      for (const id of ids) this.group.unloadKernel(id)
      throw error
    }
    const kernel: CudaKernel = {
      label: source.label,
      functionIds: ids,
      workgroupSize: translated.workgroupSize,
      dynamicSharedByteLength,
      parameters: translated.parameters,
      bindings: source.reflection.bindings,
      bounds: source.bounds,
      isStoppable: translated.isStoppable === true,
    }
    this.#kernels.add(kernel)
    return kernel
  }

  /** Throws `unsupported` if one of the architectures is too old for the kernel. */
  #translate(source: KernelSource, architectures: readonly string[], form?: KernelForm): Translated {
    const translated = this.#translation(source, form)
    const { minimumComputeCapability: minimum } = translated
    for (const architecture of architectures) {
      const number = Number(architecture.slice(3))
      if (minimum !== undefined && number < minimum[0] * 10 + minimum[1]) {
        throw new GpuError(
          'unsupported',
          `Kernel '${source.label}' needs compute capability ${minimum.join('.')}, but a GPU of the group has ${architecture}.`,
        )
      }
    }
    return translated
  }

  /** From the disk if a process has translated the same kernel before. */
  #translation(source: KernelSource, form: KernelForm = 'direct'): Translated {
    const { frontEndCache } = this.options.compiler
    const key = ['translation', translationFormat, kernelKey(source), source.label, form]
    const known = frontEndCache?.get(key)
    if (known !== undefined) return known as Translated
    const translated = this.options.translate(source, form)
    frontEndCache?.set(key, translated)
    return translated
  }

  releaseKernel(handle: CudaKernel): void {
    if (!this.#kernels.delete(handle) || this.#disposed !== undefined) return
    for (const id of handle.functionIds) this.group.unloadKernel(id)
  }

  async instantiate(plan: RecordedPlan<C>): Promise<E> {
    const executable = await this.guard(`Instantiating program '${plan.label}'`, async () => {
      for (const buffer of plan.buffers) {
        if (buffer.kind === 'host') await buffer.allocation.locked
      }
      const lowering = this.#architectures().every(hasScopedMemory) ? this.options.lowering : 'one-graph'
      return this.create(plan, lowering)
    })
    this.#executables.add(executable)
    return executable
  }

  /** `lowering` is the mode that the GPUs support, given the mode that the user requested. */
  protected abstract create(plan: RecordedPlan<C>, lowering: Lowering): Promise<E>

  release(executable: E): void {
    if (this.#executables.delete(executable) && this.#disposed === undefined) executable.release()
  }

  /**
   * `seconds` is measured by CUDA events on the first GPU's stream; across processes, the measurement begins
   * when the GPUs of all processes have reached the run. Profiling adds time stamps, so rates of profiled
   * runs mean nothing.
   */
  async run(executable: E, options: ExecutionOptions): Promise<ExecutionResult> {
    const { plan } = executable
    const { times, signal, profile = false, uniformBlock = plan.uniformBlock, timeoutSeconds } = options
    if (signal?.aborted)
      throw new GpuError('aborted', `The run of '${plan.label}' was aborted before it started.`)
    if (plan.commands.length === 0) return { seconds: 0, clock: 'device', ...(profile ? { spans: [] } : {}) }
    const abortWord = new Int32Array(1)
    const onAbort = () => {
      abortWord[0] = options.stopsKernels === true ? 2 : 1
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const ready: Promise<void>[] = []
    let request: NativeRunRequest | undefined
    const step = (graphs: GraphHandles, count: number) => {
      ready.push(graphs.ready)
      return { graphs: graphs.ids, count }
    }
    try {
      // Nothing is awaited before the run is queued: calls take effect in the order they are made.
      const outcome = this.guard(`Running program '${plan.label}'`, () => {
        const barrier = executable.barrier()
        const forms = graphForms(executable.commandCount, options)
        const sets = forms.map((form) => step(executable.graphs(form), form.launches))
        if (profile) sets.push(step(executable.profileGraphs(), 1))
        const steps = sets.flatMap((set, index) =>
          index === 0 || barrier === undefined ? [set] : [step(barrier, 1), set],
        )
        if (profile) steps.unshift(step(executable.startGraphs(), 1))
        const before = barrier ?? executable.startLine()
        if (before !== undefined) ready.push(before.ready)
        request = {
          before: before?.ids ?? [],
          steps,
          uniformTargets: executable.uniformTargets(uniformBlock),
          uniforms: uniformBlock,
          collect: [...executable.arena.trapRanges(), ...(profile ? executable.arena.stampRanges() : [])],
          abortWord,
          limitSeconds: timeoutSeconds,
        }
        return this.group.run(request)
      })
      // Marks a rejection as handled: an instantiation error, which is thrown below, is clearer than that of
      // a run without a graph.
      outcome.catch(() => {})
      this.began(outcome)
      await this.guard(`Instantiating program '${plan.label}'`, () => Promise.all(ready))
      const { seconds, collected } = await outcome
      const trapCount = executable.arena.trapRanges().length
      for (const records of collected.slice(0, trapCount)) {
        const error = trapError(plan, records)
        if (error !== undefined) throw error
      }
      if (!profile && trapCount === 0) this.ranWell(executable, times, request!)
      if (!profile) return { seconds, clock: 'device' }
      const spans = await this.#spans(executable, times - 1, collected.slice(trapCount))
      return { seconds, clock: 'device', spans }
    } catch (error) {
      throw this.failed(executable, error)
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Called when work has started; `outcome` settles when it ends. */
  protected began(_: Promise<unknown>): void {}

  /** Called after a successful run that can be repeated unchanged, without JavaScript. */
  protected ranWell(_executable: E, _times: number, _request: NativeRunRequest): void {}

  /** Returns the error with which a run that failed with `error` rejects. */
  protected failed(executable: E, error: unknown): unknown {
    executable.recover(isGpuError(error, 'aborted') || isGpuError(error, 'timeout'))
    return error
  }

  write(region: AllocationRegion<CudaAllocation>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.guard(`Writing ${bytes.length} bytes`, () => this.group.write(nativeRegion(region), bytes))
  }

  read(region: AllocationRegion<CudaAllocation>, into: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.guard(`Reading ${into.length} bytes`, () => this.group.read(nativeRegion(region), into))
  }

  live(): LiveHandles {
    return {
      allocations: this.#allocations.size,
      hostAllocations: this.#hostAllocations.size,
      kernels: this.#kernels.size,
      executables: this.#executables.size,
    }
  }

  dispose(kept?: ReadonlySet<CudaHostAllocation>): Promise<readonly string[]> {
    this.#disposed ??= this.#close(kept)
    return this.#disposed
  }

  /**
   * Work that was told to leave and does not would block its GPU, and the closing of the group, forever, so the
   * group is abandoned.
   */
  #expectToLeave(left: Promise<void>): void {
    const timer = setTimeout(() => this.abandon?.(), longestLeavingMilliseconds)
    timer.unref()
    const ended = left.catch(() => {}).then(() => clearTimeout(timer))
    const leaving = Promise.race([ended, this.lost.then(() => {})])
    this.#leaving.add(leaving)
    void leaving.then(() => this.#leaving.delete(leaving))
  }

  /** Stops waiting for work in flight; absent if the runtime cannot. */
  abandon?(): void

  async #close(kept?: ReadonlySet<CudaHostAllocation>): Promise<readonly string[]> {
    if (this.#leaving.size > 0) await Promise.all(this.#leaving)
    openRuntimes.delete(this)
    for (const allocation of this.#hostAllocations)
      if (kept?.has(allocation) !== true) freeHost(this.group, allocation)
    // Errors while closing lost devices add no information.
    const closing = this.group.close().catch(() => [])
    const failures = this.abandoned ? [] : await closing
    this.#allocations.clear()
    this.#hostAllocations.clear()
    this.#kernels.clear()
    this.#executables.clear()
    const message = `The group '${this.options.label}' has been destroyed.`
    this.lostError ??= new GpuError('device-lost', message)
    for (const queue of this.#queues) queue.lose(this.lostError)
    this.#resolveLost({ reason: 'destroyed', message })
    return failures
  }

  /** The architecture of each physical GPU of this process. */
  #architectures(): string[] {
    const architectures: string[] = []
    for (const [device, gpu] of this.options.gpuOfDevice.entries()) {
      if (this.gpus.isHere(gpu)) architectures[gpu] = this.devices[device]!.architecture
    }
    return architectures
  }

  async #spans(
    executable: E,
    repetition: number,
    collected: readonly Uint8Array<ArrayBuffer>[],
  ): Promise<Span[]> {
    const stamps = new Map(executable.gpus.map((gpu, index) => [gpu, stampWords(collected[index]!)]))
    const first = executable.gpus[0]
    if (first === undefined) return []
    this.#clocks ??= await this.guard('Calibrating clocks', () => measureClocks(this.gpus))
    const reference = this.#clocks.get(first) ?? 0
    const offsets = new Map([...this.#clocks].map(([gpu, offset]) => [gpu, offset - reference]))
    return spansFrom(
      executable.plan,
      repetition,
      (device) => this.gpus.gpuOf(device),
      (gpu) => stamps.get(gpu),
      stamps.get(first)![executable.startSlot]!,
      offsets,
    ).flatMap((span) => executable.recordedBy(span.command).map((command) => ({ ...span, command })))
  }

  #throwIfLost(): void {
    if (this.lostError !== undefined) throw this.lostError
  }

  /** Calls `body` at once, and translates the error if it rejects. */
  protected async guard<T>(doing: string, body: () => Promise<T>): Promise<T> {
    this.#throwIfLost()
    try {
      return await body()
    } catch (error) {
      throw this.translated(error, doing)
    }
  }

  /**
   * Turns native errors into GpuErrors. A fault destroys all contexts of the process, so every runtime loses
   * its devices; any other loss affects only this runtime.
   */
  protected translated(error: unknown, doing: string): unknown {
    const translated = toGpuError(error, doing)
    if (isGpuError(translated, 'device-lost')) {
      const fault = isNativeError(error) && error.nativeCode === 'device-lost'
      for (const runtime of fault ? [...openRuntimes] : [this]) runtime.lose(translated)
    }
    return translated
  }

  lose(error: GpuError): void {
    this.lostError ??= error
    for (const queue of this.#queues) queue.lose(error)
    this.#resolveLost({ reason: 'unknown', message: error.message })
  }
}

function nativeRegion({ allocation, byteOffset, ...rows }: AllocationRegion<CudaAllocation>): NativeRegion {
  return { gpu: allocation.gpu, address: allocation.address + byteOffset, ...rows }
}

/** True for Volta and newer. */
export function hasScopedMemory(architecture: string): boolean {
  return Number(architecture.slice(3)) >= 70
}
