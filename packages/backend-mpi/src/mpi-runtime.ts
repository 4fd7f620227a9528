import { availableParallelism } from 'node:os'
import {
  type Adapter,
  type Allocation,
  type AllocationOptions,
  type AllocationRegion,
  type Executable,
  type ExecutionOptions,
  type ExecutionResult,
  GpuError,
  type Handles,
  type HostAllocation,
  type KernelHandle,
  type KernelSource,
  keepAwake,
  type LiveHandles,
  type LostInfo,
  type Plan,
  type PlanPart,
  type Ranks,
  type Runtime,
} from '@tandem-gpu/core'
import { lowerPlan } from './lower-plan.ts'
import { ProgramMemory } from './message-memory.ts'
import { type MpiExecutable, MpiRuns } from './mpi-runs.ts'
import { settled, toGpuError } from './native-addon.ts'
import type { LoweredPlan } from './segments.ts'
import type { MpiSession } from './session.ts'
import type { OpenedDevices } from './transport.ts'

/** How long JavaScript's thread does not sleep while it waits for calls of other ranks. */
const awakeMilliseconds = 1

/** One rank's part of a group over all ranks. Allocations, kernels and host memory are the inner backend's; `MpiRuns` runs programs. */
export class MpiRuntime implements Runtime {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  readonly ranks: Ranks
  readonly limitsTime: boolean
  readonly #runs: MpiRuns
  readonly #session: MpiSession
  readonly #inner: Runtime
  readonly #joined: OpenedDevices['joined']
  /** Each rank reaches the memory of all devices, and has all of each plan. */
  readonly #sharesMemory: boolean
  /** MPI takes messages from device memory. */
  readonly #gpuAware: boolean
  readonly #peers: ReadonlyMap<number, readonly boolean[]>
  readonly #label: string
  readonly #group: number
  /** For each device of the group, its position among its rank's. */
  readonly #localOrdinal: readonly number[]
  readonly #executables = new Set<MpiExecutable>()
  /** Host memory that a failed run has left to MPI. It is not given back. */
  readonly #kept = new Set<HostAllocation>()
  /** Every rank has ended what it has begun, as far as this one knows. */
  #clean = true
  #resolveLost!: (info: LostInfo) => void

