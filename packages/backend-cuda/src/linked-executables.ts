import type { LinkedProcesses, PlanPart } from '@tandem-gpu/core/backend'
import { isMessage } from '@tandem-gpu/core/backend'
import type { PlanAddresses } from './command-nodes.ts'
import {
  arenaOf,
  CudaExecutable,
  type ExecutableParts,
  formName,
  graphForms,
  profileName,
  type RunForm,
} from './cuda-executable.ts'
import type { CudaCommand, RecordedPlan } from './cuda-plan.ts'
import { type GraphHandles, keptGraphSets } from './graph-cache.ts'
import type { GraphNode, NodeBody } from './graph-nodes.ts'
import { lowerMessages, type PlanOfExchanges } from './lower-messages.ts'
import { barrierPlan, lowerPerGpu } from './lower-per-gpu.ts'
import { type GraphSet, stampNode } from './lower-plan.ts'
import { choosePlanLowering, gpusOf, type LoweredPlan, type Lowering, lowerShared } from './lowering.ts'
import type { NativeRunRequest } from './native-addon.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { PlanConnection } from './plan-connection.ts'
import { agree, type SharedMemory } from './shared-memory.ts'
import { longestUnroll } from './unrolling.ts'

interface LastRun {
  readonly times: number
  readonly run: Pick<NativeRunRequest, 'before' | 'steps'>
  /** The value of `GraphCache.destroyed` at that time. */
  readonly destroyed: number
  launcher?: unknown
}

/**
 * A run needs at most three forms, and one in parts at most six. Together with the graphs that start and
 * synchronize a run, these do not fill more than a cache.
 */
const agreedForms = keptGraphSets - 3

/** Two words, 256 bytes apart: one that is sent, and one that is received. */
const meetingByteLength = 512

/** The executable of a program over several processes, which agree on the graphs they create. */
export abstract class LinkedExecutable extends CudaExecutable {
  protected readonly processes: LinkedProcesses
  /** The names of the forms of which all processes have graphs, in order of creation. */
  #agreed: readonly string[] = []
  #last: LastRun | undefined

  protected constructor(parts: ExecutableParts, processes: LinkedProcesses) {
    super(parts)
    this.processes = processes
  }

  /**
   * Exchanges what a run needs from the other processes, and creates its graphs. All processes
   * call it before each run; it rejects in all of them or in none.
   */
  async connect(run: RunForm, parts: readonly number[] = [run.times]): Promise<void> {
    if (await this.meet()) await this.#agreeOnGraphs(run, parts)
  }

  /** Exchanges what the processes must know about each other; returns false if they need no graphs. */
  protected abstract meet(): Promise<boolean>

  /**
   * The processes communicate only about new forms. The list of common forms changes only here, so all
   * processes have the same list. (A run that native code repeats on some of the processes passes through
   * here on the others.)
   */
  async #agreeOnGraphs(run: RunForm, parts: readonly number[]): Promise<void> {
    const partForms = parts.flatMap((times, part) =>
      graphForms(this.commandCount, { ...run, times, profile: run.profile && part === parts.length - 1 }),
    )
    const forms = new Map(partForms.map((form) => [formName(form), form]))
    const names = [...forms.keys(), ...(run.profile ? [profileName] : [])]
    const fresh = names.filter((name) => !this.#agreed.includes(name))
    if (fresh.length === 0) return
    // Drops the oldest forms before the cache of a process would have to evict one itself.
    const others = this.#agreed.filter((name) => !names.includes(name))
    const gone = others.slice(0, Math.max(0, others.length + names.length - agreedForms))
    for (const name of gone) this.cache.drop(name)
    this.#agreed = [...this.#agreed.filter((name) => !gone.includes(name)), ...fresh]
    try {
      await agree(this.processes, `Instantiating program '${this.label}'`, async () => {
        if (this.plan.commands.length === 0) return
        const sets = fresh.flatMap((name) => {
          const form = forms.get(name)
          return form === undefined ? [this.profileGraphs(), this.startGraphs()] : [this.graphs(form)]
        })
        await Promise.all([...sets, this.barrier(), this.startLine()].map((set) => set?.ready))
      })
    } catch (error) {
      for (const name of fresh) this.cache.drop(name)
      this.#agreed = this.#agreed.filter((name) => !fresh.includes(name))
      throw error
    }
  }

