import { isGpuError } from '@tandem-gpu/core'
import type { AdoptedRange } from '@tandem-gpu/core/backend'
import { ApiObject, named, type ObjectState, stateOf } from './api-object.ts'
import type { Channel } from './channel.ts'
import { GPUBufferUsage, GPUMapMode } from './constants.ts'
import { detach } from './detach.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { labelOf, member, required, toDictionary, toU32, toU64 } from './webidl.ts'

/** The internal state of a GPUBuffer. */
export interface BufferState extends ObjectState {
  readonly size: number
  readonly usage: number
  /** The number by which commands refer to the buffer. */
  readonly number: number
  /** Identifies the memory; buffers that may share bytes have the same object. */
  readonly memory: object
  /** Byte offset of the buffer in `memory`. */
  readonly memoryOffset: number
  destroyed: boolean
  /** False while the buffer is mapped or a valid mapping is pending. */
  unmapped: boolean
}

interface Mapping {
  readonly mode: 'read' | 'write' | 'creation'
  readonly start: number
  readonly end: number
  readonly ranges: { readonly start: number; readonly end: number; readonly arrayBuffer: ArrayBuffer }[]
}

/** A call of `mapAsync` that has not settled. */
interface PendingMapping {
  /** Whether it is valid. The queue can use the buffer while a call that is not valid waits to reject. */
  readonly isValid: boolean
  readonly abort: () => void
}

const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST } = GPUBufferUsage
const allUsages = Object.values(GPUBufferUsage).reduce((all, usage) => all | usage, 0)

/** The largest byte length of an ArrayBuffer. */
const longestMapping = 2 ** 33

/** Frees the memory of garbage-collected buffers, because many libraries never destroy theirs. */
const collected = new FinalizationRegistry<{ readonly channel: Channel; readonly number: number }>(
  ({ channel, number }) => channel.commands.destroyBuffer(number),
)

/** Keeps a buffer from being garbage-collected as long as a mapped range, which may be its memory, is in use. */
const owners = new WeakMap<ArrayBuffer, GPUBuffer>()

export class GPUBuffer extends ApiObject<BufferState> {
  readonly #own: BufferState
  #pending: PendingMapping | undefined
  #mapping: Mapping | undefined

  constructor(token: unknown, state: BufferState, label: string, isMapped: boolean) {
    super(token, state, label)
    this.#own = state
    if (isMapped) this.#map({ mode: 'creation', start: 0, end: state.size, ranges: [] })
  }

  get size(): number {
    return this.#own.size
  }

  get usage(): number {
    return this.#own.usage
  }

