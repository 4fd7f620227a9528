import { bufferUsage, mapRead } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'

const maxByteLength = 64 * 1024 * 1024

/** Staging buffers for downloads, reused, of bounded total size. */
export class ReadbackRing {
  readonly #physical: PhysicalDevice
  readonly #free: GPUBuffer[] = []
  readonly #all = new Set<GPUBuffer>()
  readonly #waiting: (() => void)[] = []
  #usedByteLength = 0

  constructor(physical: PhysicalDevice) {
    this.#physical = physical
  }

  /**
   * Returns a buffer of at least `byteLength` bytes. Waits while too much is in use, so submit the work that
   * uses buffers before you request more.
   */
  async acquire(byteLength: number): Promise<GPUBuffer> {
    const size = Math.max(4096, 2 ** Math.ceil(Math.log2(byteLength)))
    while (this.#usedByteLength > 0 && this.#usedByteLength + size > maxByteLength) {
      await this.#physical.orLost(new Promise<void>((resolve) => this.#waiting.push(resolve)))
    }
    this.#usedByteLength += size
    const at = this.#free.findIndex((buffer) => buffer.size === size)
    if (at >= 0) return this.#free.splice(at, 1)[0]!
    this.#trim(maxByteLength - size)
    const { value, checked } = this.#physical.scoped(`allocate ${size} bytes of staging memory`, () =>
      this.#physical.gpu.createBuffer({
        label: 'readback',
        size,
        usage: bufferUsage.mapRead | bufferUsage.copyTarget,
      }),
    )
    this.#all.add(value)
    try {
      await checked
    } catch (error) {
      this.#all.delete(value)
      this.#release(size)
      throw error
    }
    return value
  }

  /**
   * Waits for submitted work that writes `buffer`, shows its first `byteLength` bytes to `use`, and takes the
   * buffer back.
   */
  async consume(buffer: GPUBuffer, byteLength: number, use: (bytes: Uint8Array) => void): Promise<void> {
    try {
      await this.#physical.orLost(buffer.mapAsync(mapRead, 0, byteLength))
      try {
        use(new Uint8Array(buffer.getMappedRange(0, byteLength)))
      } finally {
        buffer.unmap()
      }
      this.#free.push(buffer)
    } catch (error) {
      this.#all.delete(buffer)
      buffer.destroy()
      throw error
    } finally {
      this.#release(buffer.size)
    }
  }

  destroy(): void {
    for (const buffer of this.#all) buffer.destroy()
    this.#all.clear()
    this.#free.length = 0
  }

  #release(byteLength: number): void {
    this.#usedByteLength -= byteLength
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Destroys idle buffers, oldest first, until all together have at most `byteLength` bytes. */
  #trim(byteLength: number): void {
    let total = 0
    for (const buffer of this.#all) total += buffer.size
    while (total > byteLength && this.#free.length > 0) {
      const buffer = this.#free.shift()!
      total -= buffer.size
      this.#all.delete(buffer)
      buffer.destroy()
    }
  }
}
