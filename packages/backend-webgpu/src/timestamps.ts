import { bufferUsage } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'

/** WebGPU's limit of one query set. */
const queriesPerSet = 4096
const byteLengthPerQuery = 8

/**
 * Times on the clock of one device. WebGPU writes timestamps only at the beginning and end of compute passes,
 * so a time between other commands is the end of an empty pass, which is written when everything encoded
 * before it has completed.
 */
export class Timestamps {
  readonly #sets: GPUQuerySet[] = []
  readonly #resolved: GPUBuffer
  readonly byteLength: number
  #next = 0

  /** Room for `count` times. Must be called inside an error scope. */
  constructor(physical: PhysicalDevice, count: number) {
    for (let start = 0; start < count; start += queriesPerSet) {
      this.#sets.push(
        physical.gpu.createQuerySet({ type: 'timestamp', count: Math.min(queriesPerSet, count - start) }),
      )
    }
    this.byteLength = count * byteLengthPerQuery
    this.#resolved = physical.gpu.createBuffer({
      label: 'timestamps',
      size: this.byteLength,
      usage: bufferUsage.queryResolve | bufferUsage.copySource,
    })
  }

  /** Records the time when everything encoded so far has completed. Returns its index. */
  mark(encoder: GPUCommandEncoder): number {
    const { querySet, query, index } = this.#take()
    encoder.beginComputePass({ timestampWrites: { querySet, endOfPassWriteIndex: query } }).end()
    return index
  }

  /** The times when a pass begins and ends, for `beginComputePass`. */
  aroundPass(): { writes: GPUComputePassTimestampWrites; begin: number; end: number } {
    // Both times of a pass must be in one set.
    if (this.#next % queriesPerSet === queriesPerSet - 1) this.#next++
    const first = this.#take()
    const second = this.#take()
    return {
      writes: {
        querySet: first.querySet,
        beginningOfPassWriteIndex: first.query,
        endOfPassWriteIndex: second.query,
      },
      begin: first.index,
      end: second.index,
    }
  }

  /** Copies all times to `staging`. */
  resolve(encoder: GPUCommandEncoder, staging: GPUBuffer): void {
    this.#sets.forEach((set, i) => {
      encoder.resolveQuerySet(set, 0, set.count, this.#resolved, i * queriesPerSet * byteLengthPerQuery)
    })
    encoder.copyBufferToBuffer(this.#resolved, 0, staging, 0, this.byteLength)
  }

  destroy(): void {
    for (const set of this.#sets) set.destroy()
    this.#resolved.destroy()
  }

  #take(): { querySet: GPUQuerySet; query: number; index: number } {
    const index = this.#next++
    return { querySet: this.#sets[Math.floor(index / queriesPerSet)]!, query: index % queriesPerSet, index }
  }
}
