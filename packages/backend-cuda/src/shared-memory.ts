import { GpuError } from '@tandem-gpu/core'
import { allOrNone, type FreedMemory, type LinkedProcesses } from '@tandem-gpu/core/backend'
import { toGpuError } from './driver-error.ts'
import type { NativeGroup } from './native-addon.ts'

/** A name by which other processes of the machine can map device memory. */
export interface MemoryName {
  readonly handle: string
  readonly byteOffset: number
}

/** The GPU whose contexts map memory of other processes; a process that shares memory has only one GPU. */
const ownGpu = 0

interface Resting {
  readonly address: number
  readonly run: number
}

interface Mapped {
  readonly address: Promise<number>
  users: number
}

/** Device memory that the processes of a group share, each with one GPU. */
export class SharedMemory implements FreedMemory {
  readonly native: NativeGroup
  readonly processes: LinkedProcesses
  /** By handle, which the driver opens once per process. */
  readonly #mapped = new Map<string, Mapped>()
  /** Unmappings that have not yet reached the group's thread. */
  readonly #closing = new Set<Promise<unknown>>()
  /** The handles of this process's memory that others have received, by its address. */
  readonly #handles = new Map<number, string>()
  /** Freed memory that others may still map, with the run before which it was freed. */
  #resting: Resting[] = []
  #runs = 0

  constructor(native: NativeGroup, processes: LinkedProcesses) {
    this.native = native
    this.processes = processes
    void processes.broken.then(() => native.breakOff())
  }

  /**
   * Like the group's `allocate`. Memory may be short because of freed memory that others still map; all
   * processes release it together (`FreedMemory`).
   */
  allocate(gpu: number, byteLength: number, zero: boolean): Promise<number> {
    return this.native.allocate(gpu, byteLength, zero)
  }

  /**
   * Frees memory that other processes may still map, but not at once. They unmap it at the same point of the
   * program at which this process frees it, so all have done so when the next run has ended, since all agree
   * on that run. The memory is freed when the third run begins, not the second, because one run may count
   * twice: if native code was to start it but the ranks turn out to differ, JavaScript starts it again.
   */
  free(address: number): void {
    this.#resting.push({ address, run: this.#runs })
  }

  beginRun(): void {
    this.#runs += 1
    const lastRun = this.#runs - 3
    this.#freeResting(({ run }) => run <= lastRun)
  }

  /** The memory that programs have freed is unmapped when the group's thread has emptied its queue. */
  async letGo(): Promise<string> {
    await Promise.allSettled(this.#closing)
    await this.native.drain()
    return JSON.stringify([...this.#mapped.keys()])
  }

  async giveBack(used: readonly string[]): Promise<void> {
    const handles = new Set(used.flatMap((text) => JSON.parse(text) as string[]))
    this.#freeResting(({ address }) => !handles.has(this.#handles.get(address) ?? ''))
  }

  #freeResting(where: (resting: Resting) => boolean): void {
    if (this.#resting.length === 0) return
    const kept: Resting[] = []
    for (const resting of this.#resting)
      if (where(resting)) {
        this.#handles.delete(resting.address)
        this.native.free(resting.address)
      } else kept.push(resting)
    this.#resting = kept
  }

  async nameOf(address: number): Promise<MemoryName> {
    const { handle, byteOffset } = await this.native.exportMemory(address)
    const name = Buffer.from(handle).toString('hex')
    this.#handles.set(address, name)
    return { handle: name, byteOffset }
  }

  /**
   * The address of another process's memory in this process; valid until it is closed as often as it was
   * opened.
   */
  async open({ handle, byteOffset }: MemoryName): Promise<number> {
    let mapped = this.#mapped.get(handle)
    if (mapped === undefined) {
      mapped = { address: this.native.importMemory(ownGpu, Buffer.from(handle, 'hex')), users: 0 }
      this.#mapped.set(handle, mapped)
    }
    mapped.users += 1
    try {
      return (await mapped.address) + byteOffset
    } catch (error) {
      if (this.#mapped.get(handle) === mapped) this.#mapped.delete(handle)
      throw error
    }
  }

  close({ handle }: MemoryName): void {
    const mapped = this.#mapped.get(handle)
    if (mapped === undefined) return
    mapped.users -= 1
    if (mapped.users > 0) return
    this.#mapped.delete(handle)
    const closing = mapped.address.then((address) => this.native.closeMemory(address)).catch(() => {})
    this.#closing.add(closing)
    void closing.then(() => this.#closing.delete(closing))
  }
}

/**
 * The results of `work` on each process, by rank; if it fails on one, rejects on all. `doing` names the work.
 * If the work itself waits for the other processes, `giveUp` must end it: it is called if the work has failed
 * on another process.
 */
export async function agree<T>(
  processes: LinkedProcesses,
  doing: string,
  work: () => Promise<T>,
  giveUp?: () => void,
): Promise<readonly T[]> {
  const say = async (text: string) =>
    (await processes.exchange(text)).map((message, rank) => ({ rank, message }))
  const translated = () =>
    work().catch((error: unknown) => {
      throw toGpuError(error, doing)
    })
  return (await allOrNone(translated, { say, giveUp })).map(({ result }) => result)
}

/** As `agree`, for work whose result stays in this process. */
export async function agreeHere<T>(
  processes: LinkedProcesses,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  const own = work()
  await agree(processes, doing, async () => void (await own))
  return own
}

/**
 * Maps and reads a word of each other process, because the driver may refuse, and a container may hide the
 * processes from each other.
 */
export async function tryShared(shared: SharedMemory): Promise<void> {
  const { native, processes } = shared
  const { rank } = processes
  const probe = (from: number) => Uint8Array.of(from & 255, from >> 8, 0x74, 0x61) as Uint8Array<ArrayBuffer>
  const region = (address: number) => ({ gpu: ownGpu, address, rowByteLength: 4, rows: 1, rowByteStride: 4 })
  const address = await native.allocate(ownGpu, 4, true)
  try {
    const names = await agree(processes, 'Sharing device memory with other processes', async () => {
      await native.write(region(address), probe(rank))
      return shared.nameOf(address)
    })
    await agree(processes, 'Mapping the device memory of other processes', async () => {
      for (const [other, name] of names.entries()) {
        if (other === rank) continue
        const mapped = await shared.open(name)
        const found = new Uint8Array(4)
        await native.read(region(mapped), found)
        shared.close(name)
        if (Buffer.compare(found, probe(other)) !== 0)
          throw new GpuError(
            'unsupported',
            `The memory of rank ${other} has different contents when it is read here.`,
          )
      }
    })
  } finally {
    native.free(address)
  }
}