  get mapState(): 'unmapped' | 'pending' | 'mapped' {
    if (this.#mapping !== undefined) return 'mapped'
    return this.#pending === undefined ? 'unmapped' : 'pending'
  }

  async mapAsync(mode: number, offset: number = 0, size?: number): Promise<undefined> {
    const flags = toU32(mode, 'mode')
    const start = toU64(offset, 'offset')
    const length = size === undefined ? undefined : toU64(size, 'size')
    const state = this.#own
    const { device } = state
    if (this.mapState !== 'unmapped') {
      const message = `${named(this)} is ${this.#pending === undefined ? 'already mapped' : 'already being mapped'}.`
      device.invalid(message)
      throw new DOMException(message, 'OperationError')
    }
    const byteLength = length ?? Math.max(0, state.size - start)
    const problem = this.#mappingProblem(flags, start, byteLength)
    const aborted = this.#begin(problem === undefined)
    const pending = this.#pending
    const settle = device.expectMapping()
    try {
      if (device.isLost || problem !== undefined) {
        if (problem !== undefined) device.invalid(problem)
        // An unmap in the same turn of the event loop takes precedence.
        await Promise.race([aborted, new Promise<void>((resolve) => queueMicrotask(resolve))])
        if (device.isLost) throw new DOMException('The device was lost.', 'AbortError')
        throw new DOMException(problem, 'OperationError')
      }
      const { channel } = device
      channel.flush()
      const { commands } = channel
      const mapped = byteLength === 0 ? commands.fence() : commands.map(state.number, start, byteLength)
      await Promise.race([aborted, mapped.catch((error: unknown) => this.#rethrow(error))])
      if (this.#pending !== pending) await aborted
    } catch (error) {
      if (this.#pending === pending) {
        this.#pending = undefined
        this.#updateState()
      }
      throw error
    } finally {
      settle()
    }
    this.#pending = undefined
    const end = start + byteLength
    this.#map({ mode: flags === GPUMapMode.READ ? 'read' : 'write', start, end, ranges: [] })
    return undefined
  }

  getMappedRange(offset: number = 0, size?: number): ArrayBuffer {
    const start = toU64(offset, 'offset')
    const length = size === undefined ? undefined : toU64(size, 'size')
    const state = this.#own
    const byteLength = length ?? Math.max(0, state.size - start)
    const end = start + byteLength
    const mapping = this.#mapping
    const refuse = (reason: string) => new DOMException(`${named(this)} ${reason}`, 'OperationError')
    if (mapping === undefined) throw refuse('is not mapped.')
    if (start % 8 !== 0 || byteLength % 4 !== 0)
      throw refuse(
        `requires ranges that start at a multiple of 8 bytes and have a multiple of 4 bytes, not ${byteLength} bytes from byte ${start}.`,
      )
    if (start < mapping.start || end > mapping.end)
      throw refuse(
        `is mapped from byte ${mapping.start} to ${mapping.end}, which does not include bytes ${start} to ${end}.`,
      )
    const overlapped = mapping.ranges.find((range) => start < range.end && range.start < end)
    if (overlapped !== undefined)
      throw refuse(`has already returned bytes ${overlapped.start} to ${overlapped.end}.`)
    const arrayBuffer =
      mapping.mode === 'creation' || byteLength === 0
        ? new ArrayBuffer(byteLength)
        : state.device.channel.commands.mappedRange(state.number, start, byteLength)
    mapping.ranges.push({ start, end, arrayBuffer })
    owners.set(arrayBuffer, this)
    return arrayBuffer
  }

  unmap(): undefined {
    const state = this.#own
    const { device } = state
    const pending = this.#pending
    this.#pending = undefined
    pending?.abort()
    const mapping = this.#mapping
    this.#mapping = undefined
    this.#updateState()
    if (mapping === undefined) return undefined
    const { ranges, mode } = mapping
    for (const { arrayBuffer } of ranges) owners.delete(arrayBuffer)
    if (mode === 'creation') {
      const takes = state.valid && !state.destroyed && !device.isLost
      for (const { start, arrayBuffer } of ranges) {
        if (takes && arrayBuffer.byteLength > 0)
          device.channel.write(state.number, start, new Uint8Array(arrayBuffer))
        detach(arrayBuffer)
      }
      return undefined
    }
    for (const { start, end, arrayBuffer } of ranges) if (start === end) detach(arrayBuffer)
    if (ranges.some(({ start, end }) => end > start))
      device.channel.commands.unmap(state.number, mode === 'write')
    return undefined
  }

  destroy(): undefined {
    this.unmap()
    const state = this.#own
    if (state.destroyed) return undefined
    state.destroyed = true
    if (state.number === 0) return undefined
    collected.unregister(state)
    const { channel } = state.device
    channel.flush()
    channel.commands.destroyBuffer(state.number)
    onDestroy.get(this)?.()
    return undefined
  }

  /** Returns why the buffer cannot be mapped this way, or undefined if it can. */
  #mappingProblem(mode: number, start: number, byteLength: number): string | undefined {
    const { valid, destroyed, usage, size } = this.#own
    if (!valid) return `${named(this)} is invalid.`
    if (destroyed) return `${named(this)} is destroyed.`
    if (start % 8 !== 0 || byteLength % 4 !== 0)
      return `A mapping must start at a multiple of 8 bytes and have a multiple of 4 bytes, not ${byteLength} bytes from byte ${start}.`
    if (start + byteLength > size)
      return `Bytes ${start} to ${start + byteLength} are out of range for ${named(this)}, which has ${size} bytes.`
    if (mode !== GPUMapMode.READ && mode !== GPUMapMode.WRITE)
      return `The mode of mapAsync is ${mode}; it must be GPUMapMode.READ or GPUMapMode.WRITE.`
    if ((usage & (mode === GPUMapMode.READ ? MAP_READ : MAP_WRITE)) === 0)
      return `${named(this)} does not have the usage ${mode === GPUMapMode.READ ? 'MAP_READ' : 'MAP_WRITE'}.`
    return undefined
  }

  /** Throws the error of `mapAsync` for one of the command queue's. */
  #rethrow(error: unknown): never {
    if (isGpuError(error, 'out-of-memory'))
      throw new DOMException(`${named(this)} is invalid: it has no memory.`, 'OperationError')
    throw new DOMException(error instanceof Error ? error.message : String(error), 'AbortError')
  }

  /** Begins a pending mapping. The returned promise rejects when it is aborted. */
  #begin(isValid: boolean): Promise<never> {
    const aborted = new Promise<never>((_, reject) => {
      const abort = () =>
        reject(new DOMException(`${named(this)} was unmapped before its mapping completed.`, 'AbortError'))
      this.#pending = { isValid, abort }
    })
    aborted.catch(() => {})
    this.#updateState()
    return aborted
  }

  #map(mapping: Mapping): void {
    this.#mapping = mapping
    this.#updateState()
  }

  #updateState(): void {
    const state = this.#own
    state.unmapped = this.#mapping === undefined && this.#pending?.isValid !== true
    const { mapped } = state.device
    if (this.mapState === 'unmapped') mapped.delete(state)
    else if (!mapped.has(state)) mapped.set(state, new WeakRef(this))
  }
}

