import { availableParallelism } from 'node:os'
import {
  type Adapter,
  type AgreedRun,
  type Allocation,
  type AllocationOptions,
  type AllocationRegion,
  type Executable,
  type ExecutionOptions,
  type ExecutionResult,
  GpuError,
  type Handles,
  type HostAllocation,
  isGpuError,
  type KernelHandle,
  type KernelSource,
  type KeyedMessage,
  keepAwake,
  type LiveHandles,
  type LostInfo,
  type Plan,
  type PlanPart,
  type Ranks,
  type RepeatedOptions,
  type Runtime,
  type Span,
} from '@tandem-gpu/core'
import { lowerPlan } from './lower-plan.ts'
import { ProgramMemory } from './message-memory.ts'
import { type PreparedNodes, toGpuError } from './native-addon.ts'
import type { LoweredPlan, Segment } from './segments.ts'
import type { MpiSession } from './session.ts'
import type { OpenedDevices } from './transport.ts'

/** How long threads do not sleep, where there are cores to spare: what waking one adds to longer waits is little. */
const awakeMilliseconds = { gather: 1, run: 50, afterRun: 1 }

interface MpiExecutable extends Executable {
  readonly segments: readonly (Segment & { readonly executable: Executable })[]
  /** What the inner backend has made of the plan. */
  readonly made: readonly Executable[]
  readonly nodes: PreparedNodes
  /** One segment and no message: the inner backend repeats it. */
  readonly alone: boolean
  readonly memory: ProgramMemory
}

/**
 * One rank's part of a group over all ranks. Allocations, kernels and host memory are the inner backend's. A program runs as a native
 * schedule: messages are posted and completed by the progress thread, device work is submitted here when that thread says so.
 */
export class MpiRuntime implements Runtime {
  readonly devices: readonly Adapter[]
  readonly lost: Promise<LostInfo>
  readonly ranks: Ranks
  readonly #session: MpiSession
  readonly #inner: Runtime
  readonly #joined: OpenedDevices['joined']
  /** Each rank reaches the memory of all devices, and has all of each plan. */
  readonly #sharesMemory: boolean
  /** MPI takes messages from device memory. */
  readonly #gpuAware: boolean
  readonly #peers: ReadonlyMap<number, readonly boolean[]>
  readonly #label: string
  /** That this process has for itself. */
  readonly #cores: number
  readonly #group: number
  /** For each device of the group, its position among its rank's. */
  readonly #localOrdinal: readonly number[]
  readonly #executables = new Set<MpiExecutable>()
  #resolveLost!: (info: LostInfo) => void
  /** Why another rank cannot go on, once that is known. */
  #peerLost: GpuError | undefined
  #runs = 0
  /** Runs that have not settled. */
  #pending = 0
  /** Settles when the last run has: what follows must take effect after all its parts. */
  #lastRun: Promise<unknown> = Promise.resolve()
  /** Settles when all reads and writes have, where MPI itself uses device memory: its messages do not queue up behind them in the inner backend. */
  #transferred: Promise<unknown> = Promise.resolve()

