import type { Allocation, HostAllocation, NativeAccess, PlanBuffer, Runtime } from '@tandem-gpu/core/backend'
import type { DeviceMemory } from './native-addon.ts'

/** The part of the inner backend's runtime that does not depend on plans. */
export type InnerRuntime = Omit<Runtime, 'instantiate' | 'native'>

/** Staging memory for messages of device memory. */
export interface Staging {
  readonly buffer: PlanBuffer
  /** The same memory, for native code. */
  readonly memory: ArrayBuffer | DeviceMemory
}

/** Where a program's messages of device memory are sent from and received into. */
export interface MessageMemory {
  /** Device memory in the form that MPI accepts; undefined if it accepts none. */
  addressed(allocation: Allocation): Promise<DeviceMemory> | undefined
  /** The kind of memory that `stage` returns. */
  readonly through: 'host' | 'device'
  /**
   * Memory for messages of `device` that cannot be sent directly; it exists until the program is released.
   */
  stage(device: number, byteLength: number, label: string): Promise<Staging>
}

/**
 * Messages go through host memory. If MPI accepts device memory, they are sent and received in place, and
 * rows with gaps go through device memory without gaps.
 */
export class ProgramMemory implements MessageMemory {
  readonly #inner: InnerRuntime
  readonly #native: NativeAccess | undefined
  readonly through: 'host' | 'device'
  readonly #addressed = new Map<Allocation, Promise<DeviceMemory>>()
  readonly allocations: Allocation[] = []
  readonly hostAllocations: HostAllocation[] = []

  /** `native` is present if MPI accepts device memory. */
  constructor(inner: InnerRuntime, native: NativeAccess | undefined) {
    this.#inner = inner
    this.#native = native
    this.through = native === undefined ? 'host' : 'device'
  }

  addressed(allocation: Allocation): Promise<DeviceMemory> | undefined {
    return this.#native && this.#addressOf(this.#native, allocation)
  }

  #addressOf(native: NativeAccess, allocation: Allocation): Promise<DeviceMemory> {
    let addressed = this.#addressed.get(allocation)
    if (addressed === undefined) {
      addressed = native.address(allocation) as Promise<DeviceMemory>
      this.#addressed.set(allocation, addressed)
    }
    return addressed
  }

  async stage(device: number, byteLength: number, label: string): Promise<Staging> {
    if (this.#native !== undefined) {
      const allocation = await this.#inner.allocate(device, byteLength, { label, zero: false })
      this.allocations.push(allocation)
      const memory = await this.#addressOf(this.#native, allocation)
      return { buffer: { kind: 'device', label, device, byteLength, allocation }, memory }
    }
    const allocation = this.#inner.allocateHost(byteLength)
    this.hostAllocations.push(allocation)
    return { buffer: { kind: 'host', label, byteLength, allocation }, memory: allocation.arrayBuffer }
  }

  /** Frees the memory, except allocations in `kept`. */
  free(kept?: ReadonlySet<HostAllocation>): void {
    for (const allocation of this.allocations) this.#inner.free(allocation)
    for (const allocation of this.hostAllocations)
      if (kept?.has(allocation) !== true) this.#inner.freeHost(allocation)
  }
}