  /** Called after a successful run of `times` repetitions with the uniforms that the GPUs hold. */
  ranWell(times: number, run: Pick<NativeRunRequest, 'before' | 'steps'>): void {
    if (this.#last?.times !== times || this.#last.destroyed !== this.cache.destroyed)
      this.#last = { times, run, destroyed: this.cache.destroyed }
  }

  /**
   * A launcher that repeats the last run; undefined if a run of `times` repetitions with these uniforms would
   * differ, or if one of its graphs has been destroyed.
   */
  runLauncher(times: number, uniforms: Uint8Array<ArrayBuffer>): unknown {
    const last = this.#last
    if (last === undefined || last.times !== times || last.destroyed !== this.cache.destroyed)
      return undefined
    if (!this.holds(uniforms)) return undefined
    const { before, steps } = last.run
    last.launcher ??= this.physical.native.createRunLauncher(before, steps)
    return last.launcher
  }

  protected forgetLast(): void {
    this.#last = undefined
  }

  override recover(ended: boolean): void {
    this.forgetLast()
    super.recover(ended)
  }
}

/** The executable of a whole plan whose processes map each other's memory. */
export class SharedExecutable extends LinkedExecutable {
  readonly #shared: SharedMemory
  #mapped: PlanConnection | undefined
  #interrupted = false

  static async create(
    physical: PhysicalGpus,
    shared: SharedMemory,
    recorded: RecordedPlan,
  ): Promise<SharedExecutable> {
    const lowered = lowerShared(recorded, physical)
    // Flags are never cleared, since all processes would have to wait for that. Instead, each length has
    // separate flags, as have profiling and the barrier.
    const arena = await arenaOf(physical, lowered, longestUnroll(lowered.plan.commands.length) + 2)
    return new SharedExecutable({ physical, lowered, arena }, shared)
  }

  private constructor(parts: ExecutableParts, shared: SharedMemory) {
    super(parts, shared.processes)
    this.#shared = shared
  }

  protected override addressElsewhere(buffer: number): number {
    return this.#mapped?.addressOf(buffer) ?? super.addressElsewhere(buffer)
  }

  protected override async meet(): Promise<boolean> {
    if (this.plan.commands.length === 0) return false
    this.#mapped ??= await PlanConnection.open(this.plan, this.physical, this.#shared, this.arena)
    // Nothing of the program is running on any GPU. Each process clears its own flags, and none starts before
    // all have done so.
    if (this.#interrupted)
      await agree(this.processes, `Clearing the flags of program '${this.label}'`, () =>
        this.arena.clearAllSyncs(),
      )
    this.#interrupted = false
    return true
  }

  /**
   * Called when all processes know that a run has been ended, after which their GPUs may have launched a
   * different number of times.
   */
  interrupted(): void {
    this.#interrupted = true
    this.forgetLast()
  }

  override barrier(): GraphHandles | undefined {
    if (this.lowered.gpus.length < 2) return undefined
    return this.cache.get('barrier', () => {
      const plan = barrierPlan(this.plan, (device) => this.physical.gpuOf(device))
      const sync = this.sync(longestUnroll(this.plan.commands.length) + 1)
      const nodesOf = ({ device }: CudaCommand) => {
        const gpu = this.physical.gpuOf(device)
        return [stampNode(this.memory, gpu, this.arena.stampAddress(gpu, 0))]
      }
      return lowerPerGpu(plan, 1, this.memory, sync, { nodesOf })
    })
  }

  /** Graphs with and without a limit synchronize alike, so they have the same flags. */
  protected override lower(repetitions: number, _: number, memory: PlanAddresses): GraphSet {
    const { largeCopies } = this.lowered
    return lowerPerGpu(this.plan, repetitions, memory, this.sync(repetitions - 1), { largeCopies })
  }

  protected override lowerProfile(nodesOf: (command: CudaCommand) => NodeBody[]): GraphSet {
    const { largeCopies } = this.lowered
    const sync = this.sync(longestUnroll(this.plan.commands.length))
    return lowerPerGpu(this.plan, 1, this.memory, sync, { nodesOf, largeCopies })
  }

  override release(): void {
    this.#mapped?.close()
    super.release()
  }
}

/** The executable of one process's part of a program, with the messages in it. */
export class ConnectedExecutable extends LinkedExecutable {
  readonly #recorded: PlanOfExchanges['recorded'] | undefined
  /** The offset in the staging memory of the messages with which ranks synchronize. */
  readonly #meetingByteOffset: number
  /** Whether the processes have agreed on lengths. */
  #connected = false
  /** The ranks whose plans have messages, and the index of this rank among them. */
  #meeting: { readonly ranks: readonly number[]; readonly own: number } | undefined