  constructor(
    session: MpiSession,
    group: number,
    devices: readonly Adapter[],
    opened: OpenedDevices,
    peers: ReadonlyMap<number, readonly boolean[]>,
    label: string,
  ) {
    const { inner, joined, transport } = opened
    this.devices = devices
    this.#session = session
    this.#inner = inner
    this.#joined = joined
    this.#sharesMemory = transport.name === 'ipc'
    // What NCCL has under way on a GPU cannot be ended without the communicator.
    this.limitsTime = transport.name !== 'nccl'
    this.#gpuAware = transport.name === 'gpu-aware'
    this.#peers = peers
    this.#label = label
    const counts = new Map<number, number>()
    this.#localOrdinal = devices.map(({ rank }, all) => {
      // A runtime that shares memory has the devices of all ranks.
      if (this.#sharesMemory) return all
      const ordinal = counts.get(rank!) ?? 0
      counts.set(rank!, ordinal + 1)
      return ordinal
    })
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
    session.watchGroup(group, (code, message) => {
      this.#clean = false
      this.#runs.peerLost ??= new GpuError(code, message)
      joined?.break()
      this.#resolveLost({ reason: 'unknown', message })
    })
    this.#group = group
    const cores = availableParallelism() / session.ranksOnMachine
    this.#runs = new MpiRuns({
      ...{ session, group, label, cores, devices: opened },
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
      sharesMemory: this.#sharesMemory,
      survivesFailures: joined !== undefined,
      ...(inner.freedMemory && { freedMemory: inner.freedMemory }),
      transport,
      gather: (key, message, number, doing = 'makes a call') => {
        const gathered = session.gatherIn(group, key, message, `${doing} in group "${label}"`, number)
        keepAwake(gathered, awakeMilliseconds, cores, addon.yieldCore)
        return gathered
      },
      runAgreed: (executable, options, start, end) =>
        this.#runs.runAgreed(executable as MpiExecutable, options, start, end),
      deliver: async (key, from, to, bytes) => {
        if (from === to || bytes.byteLength === 0) return
        await settled(addon.deliver(group, key, from, to === 'all' ? -1 : to, bytes))
      },
      leave: (reason = '') => {
        if (reason !== '') this.#clean = false
        addon.leave(group, 'device-lost', reason)
      },
      diverged: () => {
        this.#clean = false
      },
    }
    if (session.failure !== undefined)
      this.#resolveLost({ reason: 'unknown', message: session.failure.message })
  }

  canAccessPeer(reader: number, owner: number): boolean {
    if (this.#sharesMemory) return true
    const rank = this.devices[reader]!.rank!
    if (rank !== this.devices[owner]!.rank) return false
    const peers = this.#peers.get(rank)!
    return peers[this.#localOrdinal[reader]! * Math.sqrt(peers.length) + this.#localOrdinal[owner]!]!
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
    const memory = new ProgramMemory(this.#inner, this.#gpuAware)
    const made: Executable[] = []
    try {
      const lowered =
        this.#joined === undefined
          ? await lowerPlan(plan, (ordinal) => this.#localOrdinal[ordinal] ?? 0, memory)
          : wholePlan(this.#onLocalDevices(plan) as Plan)
      const { segments, messages, after, afterPrevious } = lowered
      // A rank without a part in the plan agrees with the others on it all the same.
      const plans =
        this.#joined !== undefined && segments.length === 0
          ? [plan as Plan]
          : segments.map((segment) => segment.plan)
      for (const part of plans) made.push(await this.#inner.instantiate(part))
      const edges = (node: number) => ({ after: after[node]!, afterPrevious: afterPrevious[node]! })
      const executable: MpiExecutable = {
        label: plan.label,
        stoppable: made.every((part) => part.stoppable === true),
        made,
        segments: segments.map((segment, i) => ({ ...segment, executable: made[i]! })),
        nodes: this.#session.addon.prepare([
          ...segments.map((_, node) => ({ kind: 'segment' as const, ...edges(node) })),
          ...messages.map((message, i) => ({ ...message, ...edges(segments.length + i) })),
        ]),
        alone: segments.length === 1 && messages.length === 0,
        memory,
        messageMemory: [...memory.hostAllocations, ...hostMemoryOfMessages(plan)],
      }
      this.#executables.add(executable)
      return executable
    } catch (error) {
      for (const part of made) this.#inner.release(part)
      memory.free()
      throw toGpuError(error)
    }
  }

  release(executable: Executable): void {
    const known = executable as MpiExecutable
    if (!this.#executables.delete(known)) return
    for (const part of known.made) this.#inner.release(part)
    known.memory.free(this.#kept)
  }

  interrupted(executable: Executable): void {
    for (const part of (executable as MpiExecutable).made) this.#inner.interrupted?.(part)
  }

  run(executable: Executable, options: ExecutionOptions): Promise<ExecutionResult> {
    return this.#runs.run(executable as MpiExecutable, options)
  }

  /** The plan with devices by their ordinals among this rank's. */
  #onLocalDevices({ buffers, commands, ...plan }: Plan<Handles, PlanPart>): Plan<Handles, PlanPart> {
    const local = <T extends { readonly device: number }>(placed: T): T => ({
      ...placed,
      device: this.#localOrdinal[placed.device] ?? 0,
    })
    return {
      ...plan,
      buffers: buffers.map((buffer) => (buffer.kind === 'device' ? local(buffer) : buffer)),
      commands: commands.map(local),
    }
  }

  /** The device of the group that is this rank's with that number. */
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
    this.#joined?.close()
    this.#session.endGroup(this.#group)
    this.#session.addon.closeGroup(this.#group, this.#clean)
    this.#resolveLost({ reason: 'destroyed', message: `The group "${this.#label}" is disposed.` })
    return failures
  }
}

function hostMemoryOfMessages({ buffers, commands }: Plan<Handles, PlanPart>): HostAllocation[] {
  return commands.flatMap((part) => {
    if ((part.kind !== 'send' && part.kind !== 'receive') || part.region === undefined) return []
    const buffer = buffers[part.region.buffer]!
    return buffer.kind === 'host' ? [buffer.allocation] : []
  })
}

/** A plan that every rank has whole is one segment. */
function wholePlan(plan: Plan): LoweredPlan {
  const none: number[][] = plan.commands.length === 0 ? [] : [[]]
  return {
    segments: none.map(() => ({ plan, originalIndex: plan.commands.map(({ index }) => index) })),
    messages: [],
    after: none,
    afterPrevious: none,
  }
}
