import {
  type CommandQueue,
  type CommandQueueOptions,
  commandWords,
  type KernelForm,
  type QueueMessage,
} from '../backend/command-queue.ts'
import type { KernelSource } from '../backend/kernel-source.ts'
import { GpuError, isGpuError } from '../errors.ts'
import { sliceMilliseconds } from './reference-execution.ts'
import type { ReferenceAllocation, ReferenceHandles, ReferenceKernelHandle } from './reference-handles.ts'

/** What a queue asks of its runtime. */
export interface QueueHost {
  /** Does `work` after all earlier work of the runtime. */
  inOrder<R>(work: () => Promise<R>): Promise<R>
  compile(source: KernelSource): ReferenceKernelHandle['kernel']
  /** Undefined if the device has too little memory. */
  take(byteLength: number): ReferenceAllocation | undefined
  giveBack(allocation: ReferenceAllocation): void
  /** Makes it an allocation of the runtime's; `free` lets it go. */
  share(allocation: ReferenceAllocation): void
  /** Throws if the memory has been freed. */
  bytes(allocation: ReferenceAllocation): Uint8Array<ArrayBuffer>
}

interface QueueBuffer {
  readonly allocation: ReferenceAllocation
  readonly byteOffset: number
  readonly byteLength: number
  readonly isAdopted: boolean
  /** Copies that the caller has, and where they belong. */
  readonly ranges: { readonly byteOffset: number; readonly reference: WeakRef<ArrayBuffer> }[]
}

/** After so many accesses of a kernel the clock is read: whether a submit takes too long. */
const accessesPerCheck = 4096

/**
 * A command queue on the CPU. It notices that a submit takes too long between commands and when a kernel
 * accesses a binding.
 */
export class ReferenceCommandQueue implements CommandQueue<ReferenceHandles> {
  readonly #host: QueueHost
  readonly #options: CommandQueueOptions
  readonly #kernels = new Map<number, { source: KernelSource; kernel: ReferenceKernelHandle['kernel'] }>()
  readonly #buffers = new Map<number, QueueBuffer>()
  /** Numbers of buffers that found no memory. */
  readonly #withoutMemory = new Set<number>()
  #lost: GpuError | undefined

  constructor(host: QueueHost, options: CommandQueueOptions) {
    this.#host = host
    this.#options = options
  }

