import type { CudaAdapter } from './adapters.ts'
import { kernelPtx } from './internal-kernels.ts'
import type { NativeGroup } from './native-addon.ts'
import type { SharedMemory } from './shared-memory.ts'

/** Other processes may be stopped or start late; if one ends, the stop word is set. */
const longestWaitForProcesses = 24 * 3600

/**
 * The physical GPUs of a runtime: the devices on each, which GPUs can access each other, and the runtime's
 * own kernels on them. If memory is shared with other processes, numbers from `count` on are those processes'
 * GPUs.
 */
export class PhysicalGpus {
  readonly native: NativeGroup
  /** Allocates and frees device memory. */
  readonly memory: Pick<NativeGroup, 'allocate' | 'free'>
  /** The number of GPUs of this process, which have the lowest numbers. */
  readonly count: number
  readonly shared: SharedMemory | undefined
  readonly #gpuOfDevice: readonly number[]
  readonly #peers: readonly boolean[]
  readonly #peerAccess: boolean
  readonly #isSwitched: readonly boolean[]
  /** By name and GPU. */
  readonly #kernelIds = new Map<string, number>()
  #lastId = 0

  /**
   * Virtual devices of one adapter share their GPU. If `peerAccess` is false, GPUs do not access each other's
   * memory.
   */
  constructor(
    native: NativeGroup,
    gpuOfDevice: readonly number[],
    devices: readonly Pick<CudaAdapter, 'isSwitched'>[],
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
    const isSwitched: boolean[] = []
    for (const [device, gpu] of gpuOfDevice.entries()) isSwitched[gpu] = devices[device]!.isSwitched
    this.#isSwitched = isSwitched
  }

  gpuOf(device: number): number {
    return this.#gpuOfDevice[device]!
  }

  /** Whether the GPU belongs to this process. */
  isHere(gpu: number): boolean {
    return gpu < this.count
  }

  /** Whether one GPU can read and write the other's memory. */
  reachable(reader: number, owner: number): boolean {
    if (this.shared !== undefined) return true
    return reader === owner || (this.#peerAccess && this.#peers[reader * this.count + owner]!)
  }

  /** See `Links.isSwitched`. */
  isSwitched(gpu: number): boolean {
    return this.#isSwitched[gpu]!
  }

  /**
   * Whether kernels of one device can access the other's memory. Without `peerAccess`, not even virtual
   * devices of one GPU can.
   */
  canAccessPeer(reader: number, owner: number): boolean {
    return reader === owner || (this.#peerAccess && this.reachable(this.gpuOf(reader), this.gpuOf(owner)))
  }

  /** An ID that no kernel or graph has used. */
  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** The ID of one of the runtime's own kernels, which is loaded at the first call (queued). */
  internalKernel(entry: string, gpu: number): number {
    const key = `${entry} ${gpu}`
    const known = this.#kernelIds.get(key)
    if (known !== undefined) return known
    const id = this.nextId()
    this.#kernelIds.set(key, id)
    const image = new TextEncoder().encode(
      kernelPtx(entry, this.shared && longestWaitForProcesses),
    ) as Uint8Array<ArrayBuffer>
    // The failure is reported, with its reason, where the kernel is used; the next use tries again.
    this.native.loadKernel(id, gpu, image, entry, 0).catch(() => this.#kernelIds.delete(key))
    return id
  }
}
