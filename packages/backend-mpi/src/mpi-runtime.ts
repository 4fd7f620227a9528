import { availableParallelism } from 'node:os'
import { GpuError, type LiveHandles, type LostInfo, type Plan } from '@tandem-gpu/core'
import {
  type Allocation,
  type AllocationOptions,
  type AllocationRegion,
  type Executable,
  type ExecutionOptions,
  type ExecutionResult,
  type Handles,
  type HostAllocation,
  type KernelHandle,
  type KernelSource,
  keepAwake,
  type PlanPart,
  type RankAdapter,
  type RankedRuntime,
  type Ranks,
} from '@tandem-gpu/core/backend'
import type { InnerRuntime } from './message-memory.ts'
import type { MpiExecutable } from './mpi-executable.ts'
import type { MpiRuns } from './mpi-runs.ts'
import { settled } from './native-addon.ts'
import { localOrdinals, type RankDevices } from './rank-devices.ts'
import type { MpiSession } from './session.ts'

/** How long the JavaScript thread stays awake while it waits for calls of other ranks. */
const awakeMilliseconds = 1

/**
 * One rank's part of a group over all ranks. Allocations, kernels and host memory belong to the inner
 * backend; `MpiRuns` runs programs.
 */
export class MpiRuntime implements RankedRuntime {
  readonly devices: readonly RankAdapter[]
  readonly lost: Promise<LostInfo>
  readonly ranks: Ranks
  readonly #runs: MpiRuns
  readonly #session: MpiSession
  readonly #opened: RankDevices
  readonly #inner: InnerRuntime
  readonly #peers: ReadonlyMap<number, readonly boolean[]>
  readonly #label: string
  readonly #group: number
  /** For each device of the group, its position among the devices of its rank. */
  readonly #localOrdinal: readonly number[]
  readonly #executables = new Set<MpiExecutable>()
  /** Host memory to which MPI may still write after a failed run. It is never freed. */
  readonly #kept = new Set<HostAllocation>()
  /** Whether every rank has completed everything that it began, as far as this rank knows. */
  #clean = true
  #resolveLost!: (info: LostInfo) => void