  async compile(number: number, source: KernelSource, _form: KernelForm): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost
    this.#kernels.set(number, { source, kernel: this.#host.compile(source) })
  }

  createBuffer(number: number, byteLength: number, _memory: 'device' | 'host'): void {
    if (this.#lost !== undefined) return
    const allocation = this.#host.take(byteLength)
    if (allocation !== undefined)
      this.#buffers.set(number, { allocation, byteOffset: 0, byteLength, isAdopted: false, ranges: [] })
    else {
      this.#withoutMemory.add(number)
      const message = `A buffer needs ${byteLength} bytes, which the device does not have.`
      this.#later({ kind: 'out-of-memory', buffer: number, message })
    }
  }

  adoptBuffer(number: number, allocation: ReferenceAllocation, byteOffset: number, byteLength: number): void {
    this.#buffers.set(number, { allocation, byteOffset, byteLength, isAdopted: true, ranges: [] })
  }

  async shareBuffer(number: number): Promise<ReferenceAllocation> {
    if (this.#lost !== undefined) throw this.#lost
    this.#requireMemory(number)
    const { allocation } = this.#buffer(number)
    this.#host.share(allocation)
    return allocation
  }

  #requireMemory(number: number): void {
    if (this.#withoutMemory.has(number))
      throw new GpuError('out-of-memory', `Buffer ${number} of queue "${this.#options.label}" has no memory.`)
  }

  destroyBuffer(number: number): void {
    void this.#host.inOrder(async () => {
      const buffer = this.#buffers.get(number)
      this.#buffers.delete(number)
      if (buffer !== undefined && !buffer.isAdopted) this.#host.giveBack(buffer.allocation)
    })
  }

  submit(serial: number, words: Float64Array, data: Uint8Array): void {
    if (this.#lost !== undefined) return
    const [ownWords, ownData] = [words.slice(), data.slice()]
    void this.#host.inOrder(() => this.#execute(serial, ownWords, ownData))
  }

  map(number: number, _byteOffset: number, _byteLength: number): Promise<void> {
    return this.#inOrder(() => {
      this.#requireMemory(number)
    })
  }

  mappedRange(number: number, byteOffset: number, byteLength: number): ArrayBuffer {
    const buffer = this.#buffer(number)
    const bytes = this.#bytes(buffer).slice(byteOffset, byteOffset + byteLength)
    buffer.ranges.push({ byteOffset, reference: new WeakRef(bytes.buffer) })
    return bytes.buffer
  }

  unmap(number: number, write: boolean): void {
    const buffer = this.#buffer(number)
    for (const { byteOffset, reference } of buffer.ranges.splice(0)) {
      const arrayBuffer = reference.deref()
      if (arrayBuffer === undefined || arrayBuffer.byteLength === 0) continue
      if (write) this.#bytes(buffer).set(new Uint8Array(arrayBuffer), byteOffset)
      structuredClone(arrayBuffer, { transfer: [arrayBuffer] })
    }
  }

  fence(): Promise<void> {
    return this.#inOrder(() => {})
  }

  settled(): Promise<void> {
    return this.#inOrder(() => {})
  }

  close(): Promise<void> {
    return this.#host.inOrder(async () => {
      for (const { allocation, isAdopted } of this.#buffers.values())
        if (!isAdopted) this.#host.giveBack(allocation)
      this.#buffers.clear()
      this.#kernels.clear()
    })
  }

  /** The devices are lost, or a command fails. */
  lose(error: GpuError): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    this.#later({ kind: 'lost', error })
  }

  async #inOrder(work: () => void): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost
    await this.#host.inOrder(async () => {
      if (this.#lost !== undefined) throw this.#lost
      work()
    })
  }

  async #execute(serial: number, words: Float64Array, data: Uint8Array): Promise<void> {
    const { timeoutSeconds = Number.POSITIVE_INFINITY, label } = this.#options
    const deadline = performance.now() + timeoutSeconds * 1000
    const requireTime = () => {
      if (performance.now() > deadline)
        throw new GpuError(
          'timeout',
          `A submit to queue "${label}" ran longer than its limit of ${timeoutSeconds} s.`,
        )
    }
    const list = new CommandReader(words)
    let sliceEnd = performance.now() + sliceMilliseconds
    let saidSkipped = false
    try {
      while (!list.ended && this.#lost === undefined) {
        const without = this.#run(list, data, requireTime)
        if (without !== undefined && !saidSkipped) {
          saidSkipped = true
          this.#later({ kind: 'skipped', serial, buffer: without })
        }
        requireTime()
        if (performance.now() > sliceEnd) {
          await new Promise((resolve) => setTimeout(resolve, 0))
          sliceEnd = performance.now() + sliceMilliseconds
        }
      }
    } catch (error) {
      this.lose(isGpuError(error) ? error : new GpuError('driver', 'A command fails.', { cause: error }))
    }
  }

  /** Runs the next command, or returns the number of a buffer in it that has no memory. */
  #run(list: CommandReader, data: Uint8Array, requireTime: () => void): number | undefined {
    const kind = list.next()
    switch (kind) {
      case commandWords.dispatch:
      case commandWords.dispatchIndirect: {
        const { source, kernel } = this.#kernels.get(list.next())!
        const ranges: Range[] = []
        let workgroups: [number, number, number]
        let largest = Number.POSITIVE_INFINITY
        const indirect = kind === commandWords.dispatchIndirect
        if (indirect) {
          ranges.push({ buffer: list.next(), byteOffset: list.next(), byteLength: 12 })
          largest = list.next()
        }
        workgroups = indirect ? [0, 0, 0] : [list.next(), list.next(), list.next()]
        for (const _ of source.reflection.bindings) ranges.push(list.range())
        const without = this.#withoutMemoryIn(ranges)
        if (without !== undefined) return without
        if (indirect) {
          const counts = this.#range(ranges.shift()!).slice()
          const view = new DataView(counts.buffer)
          workgroups = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number]
          if (workgroups.some((count) => count > largest)) return undefined
        }
        const bound = source.reflection.bindings.map(
          ({ group, binding }, index) => [`${group}.${binding}`, this.#range(ranges[index]!)] as const,
        )
        let accesses = 0
        const onAccess = () => {
          accesses++
          if (accesses % accessesPerCheck === 0) requireTime()
        }
        kernel.run({ workgroups, bindings: new Map(bound), onAccess })
        return undefined
      }
      case commandWords.copy: {
        const [source, from, target, to, byteLength] = list.words(5)
        const ranges = [
          { buffer: source!, byteOffset: from!, byteLength: byteLength! },
          { buffer: target!, byteOffset: to!, byteLength: byteLength! },
        ] as const
        const without = this.#withoutMemoryIn(ranges)
        if (without === undefined) this.#range(ranges[1]).set(this.#range(ranges[0]))
        return without
      }
      case commandWords.clear: {
        const range = list.range()
        const without = this.#withoutMemoryIn([range])
        if (without === undefined) this.#range(range).fill(0)
        return without
      }
      case commandWords.write: {
        const [buffer, byteOffset, dataOffset, byteLength] = list.words(4)
        const range = { buffer: buffer!, byteOffset: byteOffset!, byteLength: byteLength! }
        const without = this.#withoutMemoryIn([range])
        if (without === undefined)
          this.#range(range).set(data.subarray(dataOffset!, dataOffset! + byteLength!))
        return without
      }
      case commandWords.timestamp: {
        const range = { buffer: list.next(), byteOffset: list.next(), byteLength: 8 }
        const without = this.#withoutMemoryIn([range])
        if (without === undefined) {
          const { buffer, byteOffset } = this.#range(range)
          new DataView(buffer).setBigUint64(byteOffset, process.hrtime.bigint(), true)
        }
        return without
      }
      default:
        throw new TypeError(`there is no command ${kind}`)
    }
  }

  #withoutMemoryIn(ranges: readonly Range[]): number | undefined {
    return ranges.find(({ buffer }) => this.#withoutMemory.has(buffer))?.buffer
  }

  #buffer(number: number): QueueBuffer {
    const buffer = this.#buffers.get(number)
    if (buffer === undefined) throw new TypeError(`queue "${this.#options.label}" has no buffer ${number}`)
    return buffer
  }

  #bytes({ allocation, byteOffset, byteLength, isAdopted }: QueueBuffer): Uint8Array<ArrayBuffer> {
    const bytes = isAdopted ? this.#host.bytes(allocation) : allocation.bytes
    return bytes.subarray(byteOffset, byteOffset + byteLength)
  }

  #range({ buffer, byteOffset, byteLength }: Range): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes(this.#buffer(buffer))
    if (byteOffset + byteLength > bytes.length)
      throw new TypeError(
        `bytes ${byteOffset} to ${byteOffset + byteLength} of buffer ${buffer}, which has ${bytes.length}`,
      )
    return bytes.subarray(byteOffset, byteOffset + byteLength)
  }

  #later(message: QueueMessage): void {
    queueMicrotask(() => this.#options.onMessage(message))
  }
}

interface Range {
  readonly buffer: number
  readonly byteOffset: number
  readonly byteLength: number
}

/** Goes through the words of a list. */
class CommandReader {
  readonly #words: Float64Array
  #at = 0

  constructor(words: Float64Array) {
    this.#words = words
  }

  get ended(): boolean {
    return this.#at === this.#words.length
  }

  next(): number {
    const word = this.#words[this.#at++]
    if (word === undefined) throw new TypeError('the list of commands ends too early')
    return word
  }

  words(count: number): number[] {
    return Array.from({ length: count }, () => this.next())
  }

  range(): Range {
    return { buffer: this.next(), byteOffset: this.next(), byteLength: this.next() }
  }
}
