import type { CommandQueue, KernelForm, QueueMessage } from '../backend/command-queue.ts'
import type { FrontEndCache } from '../backend/front-end-cache.ts'
import type { KernelSource } from '../backend/kernel-source.ts'
import { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { type ElementType, elementByteLength, requireElementType } from '../buffers/element-type.ts'
import { bufferOf, notAView } from '../buffers/owned-buffer.ts'
import { shapeRegion } from '../buffers/view.ts'
import { describedValue } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import type { BufferView, Device, DeviceBuffer } from '../group/device.ts'
import { GroupDevice } from '../group/group-device.ts'
import { belongsElsewhere, type GroupState, requireTimeoutSeconds } from '../group/group-state.ts'
import { byteRegion, isContiguous, regionByteLength } from '../plan/byte-region.ts'

/** Options of `openDeviceCommands`. */
export interface DeviceCommandsOptions {
  readonly label: string
  /** See `CommandQueueOptions.timeoutSeconds`. */
  readonly timeoutSeconds?: number | undefined
  readonly onMessage: (message: QueueMessage) => void
  /** Makes deferred calls; called before any other call of the group. */
  readonly flush: () => void
}

/** Memory of the group that contains a buffer of a command queue. */
export interface AdoptedRange {
  /** The same object for all ranges of one buffer of the group. */
  readonly memory: object
  readonly byteOffset: number
  readonly byteLength: number
}

/** The error of calls after `close`. */
const goneError = () => new GpuError('device-lost', 'The device no longer accepts commands.')

/**
 * The command queue of one device. Its calls take turns with those of the device's group: each takes effect
 * after all earlier calls of both. If no call waits for its turn, a call reaches the runtime immediately.
 * After the group has ended, calls do nothing and promises reject with `device-lost`. See `CommandQueue` for
 * the meaning of the calls.
 */
export class DeviceCommands {
  readonly device: Device
  readonly #group: GroupState
  readonly #queue: CommandQueue
  readonly #stopGathering: () => void
  /** Buffers of the group whose memory buffers of the queue use, by number in the queue. */
  readonly #adopted = new Map<number, OwnedDeviceBuffer>()
  #closing: Promise<void> | undefined

  constructor(device: Device, group: GroupState, queue: CommandQueue, flush: () => void) {
    this.device = device
    this.#group = group
    this.#queue = queue
    this.#stopGathering = group.turns.gather(flush)
  }

  get frontEndCache(): FrontEndCache | undefined {
    return this.#queue.frontEndCache
  }

  compile(kernel: number, source: KernelSource, form: KernelForm): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(goneError())
    return this.#group.guard(() => this.#queue.compile(kernel, source, form))
  }

  createBuffer(buffer: number, byteLength: number, memory: 'device' | 'host'): void {
    if (this.#usable) this.#queue.createBuffer(buffer, byteLength, memory)
  }

  destroyBuffer(buffer: number): void {
    const adopted = this.#adopted.get(buffer)
    this.#adopted.delete(buffer)
    this.#pass([], () => this.#queue.destroyBuffer(buffer), adopted)
  }

  /**
   * Takes its turn now, but waits until all `needs` have settled, and is dropped if one of them rejects. The
   * caller may change `words` and `data` once it returns.
   */
  submit(needs: readonly Promise<unknown>[], serial: number, words: Float64Array, data: Uint8Array): void {
    if (needs.length === 0 && this.#group.turns.free) {
      this.#pass([], () => this.#queue.submit(serial, words, data))
      return
    }
    const kept = { words: words.slice(), data: data.slice() }
    let isDropped = false
    for (const need of needs)
      need.catch(() => {
        isDropped = true
      })
    this.#pass(needs, () => {
      if (!isDropped) this.#queue.submit(serial, kept.words, kept.data)
    })
  }

  map(buffer: number, byteOffset: number, byteLength: number): Promise<void> {
    return this.#enqueue(() => this.#queue.map(buffer, byteOffset, byteLength))
  }

  mappedRange(buffer: number, byteOffset: number, byteLength: number): ArrayBuffer {
    return this.#queue.mappedRange(buffer, byteOffset, byteLength)
  }

  unmap(buffer: number, write: boolean): void {
    this.#queue.unmap(buffer, write)
  }

  fence(): Promise<void> {
    return this.#enqueue(() => this.#queue.fence())
  }

  settled(): Promise<void> {
    return this.#enqueue(() => this.#queue.settled())
  }

  /**
   * Creates a buffer over a view's memory, which is kept until `destroyBuffer`. The view must be contiguous,
   * of this device, begin at a multiple of 256 bytes and be a multiple of 4 bytes long, not empty. Throws
   * `validation`.
   */
  adopt(buffer: number, view: BufferView): AdoptedRange {
    this.#group.requireAlive()
    const owner = bufferOf(view)
    const what = 'The view for a GPUBuffer'
    if (!(owner instanceof OwnedDeviceBuffer)) throw invalid(notAView(what, 'device', view))
    if (owner.group !== this.#group)
      throw invalid(`${what}, ${owner.name}, ${belongsElsewhere(owner.group, this.#group)}`)
    if (owner.destroyed) throw invalid(`${what}, ${owner.name}, is destroyed.`)
    if (owner.device !== this.device)
      throw invalid(
        `${what}, ${owner.name}, is on device ${owner.device.ordinal}, not on device ${this.device.ordinal}.`,
      )
    if (owner.allocation === undefined)
      throw invalid(
        `${what}, ${owner.name}, has no memory of its own: it is empty or is scratch of a program.`,
      )
    const region = byteRegion(0, view, owner.elementByteLength)
    const byteLength = regionByteLength(region)
    if (!isContiguous(region) || region.byteOffset % 256 !== 0 || byteLength % 4 !== 0 || byteLength === 0)
      throw invalid(
        `${what} must be contiguous and not empty, start at a multiple of 256 bytes, and have a length that is a multiple of 4 bytes; the view of ${owner.name} has ${view.rows} x ${view.columns} elements with leading dimension ${view.stride}, ${byteLength} bytes from byte ${region.byteOffset}.`,
      )
    owner.retain()
    this.#adopted.set(buffer, owner)
    this.#queue.adoptBuffer(buffer, owner.allocation, region.byteOffset, byteLength)
    return { memory: owner, byteOffset: region.byteOffset, byteLength }
  }

  /**
   * A buffer of the group over the memory of a buffer of the queue, which has not been shared before. It does
   * not count as a leak if it is not destroyed. Rejects with `out-of-memory` if the buffer has no memory.
   */
  async share<T extends ElementType>(
    buffer: number,
    type: T,
    byteLength: number,
    label: string,
  ): Promise<DeviceBuffer<T>> {
    requireElementType(type, `The view of "${label}"`)
    this.#group.requireAlive()
    const allocation = await this.#group.guard(() => this.#queue.shareBuffer(buffer))
    const region = shapeRegion(byteLength / elementByteLength[type], `buffer "${label}"`)
    const shared = new OwnedDeviceBuffer(this.#group, this.device, type, region, label, allocation, false)
    this.#group.resources.delete(shared)
    return shared
  }

  /** Frees the queue's resources when the calls before it are complete. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stopGathering()
    const adopted = [...this.#adopted.values()]
    this.#adopted.clear()
    try {
      await this.#group.turns.enqueue(adopted, () => this.#queue.close())
    } catch {
      // The group has ended, and its runtime frees everything itself.
    }
    for (const buffer of adopted) buffer.release()
  }

  get #usable(): boolean {
    return this.#closing === undefined && this.#group.alive
  }

  #pass(needs: readonly Promise<unknown>[], call: () => void, adopted?: OwnedDeviceBuffer): void {
    if (!this.#usable) {
      adopted?.release()
      return
    }
    this.#group.turns.pass(needs, () => {
      if (this.#group.alive) call()
      adopted?.release()
    })
  }

  async #enqueue<R>(call: () => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw goneError()
    return this.#group.turns.request(call)
  }
}

/**
 * Opens a command queue on a device of a group. Throws `validation` if the value is not a device of a group or
 * the time limit is not a number above 0, and `unsupported` if the backend has no command queues or the group has several processes.
 */
export function openDeviceCommands(device: Device, options: DeviceCommandsOptions): DeviceCommands {
  if (!(device instanceof GroupDevice))
    throw invalid(`A device is ${describedValue(device)}; it must be one of a group's devices.`)
  const { state } = device
  state.requireAlive()
  const { runtime } = state
  if (runtime.openCommandQueue === undefined || state.rankCount > 1)
    throw new GpuError(
      'unsupported',
      `Group "${state.label}" can only run recorded programs: its backend does not support command queues${state.rankCount > 1 ? ' over several processes.' : '. cuda() does, and so does, without a GPU, referenceBackend() of @tandem-gpu/core/testing.'}`,
    )
  const { label, timeoutSeconds, onMessage, flush } = options
  if (timeoutSeconds !== undefined) requireTimeoutSeconds(timeoutSeconds, `command queue "${label}"`)
  const queue = runtime.openCommandQueue(device.ordinal, { label, timeoutSeconds, onMessage })
  return new DeviceCommands(device, state, queue, flush)
}
