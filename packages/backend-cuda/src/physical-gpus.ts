import { kernelPtx } from './internal-kernels.ts'
import type { NativeGroup } from './native-addon.ts'
import type { SharedMemory } from './shared-memory.ts'

/** Other processes may be stopped or start late: their end raises the stop word. */
const longestWaitForProcesses = 24 * 3600

/**
 * The physical GPUs of a runtime: which device is on which, what they reach, and the runtime's own kernels on
 * them. Where memory is shared with other processes, numbers from `count` on are those processes' GPUs.
 */
export class PhysicalGpus {
  readonly native: NativeGroup
  /** Where device memory comes from, and goes. */
  readonly memory: Pick<NativeGroup, 'allocate' | 'free'>
  /** GPUs of this process, which have the lowest numbers. */
  readonly count: number
  readonly shared: SharedMemory | undefined
  readonly #gpuOfDevice: readonly number[]
  readonly #peers: readonly boolean[]
  readonly #peerAccess: boolean
  /** By name and GPU. */
  readonly #kernelIds = new Map<string, number>()
  #lastId = 0

  /**
   * Virtual devices of one adapter share their GPU. False for `peerAccess` keeps GPUs from each other's
   * memory.
   */
  constructor(
    native: NativeGroup,
    gpuOfDevice: readonly number[],
    peerAccess: boolean,
    shared?: SharedMemory,
  ) {
    this.native = native
    this.memory = shared ?? native
    this.shared = shared
    this.count = shared === undefined ? Math.max(...gpuOfDevice) + 1 : 1
    this.#gpuOfDevice = gpuOfDevice
    this.#peers = native.peers
    this.#peerAccess = peerAccess
  }

  gpuOf(device: number): number {
    return this.#gpuOfDevice[device]!
  }

  /** Whether this process has the GPU. */
  isHere(gpu: number): boolean {
    return gpu < this.count
  }

  /** May one GPU read and write the other's memory? */
  reachable(reader: number, owner: number): boolean {
    if (this.shared !== undefined) return true
    return reader === owner || (this.#peerAccess && this.#peers[reader * this.count + owner]!)
  }

  /**
   * May kernels of one device access the other's memory? Not virtual devices of one GPU either, without
   * `peerAccess`.
   */
  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || (this.#peerAccess && this.reachable(this.gpuOf(reader), this.gpuOf(owner)))
  }

  /** An id that no kernel or graph has had. */
  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** Id of one of the runtime's own kernels, whose loading is queued at the first call. */
  internalKernel(entry: string, gpu: number): number {
    const key = `${entry} ${gpu}`
    const known = this.#kernelIds.get(key)
    if (known !== undefined) return known
    const id = this.nextId()
    this.#kernelIds.set(key, id)
    const image = new TextEncoder().encode(
      kernelPtx(entry, this.shared && longestWaitForProcesses),
    ) as Uint8Array<ArrayBuffer>
    // A failure shows again, with its reason, where the kernel is used; the next use tries again.
    this.native.loadKernel(id, gpu, image, entry, 0).catch(() => this.#kernelIds.delete(key))
    return id
  }
}
