import { ApiObject, named, type ObjectState, stateOf, toObject, unusable } from './api-object.ts'
import { GPUBuffer } from './buffer.ts'
import { GPUCommandBuffer } from './command-buffer.ts'
import { GPUBufferUsage } from './constants.ts'
import type { DeviceState } from './device-state.ts'
import type { Recorded } from './encoder-state.ts'
import { nameInterface } from './interfaces.ts'
import { unavailable } from './unavailable.ts'
import { toBufferSource, toSequence, toU64 } from './webidl.ts'

export class GPUQueue extends ApiObject<ObjectState> {
  readonly #own: ObjectState

  constructor(token: unknown, state: ObjectState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  submit(commandBuffers: unknown): undefined {
    const list = toSequence(
      commandBuffers,
      (item) => toObject(item, GPUCommandBuffer, 'An element of commandBuffers'),
      'commandBuffers',
    )
    const { device } = this.#own
    const problem = this.#submitProblem(list)
    const recorded: Recorded[] = []
    for (const buffer of list) {
      const state = stateOf(buffer)
      if (state.recorded !== undefined) recorded.push(state.recorded)
      state.recorded = undefined
      state.valid = false
    }
    if (problem !== undefined) device.invalid(`submit: ${problem}`)
    else if (!device.isLost) this.#send(recorded)
    return undefined
  }

  async onSubmittedWorkDone(): Promise<undefined> {
    const { device } = this.#own
    await device.workDone(fence(device))
    return undefined
  }

  writeBuffer(
    buffer: unknown,
    bufferOffset: unknown,
    data: unknown,
    dataOffset: unknown = 0,
    size?: unknown,
  ): undefined {
    const target = toObject(buffer, GPUBuffer, 'buffer')
    const offset = toU64(bufferOffset, 'bufferOffset')
    const { bytes, elementByteLength } = toBufferSource(data, 'data')
    const start = toU64(dataOffset, 'dataOffset') * elementByteLength
    const byteLength = size === undefined ? bytes.length - start : toU64(size, 'size') * elementByteLength
    if (byteLength < 0 || start + byteLength > bytes.length)
      throw new DOMException(
        `writeBuffer: bytes ${start} to ${start + byteLength} are out of range for the data, which has ${bytes.length} bytes.`,
        'OperationError',
      )
    if (byteLength % 4 !== 0)
      throw new DOMException(`writeBuffer: the size ${byteLength} is not a multiple of 4.`, 'OperationError')
    const { device } = this.#own
    const problem = unusable(target, device) ?? writeProblem(target, offset, byteLength)
    if (problem !== undefined) {
      device.invalid(`writeBuffer: ${problem}`)
      return undefined
    }
    if (byteLength === 0 || device.isLost) return undefined
    const { channel } = device
    device.expectSubmit()
    channel.write(stateOf(target).number, offset, owned(bytes).subarray(start, start + byteLength))
    return undefined
  }

  writeTexture(): undefined {
    this.#own.device.invalid(unavailable('writeTexture'))
    return undefined
  }

  copyExternalImageToTexture(): undefined {
    this.#own.device.invalid(unavailable('copyExternalImageToTexture'))
    return undefined
  }

  #submitProblem(list: readonly GPUCommandBuffer[]): string | undefined {
    const { device } = this.#own
    if (list.length > 1 && new Set(list).size < list.length) return 'a command buffer is in the list twice.'
    for (const buffer of list) {
      const problem = unusable(buffer, device)
      if (problem !== undefined) return problem
      const { buffers, querySets } = stateOf(buffer).recorded!
      for (const state of buffers) {
        if (state.destroyed) return `a buffer that ${named(buffer)} uses is destroyed.`
        if (!state.unmapped) return `a buffer that ${named(buffer)} uses is mapped.`
        if (!state.valid) return `a buffer that ${named(buffer)} uses has no memory.`
      }
      for (const { destroyed, valid } of querySets)
        if (destroyed || !valid) return `a query set that ${named(buffer)} uses is destroyed.`
    }
    return undefined
  }

  #send(list: readonly Recorded[]): void {
    const { device } = this.#own
    const { channel } = device
    const needs: Promise<unknown>[] = []
    for (const { kernels } of list)
      for (const kernel of kernels) if (!kernel.isReady) needs.push(kernel.ready)
    // Earlier writes go out separately: a submit that waits for a kernel is dropped if the kernel does not
    // compile.
    if (needs.length > 0) channel.flush()
    device.expectSubmit()
    for (const { words } of list) channel.append(words)
    channel.flush(needs)
  }
}
nameInterface(GPUQueue)

/** Resolves when all work so far is done. */
async function fence(device: DeviceState): Promise<void> {
  if (device.isLost) return
  device.channel.flush()
  try {
    await device.channel.commands.fence()
  } catch (error) {
    // The device is lost, so nothing of the work is left to wait for.
    if (!device.isLost) await device.whenLost
    if (!device.isLost) throw error
  }
}

function writeProblem(buffer: GPUBuffer, offset: number, byteLength: number): string | undefined {
  const { destroyed, unmapped, usage, size } = stateOf(buffer)
  if (destroyed) return `${named(buffer)} is destroyed.`
  if (!unmapped) return `${named(buffer)} is mapped.`
  if ((usage & GPUBufferUsage.COPY_DST) === 0) return `${named(buffer)} does not have the usage COPY_DST.`
  if (offset % 4 !== 0) return `the offset ${offset} is not a multiple of 4.`
  if (offset + byteLength > size)
    return `bytes ${offset} to ${offset + byteLength} are out of range for ${named(buffer)}, which has ${size} bytes.`
  return undefined
}

/** Memory that no other thread writes to. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice()
}