  static async create(
    physical: PhysicalGpus,
    processes: LinkedProcesses,
    lowering: Lowering,
    part: RecordedPlan<PlanPart>,
  ): Promise<ConnectedExecutable> {
    const commands = part.commands.filter((command) => !isMessage(command))
    if (commands.length === part.commands.length) {
      const lowered = choosePlanLowering({ ...part, commands }, lowering, physical)
      const arena = await arenaOf(physical, lowered, keptGraphSets)
      return new ConnectedExecutable({ physical, lowered, arena }, processes, undefined, 0).readyHere()
    }
    const { plan, stagingByteLength, recorded } = lowerMessages(part)
    const gpus = gpusOf(plan, physical)
    const lowered: LoweredPlan = { plan, lowering: 'one-graph', largeCopies: false, gpus }
    const arena = await arenaOf(physical, lowered, 0, stagingByteLength + meetingByteLength)
    const parts = { physical, lowered, arena }
    return new ConnectedExecutable(parts, processes, recorded, stagingByteLength).readyHere()
  }

  private constructor(
    parts: ExecutableParts,
    processes: LinkedProcesses,
    recorded: PlanOfExchanges['recorded'] | undefined,
    meetingByteOffset: number,
  ) {
    super(parts, processes)
    this.#recorded = recorded
    this.#meetingByteOffset = meetingByteOffset
  }

  override recordedBy(command: number): readonly number[] {
    return this.#recorded?.[command] ?? super.recordedBy(command)
  }

  /** Graphs have as many repetitions as the longest plan allows. */
  protected override async meet(): Promise<boolean> {
    if (this.#connected) return true
    const said = await agree(this.processes, `Connecting program '${this.label}'`, async () => ({
      count: this.commandCount,
      exchanges: this.#recorded !== undefined,
    }))
    this.commandCount = Math.max(...said.map(({ count }) => count))
    const ranks = said.flatMap(({ exchanges }, rank) => (exchanges ? [rank] : []))
    const own = ranks.indexOf(this.processes.rank)
    if (own >= 0) this.#meeting = { ranks, own }
    this.#connected = true
    return true
  }

  protected override lower(repetitions: number, slot: number, memory: PlanAddresses): GraphSet {
    return this.lowerHere(repetitions, slot, memory)
  }

  /**
   * In round k, each rank sends a message to the rank 2^k positions ahead (Hensgen, Finkel and Manber, Two
   * algorithms for barrier synchronization, 1988).
   */
  override startLine(): GraphHandles | undefined {
    if (this.#meeting === undefined) return undefined
    const { ranks, own } = this.#meeting
    return this.cache.get('meeting', () => {
      const [gpu] = this.gpus as [number]
      const sent = this.arena.stagingAddress(gpu) + this.#meetingByteOffset
      const nodes: GraphNode[] = []
      for (let distance = 1; distance < ranks.length; distance *= 2) {
        const [to, from] = [own + distance, own - distance + ranks.length].map(
          (at) => ranks[at % ranks.length]!,
        )
        const messages = [
          { sends: true, peer: to!, address: sent, byteLength: 4 },
          { sends: false, peer: from!, address: sent + meetingByteLength / 2, byteLength: 4 },
        ]
        nodes.push({ kind: 'messages', gpu, messages, after: nodes.length > 0 ? [nodes.length - 1] : [] })
      }
      return [{ mainGpu: gpu, nodes }]
    })
  }
}