nameInterface(GPUBuffer)

/** Callbacks that run when a buffer is destroyed, for other holders of its memory. */
export const onDestroy = new WeakMap<GPUBuffer, () => void>()

export function createBuffer(device: DeviceState, given: unknown): GPUBuffer {
  const descriptor = toDictionary(given, 'The descriptor of createBuffer')
  const label = labelOf(descriptor)
  const isMapped = member(descriptor, 'mappedAtCreation', false, Boolean)
  const size = toU64(required(descriptor, 'size', 'the descriptor of createBuffer'), 'size')
  const usage = toU32(required(descriptor, 'usage', 'the descriptor of createBuffer'), 'usage')
  if (isMapped && size % 4 !== 0)
    throw new RangeError(
      `The size of a buffer that is mapped at creation must be a multiple of 4 bytes, not ${size}.`,
    )
  if (isMapped && size > longestMapping)
    throw new RangeError(`A buffer of ${size} bytes is too large to be mapped.`)
  const problem = descriptorProblem(device, size, usage)
  if (problem !== undefined) device.invalid(`createBuffer: ${problem}`)
  const exists = problem === undefined && !device.isLost
  const state = newState(device, size, usage, exists ? device.channel.number() : 0)
  state.valid = problem === undefined
  const buffer = new GPUBuffer(creation, state, label, isMapped)
  if (!exists) return buffer
  const byteLength = Math.max(4, Math.ceil(size / 4) * 4)
  const memory = (usage & (MAP_READ | MAP_WRITE)) === 0 ? 'device' : 'host'
  device.channel.commands.createBuffer(state.number, byteLength, memory)
  device.expectMemory(state.number, state)
  watch(buffer)
  return buffer
}

/** Creates a buffer over memory that it does not own. */
export function createAdoptedBuffer(
  device: DeviceState,
  number: number,
  { memory, byteOffset, byteLength }: AdoptedRange,
  usage: number,
  label: string,
): GPUBuffer {
  const state = { ...newState(device, byteLength, usage, number), memory, memoryOffset: byteOffset }
  const buffer = new GPUBuffer(creation, state, label, false)
  watch(buffer)
  return buffer
}

function newState(device: DeviceState, size: number, usage: number, number: number): BufferState {
  return {
    device,
    valid: true,
    size,
    usage,
    number,
    memory: {},
    memoryOffset: 0,
    destroyed: false,
    unmapped: true,
  }
}

function watch(buffer: GPUBuffer): void {
  const state = stateOf(buffer)
  collected.register(buffer, { channel: state.device.channel, number: state.number }, state)
}

function descriptorProblem(device: DeviceState, size: number, usage: number): string | undefined {
  if (usage === 0 || (usage & ~allUsages) !== 0)
    return `the usage is 0x${usage.toString(16)}, which is not a valid combination of GPUBufferUsage flags.`
  if ((usage & MAP_READ) !== 0 && (usage & ~(MAP_READ | COPY_DST)) !== 0)
    return 'MAP_READ can only be combined with COPY_DST.'
  if ((usage & MAP_WRITE) !== 0 && (usage & ~(MAP_WRITE | COPY_SRC)) !== 0)
    return 'MAP_WRITE can only be combined with COPY_SRC.'
  if (size > device.limits.maxBufferSize)
    return `a buffer of ${size} bytes exceeds maxBufferSize, which is ${device.limits.maxBufferSize}.`
  return undefined
}