  constructor(
    session: MpiSession,
    group: number,
    devices: readonly RankAdapter[],
    opened: RankDevices,
    peers: ReadonlyMap<number, readonly boolean[]>,
    label: string,
  ) {
    const { inner, sharesMemory } = opened
    this.devices = devices
    this.#session = session
    this.#inner = inner
    this.#opened = opened
    this.#peers = peers
    this.#label = label
    this.#localOrdinal = localOrdinals(devices, sharesMemory)
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
    session.watchGroup(group, (code, message) => {
      this.#clean = false
      this.#runs.peerLost ??= new GpuError(code, message)
      opened.break()
      this.#resolveLost({ reason: 'unknown', message })
    })
    this.#group = group
    const cores = availableParallelism() / session.ranksOnMachine
    this.#runs = opened.runsOf({
      session,
      group,
      label,
      cores,
      globalOrdinal: (local) => this.#globalOrdinal(local),
      leave: (reason) => this.ranks.leave(reason),
      keep: (executable) => {
        for (const allocation of executable.messageMemory) this.#kept.add(allocation)
      },
    })
    void inner.lost.then(({ reason, message }) => {
      if (reason === 'destroyed') return
      this.ranks.leave(message)
      this.#resolveLost({ reason, message })
    })
    const { addon, rank } = session
    this.ranks = {
      rank,
      count: session.ranks.length,
      sharesMemory,
      throughHost: opened.throughHost,
      survivesFailures: opened.survivesFailures,
      ...(opened.freedMemory && { freedMemory: opened.freedMemory }),
      transport: opened.transport,
      gather: (key, message, number, doing = 'makes a call', beginsRun = false) => {
        const what = `${doing} in group "${label}"`
        const takesTurn = opened.takesTurns && beginsRun
        const gathered = session.gatherIn(group, key, message, what, number, takesTurn)
        keepAwake(gathered, awakeMilliseconds, cores, addon.yieldCore)
        return gathered
      },
      runAgreed: (executable, options, start, end) =>
        this.#runs.runAgreed(executable as MpiExecutable, options, start, end),
      ...(opened.takesTurns && { runEnded: (key: number) => addon.endTurn(group, key) }),
      deliver: async (key, from, to, bytes) => {
        if (from === to || bytes.byteLength === 0) return
        await settled(addon.deliver(group, key, from, to === 'all' ? -1 : to, bytes))
      },
      leave: (reason = '') => {
        if (reason !== '') this.#clean = false
        addon.leave(group, 'device-lost', reason)
      },
      interrupted: (executable) => opened.interrupted(executable as MpiExecutable),
      diverged: () => {
        this.#clean = false
      },
    }
    if (session.failure !== undefined)
      this.#resolveLost({ reason: 'unknown', message: session.failure.message })
  }

  canAccessPeer(reader: number, owner: number): boolean {
    if (this.#opened.sharesMemory) return true
    const rank = this.devices[reader]!.rank
    if (rank !== this.devices[owner]!.rank) return false
    const peers = this.#peers.get(rank) ?? []
    return peers[this.#localOrdinal[reader]! * Math.sqrt(peers.length) + this.#localOrdinal[owner]!] === true
  }

  allocate(device: number, byteLength: number, options: AllocationOptions): Promise<Allocation> {
    return this.#inner.allocate(this.#localOrdinal[device]!, byteLength, options)
  }

  free(allocation: Allocation): void {
    this.#inner.free(allocation)
  }

  allocateHost(byteLength: number): HostAllocation {
    return this.#inner.allocateHost(byteLength)
  }

  freeHost(allocation: HostAllocation): void {
    if (!this.#kept.has(allocation)) this.#inner.freeHost(allocation)
  }

  compile(source: KernelSource): Promise<KernelHandle> {
    return this.#inner.compile(source)
  }

  releaseKernel(kernel: KernelHandle): void {
    this.#inner.releaseKernel(kernel)
  }

  async instantiate(plan: Plan<Handles, PlanPart>): Promise<MpiExecutable> {
    const executable = await this.#opened.instantiate(plan, this.#localOrdinal)
    this.#executables.add(executable)
    return executable
  }

  release(executable: Executable): void {
    const known = executable as MpiExecutable
    if (!this.#executables.delete(known)) return
    for (const part of known.made) this.#inner.release(part)
    known.memory.free(this.#kept)
  }

  run(executable: Executable, options: ExecutionOptions): Promise<ExecutionResult> {
    return this.#runs.run(executable as MpiExecutable, options)
  }

  /** The ordinal in the group of this rank's device number `local`. */
  #globalOrdinal(local: number): number {
    const { rank } = this.#session
    return this.devices.findIndex(
      (device, ordinal) => device.rank === rank && this.#localOrdinal[ordinal] === local,
    )
  }

  write(region: AllocationRegion, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#runs.transfer(() => this.#inner.write(region, bytes))
  }

  read(region: AllocationRegion, into: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#runs.transfer(() => this.#inner.read(region, into))
  }

  live(): LiveHandles {
    const { allocations, hostAllocations, executables, ...live } = this.#inner.live()
    const made = [...this.#executables]
    const count = (of: (executable: MpiExecutable) => readonly unknown[]) =>
      made.reduce((sum, executable) => sum + of(executable).length, 0)
    return {
      ...live,
      allocations: allocations - count(({ memory }) => memory.allocations),
      hostAllocations: hostAllocations - count(({ memory }) => memory.hostAllocations),
      executables: executables - count((executable) => executable.made) + made.length,
    }
  }

  async dispose(): Promise<readonly string[]> {
    await this.#runs.settled
    for (const executable of this.#executables) this.release(executable)
    const failures = await this.#inner.dispose(this.#kept)
    this.#opened.close()
    this.#session.endGroup(this.#group)
    this.#session.addon.closeGroup(this.#group, this.#clean)
    this.#resolveLost({ reason: 'destroyed', message: `The group "${this.#label}" has been disposed.` })
    return failures
  }
}
