import { type Device, type GpuError, isGpuError } from '@tandem-gpu/core'
import {
  commandWords,
  type DeviceCommands,
  type DeviceCommandsOptions,
  type FrontEndCache,
  openDeviceCommands,
  type QueueMessage,
} from '@tandem-gpu/core/backend'

/** A larger write is sent separately, directly from the caller's memory. */
const largestGathered = 65_536
/** When the gathered writes reach this many bytes, they are sent without waiting for a submit. */
const mostGathered = 1 << 20

/**
 * Connects one GPUDevice to its device and gathers writes and commands into one list per submit. It holds no
 * API objects, so that an unused GPUDevice can be garbage-collected.
 */
export class Channel {
  /** Why the device accepts no commands: its group has ended. The GPUDevice is then lost from the start. */
  readonly refusal: GpuError | undefined
  readonly #commands: DeviceCommands | undefined
  #words = new Float64Array(1024)
  #wordCount = 0
  #data = new Uint8Array(16_384)
  #dataLength = 0
  #numbers = 0
  #serial = 0
  #isFlushScheduled = false

  constructor(
    device: Device,
    options: Pick<DeviceCommandsOptions, 'label' | 'timeoutSeconds'>,
    onMessage: (message: QueueMessage) => void,
  ) {
    try {
      this.#commands = openDeviceCommands(device, { ...options, onMessage, flush: () => this.flush() })
    } catch (error) {
      if (!isGpuError(error)) throw error
      this.refusal = error
    }
  }

  /** Must not be used once the GPUDevice is lost. */
  get commands(): DeviceCommands {
    return this.#commands!
  }

  get frontEndCache(): FrontEndCache | undefined {
    return this.#commands?.frontEndCache
  }

  close(): void {
    void this.#commands?.close()
  }

  /** Returns a new number for a buffer or a kernel. */
  number(): number {
    return ++this.#numbers
  }

  /** The serial of the submit that will contain the gathered commands. */
  get nextSerial(): number {
    return this.#serial + 1
  }

  /** Writes to a buffer, after all earlier calls. The caller may change `bytes` once the call returns. */
  write(buffer: number, byteOffset: number, bytes: Uint8Array): void {
    const { length } = bytes
    if (length > largestGathered) {
      this.flush()
      this.#submit([], Float64Array.of(commandWords.write, buffer, byteOffset, 0, length), bytes)
      return
    }
    this.append([commandWords.write, buffer, byteOffset, this.#gather(bytes), length])
    if (this.#dataLength > mostGathered) this.flush()
    else this.#flushSoon()
  }

  /** Adds commands to the list. */
  append(words: readonly number[]): void {
    const end = this.#wordCount + words.length
    if (end > this.#words.length) this.#words = grown(this.#words, end)
    this.#words.set(words, this.#wordCount)
    this.#wordCount = end
  }

  /** Submits the list. The submit waits for `needs` and is dropped if one of them rejects. */
  flush(needs: readonly Promise<unknown>[] = []): void {
    if (this.#wordCount === 0) return
    const words = this.#words.subarray(0, this.#wordCount)
    const data = this.#data.subarray(0, this.#dataLength)
    // Reset before the call: the call may let others flush, and the list must not be submitted twice.
    this.#wordCount = 0
    this.#dataLength = 0
    this.#submit(needs, words, data)
  }

  #submit(needs: readonly Promise<unknown>[], words: Float64Array, data: Uint8Array): void {
    this.commands.submit(needs, ++this.#serial, words, data)
  }

  #gather(bytes: Uint8Array): number {
    const start = this.#dataLength
    const end = start + bytes.length
    if (end > this.#data.length) this.#data = grown(this.#data, end)
    this.#data.set(bytes, start)
    this.#dataLength = end
    return start
  }

  #flushSoon(): void {
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    queueMicrotask(() => {
      this.#isFlushScheduled = false
      this.flush()
    })
  }
}

function grown<A extends Float64Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(array: A, length: number): A {
  const larger = new (array.constructor as new (length: number) => A)(length * 2)
  larger.set(array)
  return larger
}
