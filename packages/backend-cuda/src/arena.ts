import type { CudaPlan } from './cuda-plan.ts'
import { allocateHost, type CudaHostAllocation, freeHost } from './host-memory.ts'
import type { CollectedRange } from './native-addon.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { trapRecordByteLength } from './trap-record.ts'

/** The distance between an epoch and its flags. GPUs write flags of their peers, but never epochs. */
const epochByteLength = 256

/** Offsets of the parts of an arena on each GPU, at multiples of 256 bytes. */
interface Layout {
  readonly traps: number
  readonly stamps: number
  readonly syncs: number
  /** One epoch, then flags. */
  readonly syncByteLength: number
  readonly staging: number
  readonly byteLength: number
}

/**
 * Memory that an executable allocates on each of its GPUs for the uniform block, trap records, time stamps,
 * synchronization flags and messages, and page-locked host memory for copies between GPUs that cannot access
 * each other.
 */
export class Arena {
  readonly #physical: PhysicalGpus
  readonly #commandCount: number
  readonly #hasTraps: boolean
  readonly #layout: Layout
  /** By GPU. */
  readonly #addresses = new Map<number, number>()
  /** The same for GPUs of other processes. */
  readonly #peers = new Map<number, number>()
  /** By command. */
  readonly #bounces = new Map<number, CudaHostAllocation>()

  /**
   * `syncs`: the number of sets of graphs that synchronize at the same time, each with `flags` flags on a
   * GPU. `staging`: bytes for messages.
   */
  static async allocate(
    physical: PhysicalGpus,
    plan: CudaPlan,
    gpus: readonly number[],
    syncs: number,
    flags: number,
    staging: number,
  ): Promise<Arena> {
    const arena = new Arena(physical, plan, syncs, flags, staging)
    const { byteLength } = arena.#layout
    try {
      for (const gpu of gpus) arena.#addresses.set(gpu, await physical.memory.allocate(gpu, byteLength, true))
      return arena
    } catch (error) {
      arena.free()
      throw error
    }
  }

  private constructor(
    physical: PhysicalGpus,
    { commands, kernels, uniformBlock }: CudaPlan,
    syncCount: number,
    flags: number,
    stagingByteLength: number,
  ) {
    this.#physical = physical
    this.#commandCount = commands.length
    this.#hasTraps = commands.some(
      (command) => command.kind === 'dispatch' && kernels[command.kernel]!.bounds === 'trap',
    )
    const aligned = (byteLength: number) => Math.ceil(byteLength / 256) * 256
    const traps = aligned(uniformBlock.length)
    const stamps = traps + (this.#hasTraps ? aligned(commands.length * trapRecordByteLength) : 0)
    const syncs = stamps + aligned((commands.length * 2 + 1) * 8)
    const syncByteLength = epochByteLength + aligned(flags * 4)
    const staging = syncs + syncCount * syncByteLength
    const byteLength = staging + stagingByteLength
    this.#layout = { traps, stamps, syncs, syncByteLength, staging, byteLength }
  }

  #start(gpu: number): number {
    const address = this.#addresses.get(gpu)
    if (address === undefined) throw new RangeError(`The arena has no memory on GPU ${gpu}.`)
    return address
  }

  uniformAddress(gpu: number): number {
    return this.#start(gpu)
  }

  /** The start of a GPU's trap records, one per command. */
  trapAddress(gpu: number): number {
    return this.#start(gpu) + this.#layout.traps
  }

  /** Command i has slots 2 i and 2 i + 1; one more slot follows those of the commands. */
  stampAddress(gpu: number, slot: number): number {
    return this.#start(gpu) + this.#layout.stamps + slot * 8
  }

  /** The start of the memory through which messages are staged. */
  stagingAddress(gpu: number): number {
    return this.#start(gpu) + this.#layout.staging
  }

  /** Four bytes that count how often the GPU has begun a launch of the graphs of `slot`. */
  epochAddress(slot: number, gpu: number): number {
    const { syncs, syncByteLength } = this.#layout
    return (this.#peers.get(gpu) ?? this.#start(gpu)) + syncs + slot * syncByteLength
  }

  flagAddress(slot: number, gpu: number, flag: number): number {
    return this.epochAddress(slot, gpu) + epochByteLength + flag * 4
  }

  /** Adds the mapped arena of another process's GPU, which has its flags at the same offsets. */
  addPeer(gpu: number, address: number): void {
    this.#peers.set(gpu, address)
  }

  /**
   * Clears the flags that earlier graphs with this `slot` have set. Takes effect before any work that is
   * queued later.
   */
  clearSync(slot: number): void {
    for (const gpu of this.#addresses.keys())
      this.#physical.native
        .zero(gpu, this.epochAddress(slot, gpu), this.#layout.syncByteLength)
        .catch(() => {})
  }

  /** The same for all slots, at once. */
  async clearAllSyncs(): Promise<void> {
    const { syncs, staging } = this.#layout
    const byteLength = staging - syncs
    if (byteLength === 0) return
    for (const gpu of this.#addresses.keys())
      await this.#physical.native.zero(gpu, this.epochAddress(0, gpu), byteLength)
  }

  async addBounce(command: number, byteLength: number): Promise<void> {
    const bounce = allocateHost(this.#physical.native, byteLength, (lock) => lock())
    this.#bounces.set(command, bounce)
    await bounce.locked
  }

  bounceAddress(command: number): number {
    const bounce = this.#bounces.get(command)
    if (bounce === undefined) throw new RangeError(`Command ${command} has no memory on the host.`)
    return bounce.address
  }

  trapRanges(): CollectedRange[] {
    if (!this.#hasTraps) return []
    const byteLength = this.#commandCount * trapRecordByteLength
    return this.#ranges((gpu) => this.trapAddress(gpu), byteLength, true)
  }

  stampRanges(): CollectedRange[] {
    return this.#ranges((gpu) => this.stampAddress(gpu, 0), (this.#commandCount * 2 + 1) * 8, false)
  }

  /** Takes effect after the queued work. */
  free(): void {
    for (const address of this.#addresses.values()) this.#physical.memory.free(address)
    for (const bounce of this.#bounces.values()) freeHost(this.#physical.native, bounce)
  }

  #ranges(addressOf: (gpu: number) => number, byteLength: number, clear: boolean): CollectedRange[] {
    return [...this.#addresses.keys()].map((gpu) => ({ gpu, address: addressOf(gpu), byteLength, clear }))
  }
}