  constructor(
    session: MpiSession,
    devices: readonly Adapter[],
    { inner, joined, transport }: OpenedDevices,
    peers: ReadonlyMap<number, readonly boolean[]>,
    label: string,
  ) {
    this.devices = devices
    this.#session = session
    this.#inner = inner
    this.#joined = joined
    this.#sharesMemory = transport.name === 'ipc'
    this.#gpuAware = transport.name === 'gpu-aware'
    this.#peers = peers
    this.#label = label
    this.#cores = availableParallelism() / session.ranksOnMachine
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
    const group = session.newGroup((code, message) => {
      this.#peerLost ??= new GpuError(code, message)
      joined?.break()
      this.#resolveLost({ reason: 'unknown', message })
    })
    this.#group = group
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
      transport,
      gather: (key, message, number) => {
        const gathered = settled(addon.gather(group, key, message, number))
        keepAwake(gathered, awakeMilliseconds.gather, this.#cores, addon.yieldCore)
        return gathered
      },
      runAgreed: (executable, options, start, end) =>
        this.#runAgreed(executable as MpiExecutable, options, start, end),
      deliver: async (key, from, to, bytes) => {
        if (from === to || bytes.byteLength === 0) return
        await settled(addon.deliver(group, key, from, to === 'all' ? -1 : to, bytes))
      },
      leave: (reason = '') => addon.leave(group, reason),
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
    this.#inner.freeHost(allocation)
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
        made,
        segments: segments.map((segment, i) => ({ ...segment, executable: made[i]! })),
        nodes: this.#session.addon.prepare([
          ...segments.map((_, node) => ({ kind: 'segment' as const, ...edges(node) })),
          ...messages.map((message, i) => ({ ...message, ...edges(segments.length + i) })),
        ]),
        alone: segments.length === 1 && messages.length === 0,
        memory,
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
    known.memory.free()
  }

  run(executable: Executable, options: ExecutionOptions): Promise<ExecutionResult> {
    const run = this.#runs++
    const done = Promise.all([this.#lastRun, this.#transferred]).then(() =>
      this.#execute(executable as MpiExecutable, options, run),
    )
    this.#followedBy(done)
    return done
  }

  #followedBy(run: Promise<unknown>): void {
    this.#pending += 1
    this.#lastRun = run
      .catch(() => {})
      .then(() => {
        this.#pending -= 1
      })
  }

  #runAgreed(
    { alone, made }: MpiExecutable,
    options: RepeatedOptions,
    start: KeyedMessage,
    end: KeyedMessage,
  ): AgreedRun | undefined {
    if (this.#joined === undefined || !alone || this.#pending > 0) return undefined
    const repeated = this.#inner.repeated?.(made[0]!, options)
    if (repeated === undefined) return undefined
    const { addon } = this.#session
    const native = addon.runAgreed(
      ...([this.#group, start.key, start.message] as const),
      ...([end.key, end.message, repeated.launcher] as const),
    )
    const awake = keepAwake(native.ended, awakeMilliseconds.run, this.#cores, addon.yieldCore)
    if (awake) addon.stayAwake(awakeMilliseconds.run)
    const begun = async () => {
      const said = await settled(native.started)
      // All ranks number runs alike, whichever way they begin.
      if (said.length === 1) this.#runs++
      return said
    }
    const over = async () => {
      const outcome = await settled(native.ended)
      if (awake) addon.stayAwake(awakeMilliseconds.afterRun)
      if (outcome === undefined || 'said' in outcome) return outcome?.said
      throw this.#ended(repeated.failed(outcome.error))
    }
    const ended = over()
    this.#followedBy(ended)
    return { started: begun(), ended }
  }

  /** The error of a run; where the devices of other ranks wait for this rank's, it ends the group for all. */
  #ended(error: unknown): unknown {
    if (this.#joined === undefined || !isGpuError(error, 'device-lost')) return error
    this.#joined.break()
    if (this.#peerLost === undefined) this.ranks.leave(error.message)
    return this.#peerLost ?? error
  }

  async #execute(
    executable: MpiExecutable,
    options: ExecutionOptions,
    run: number,
  ): Promise<ExecutionResult> {
    if (executable.alone && options.abortable === false) return this.#executeAlone(executable, options)
    const { times, signal, profile = false, uniformBlock } = options
    const { addon } = this.#session
    const start = performance.now()
    let failure: unknown
    let innerSeconds = 0
    let clock: ExecutionResult['clock'] = this.#joined === undefined ? 'host' : 'device'
    const spans: Span[] = []
    const issue = async (node: number, repetition: number, count: number) => {
      const { executable: part, originalIndex } = executable.segments[node]!
      const profiled = profile && repetition + count === times
      const offsetSeconds = (performance.now() - start) / 1000
      try {
        const result = await this.#inner.run(part, {
          times: count,
          ...(profiled && { profile }),
          ...(uniformBlock && { uniformBlock }),
        })
        innerSeconds += result.seconds
        clock = result.clock
        for (const span of result.spans ?? [])
          spans.push({
            ...span,
            command: originalIndex[span.command]!,
            repetition: times - 1,
            device: this.#globalOrdinal(span.device),
            startSeconds: span.startSeconds + offsetSeconds,
            endSeconds: span.endSeconds + offsetSeconds,
          })
        addon.segmentCompleted(this.#group, run, node, count)
      } catch (error) {
        // Devices that need no message of the host's have done their part all the same: the others go on, and so does this rank.
        if (this.#joined === undefined || isGpuError(error, 'device-lost')) fail(error)
        else {
          failure ??= error
          addon.segmentCompleted(this.#group, run, node, count)
        }
      }
    }
    const fail = (error: unknown) => {
      failure ??= error
      // Others wait for messages that never come, and messages under way cannot be taken back: this ends the group for all.
      this.#joined?.break()
      if (executable.alone && this.#joined === undefined) addon.endRun(this.#group, run)
      else this.ranks.leave(error instanceof Error ? error.message : String(error))
    }
    const abort = () => addon.abortRun(this.#group, run)
    signal?.addEventListener('abort', abort)
    try {
      if (signal?.aborted) abort()
      // A rank without a part is done at once: it would run ahead of the others, out of an abort's reach.
      let { nodes } = executable
      if (this.#joined !== undefined && executable.made[0] !== undefined)
        if (!(await this.#inner.connect!(executable.made[0]))) nodes = addon.prepare([])
      const native = !profile && !executable.alone
      const launchers = native
        ? await this.#launchers(executable, uniformBlock).catch((error) => {
            fail(error)
            throw error
          })
        : []
      const { seconds, repetitions } = await addon.run(
        ...([this.#group, run, nodes, times, issue, launchers] as const),
        (reason) => fail(new GpuError('driver', `Program "${executable.label}" fails: ${reason}`)),
      )
      if (failure !== undefined) throw failure
      if (repetitions < times)
        throw new GpuError('aborted', `The run is aborted after ${repetitions} of ${times} repetitions.`, {
          cause: signal?.reason,
        })
      return {
        seconds: executable.alone ? innerSeconds : seconds,
        clock: executable.alone ? clock : 'host',
        ...(profile && { spans }),
      }
    } catch (error) {
      throw failure ?? toGpuError(error)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** A program that the inner backend repeats, in one call: as no rank can abort it, no repetition need be agreed on. */
  async #executeAlone(
    { made, segments }: MpiExecutable,
    { times, profile = false, uniformBlock }: ExecutionOptions,
  ): Promise<ExecutionResult> {
    const { addon } = this.#session
    const [part] = made as [Executable]
    const { originalIndex } = segments[0]!
    try {
      if (this.#joined !== undefined && !(await this.#inner.connect!(part)))
        return { seconds: 0, clock: 'device' }
      const running = this.#inner.run(part, {
        times,
        ...(profile && { profile }),
        ...(uniformBlock && { uniformBlock }),
      })
      // At its end the ranks agree.
      const awake = keepAwake(running, awakeMilliseconds.run, this.#cores, addon.yieldCore)
      if (awake) addon.stayAwake(awakeMilliseconds.run)
      const result = await running
      if (awake) addon.stayAwake(awakeMilliseconds.afterRun)
      const spans = result.spans?.map((span) => ({
        ...span,
        command: originalIndex[span.command]!,
        device: this.#globalOrdinal(span.device),
      }))
      return { ...result, ...(spans && { spans }) }
    } catch (error) {
      throw this.#ended(error)
    }
  }

  /** What starts the segments without JavaScript, where the inner backend has it. */
  async #launchers(
    { segments }: MpiExecutable,
    uniformBlock: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<unknown[]> {
    return Promise.all(segments.map(({ executable }) => this.#inner.launcher?.(executable, uniformBlock)))
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

  #globalOrdinal(local: number): number {
    const { rank } = this.#session
    return this.devices.findIndex(
      (device, ordinal) => device.rank === rank && this.#localOrdinal[ordinal] === local,
    )
  }

  write(region: AllocationRegion, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#transfer(() => this.#inner.write(region, bytes))
  }

  read(region: AllocationRegion, into: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#transfer(() => this.#inner.read(region, into))
  }

  #transfer(transfer: () => Promise<void>): Promise<void> {
    const done = this.#lastRun.then(transfer)
    if (this.#gpuAware) this.#transferred = Promise.allSettled([this.#transferred, done])
    return done
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
    await this.#lastRun
    for (const executable of this.#executables) this.release(executable)
    const failures = await this.#inner.dispose()
    this.#joined?.close()
    this.#session.endGroup(this.#group)
    this.#resolveLost({ reason: 'destroyed', message: `The group "${this.#label}" is disposed.` })
    return failures
  }
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

async function settled<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw toGpuError(error)
  }
}
