import { GpuError } from '@tandem-gpu/core'
import type {
  CommandQueue,
  CommandQueueOptions,
  FrontEndCache,
  KernelForm,
  KernelSource,
} from '@tandem-gpu/core/backend'
import type { Translated } from './cuda-kernel.ts'
import type { CudaAllocation, CudaHandles } from './cuda-plan.ts'
import type { NativeQueue, NativeQueueListener } from './native-addon.ts'

/** The offset of a parameter's number from the number of its binding, or of the stop word. */
const behind: Readonly<Record<string, number>> = {
  'byte-length': 1,
  'workgroup-counts': 1,
  'most-workgroups': 2,
}

/** The services that a queue uses from its runtime. */
export interface QueueRuntime {
  readonly gpu: number
  readonly frontEndCache: FrontEndCache | undefined
  open(timeoutSeconds: number, onMessage: NativeQueueListener): NativeQueue
  translate(source: KernelSource, form: KernelForm): Translated
  /** Machine code for the queue's device. */
  image(translated: Translated, label: string): Promise<Uint8Array<ArrayBuffer>>
  /** Returns a native error as a GpuError; a fault loses the devices of all runtimes. */
  failed(error: unknown, doing: string): unknown
  /** `left` resolves when the work of a queue that was lost to its time limit has ended. */
  leaves(left: Promise<void>): void
  /** The runtime must not send the queue any more messages. */
  closed(queue: CudaCommandQueue): void
  share(buffer: { readonly address: number; readonly byteLength: number; release(): void }): CudaAllocation
}

/** A command queue whose commands the group's native thread puts into its GPU's stream. */
export class CudaCommandQueue implements CommandQueue<CudaHandles> {
  readonly #runtime: QueueRuntime
  readonly #native: NativeQueue
  readonly #options: CommandQueueOptions
  readonly #byteLengths = new Map<number, number>()
  readonly #withoutMemory = new Set<number>()
  #lost: GpuError | undefined
  #closed = false
  #flushes = false

  constructor(runtime: QueueRuntime, options: CommandQueueOptions) {
    this.#runtime = runtime
    this.#options = options
    this.#native = runtime.open(
      options.timeoutSeconds ?? 0,
      (kind, first, second, text, nativeCode, result) => {
        if (kind === 'out-of-memory') {
          this.#withoutMemory.add(first)
          options.onMessage({ kind, buffer: first, message: text })
        } else if (kind === 'skipped') options.onMessage({ kind, serial: first, buffer: second })
        else this.#failed(Object.assign(new Error(text), { nativeCode, result }))
      },
    )
  }

  get frontEndCache(): FrontEndCache | undefined {
    return this.#runtime.frontEndCache
  }

  async compile(kernel: number, source: KernelSource, form: KernelForm): Promise<void> {
    this.#throwIfLost()
    const translated = this.#runtime.translate(source, form)
    const { entryName: entry, workgroupSize: block, dynamicSharedByteLength, parameters } = translated
    const bindings = source.reflection.bindings.length
    const image = await this.#runtime.image(translated, source.label)
    await this.#guard(`Loading kernel '${source.label}'`, () =>
      this.#native.loadKernel(kernel, {
        image,
        entry,
        block,
        dynamicSharedByteLength,
        bindings,
        parameters: parameters.map(
          ({ bindingIndex = bindings, kind }) => 2 * bindingIndex + (behind[kind] ?? 0),
        ),
      }),
    )
  }

  createBuffer(buffer: number, byteLength: number, memory: 'device' | 'host'): void {
    if (this.#ended) return
    this.#byteLengths.set(buffer, byteLength)
    this.#native.createBuffer(buffer, byteLength, memory === 'host')
    this.#flushSoon()
  }

  adoptBuffer(buffer: number, allocation: CudaAllocation, byteOffset: number, byteLength: number): void {
    if (!this.#ended) this.#native.adoptBuffer(buffer, allocation.address + byteOffset, byteLength)
  }

  async shareBuffer(buffer: number): Promise<CudaAllocation> {
    const byteLength = this.#byteLengths.get(buffer)!
    const address = await this.#guard('Sharing a buffer', () => this.#native.shareBuffer(buffer))
    const release = () => this.#native.releaseShared(buffer)
    return this.#runtime.share({ address, byteLength, release })
  }

  destroyBuffer(buffer: number): void {
    this.#byteLengths.delete(buffer)
    this.#withoutMemory.delete(buffer)
    if (this.#closed) return
    this.#native.destroyBuffer(buffer)
    this.#flushSoon()
  }

  submit(serial: number, words: Float64Array, data: Uint8Array): void {
    if (!this.#ended) this.#native.submit(serial, words, data)
  }

  async map(buffer: number): Promise<void> {
    await this.fence()
    if (this.#withoutMemory.has(buffer))
      throw new GpuError('out-of-memory', `Buffer ${buffer} of queue "${this.#options.label}" has no memory.`)
  }

  mappedRange(buffer: number, byteOffset: number, byteLength: number): ArrayBuffer {
    return this.#native.mappedRange(buffer, byteOffset, byteLength)
  }

  unmap(buffer: number, write: boolean): void {
    if (!this.#closed) this.#native.unmap(buffer, write)
  }

  fence(): Promise<void> {
    return this.#guard('Waiting for commands', () => this.#native.fence())
  }

  settled(): Promise<void> {
    return this.#guard('Reading commands', () => this.#native.settled())
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#runtime.closed(this)
    const closed = this.#native.close().catch(() => {})
    // A kernel of a lost queue may never leave, so the queue's memory is freed with the group.
    if (this.#lost === undefined) await closed
  }

  /** Ensures that memory is freed, and that a lack of memory is reported, even if no other call follows. */
  #flushSoon(): void {
    if (this.#flushes) return
    this.#flushes = true
    setImmediate(() => {
      this.#flushes = false
      if (!this.#closed) this.#native.flush()
    })
  }

  /** Called when the devices are lost. */
  lose(error: GpuError): void {
    if (this.#lost !== undefined || this.#closed) return
    this.#lost = error
    queueMicrotask(() => this.#options.onMessage({ kind: 'lost', error }))
  }

  get #ended(): boolean {
    return this.#closed || this.#lost !== undefined
  }

  #throwIfLost(): void {
    if (this.#lost !== undefined) throw this.#lost
    if (this.#closed) throw new GpuError('device-lost', `Queue "${this.#options.label}" is closed.`)
  }

  async #guard<T>(doing: string, call: () => Promise<T>): Promise<T> {
    this.#throwIfLost()
    try {
      return await call()
    } catch (error) {
      // Reports the reason for the loss rather than the resulting error.
      throw this.#lost ?? this.#runtime.failed(error, doing)
    }
  }

  #failed(error: Error & { readonly nativeCode: string }): void {
    const { label, timeoutSeconds } = this.#options
    const translated =
      error.nativeCode === 'timeout'
        ? new GpuError(
            'timeout',
            `A submit to queue "${label}" ran longer than its limit of ${timeoutSeconds} s.`,
            { cause: error },
          )
        : (this.#runtime.failed(error, `Queue "${label}"`) as GpuError)
    if (this.#lost !== undefined || this.#closed) return
    // Set before the message, so that the queue is already lost when the message arrives.
    this.#lost = translated
    this.#options.onMessage({ kind: 'lost', error: translated })
    if (error.nativeCode === 'timeout') this.#runtime.leaves(this.#native.left())
  }
}
