import type { Executable, ExecutionOptions, PlanPart, SharingProcesses } from '@tandem-gpu/core'
import { Arena } from './arena.ts'
import { bounceByteLength, type PlanMemory } from './command-nodes.ts'
import type { CudaCommand, CudaPlan, RecordedPlan } from './cuda-plan.ts'
import { GraphCache, type GraphHandles, keptGraphSets } from './graph-cache.ts'
import type { GraphNode } from './graph-nodes.ts'
import { isMessage, lowerMessages, type PlanOfExchanges } from './lower-messages.ts'
import { barrierPlan, flagsPerRepetition, lowerPerGpu, type SyncMemory } from './lower-per-gpu.ts'
import { type GraphSet, lowerToOneGraph, stampedNodes, stampNode } from './lower-plan.ts'
import { choosePlanLowering, gpusOf, type LoweredPlan, type Lowering } from './lowering.ts'
import type { NativeRunRequest } from './native-addon.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { PlanConnection } from './plan-connection.ts'
import { agree } from './shared-memory.ts'
import { launchSteps, longestUnroll } from './unrolling.ts'

interface LoweredParts extends LoweredPlan {
  readonly stagingByteLength: number
  /** Of a plan with messages. */
  readonly recorded?: PlanOfExchanges['recorded']
  /** Where in the staging memory the messages lie by which ranks meet. */
  readonly meetingByteOffset?: number
}

interface LastRun {
  readonly times: number
  readonly run: Pick<NativeRunRequest, 'before' | 'steps'>
  /** `GraphCache.destroyed` by then. */
  readonly destroyed: number
  launcher?: unknown
}

/** A run needs three at most; with those that start and synchronise a run they fill no cache. */
const agreedLengths = keptGraphSets - 3

const lengthName = (repetitions: number) => `${repetitions} repetitions`

/** Two words: one that is sent, and one for what arrives. */
const meetingByteLength = 512

function lower(physical: PhysicalGpus, lowering: Lowering, recorded: RecordedPlan<PlanPart>): LoweredParts {
  if (!recorded.commands.some(isMessage))
    return { ...choosePlanLowering(recorded as RecordedPlan, lowering, physical), stagingByteLength: 0 }
  const { stagingByteLength: meetingByteOffset, ...lowered } = lowerMessages(recorded)
  return {
    ...lowered,
    meetingByteOffset,
    stagingByteLength: meetingByteOffset + meetingByteLength,
    lowering: 'one-graph',
    largeCopies: false,
    gpus: gpusOf(lowered.plan, physical),
  }
}

/** A plan with its memory and its graphs, which are instantiated when a run first needs them. */
export class CudaExecutable implements Executable {
  readonly label: string
  readonly plan: CudaPlan
  readonly stoppable: boolean
  /** Those of this process on which commands run. */
  readonly gpus: readonly number[]
  /** Of all processes. */
  readonly #overSeveralGpus: boolean
  readonly arena: Arena
  /** From how many commands follows how many repetitions a graph holds; between processes that exchange messages, of the longest plan of all. */
  commandCount: number
  readonly #recorded: PlanOfExchanges['recorded'] | undefined
  readonly #lowering: LoweredPlan['lowering']
  readonly #largeCopies: boolean
  readonly #memory: PlanMemory
  readonly #graphs: GraphCache
  readonly #physical: PhysicalGpus
  /** Of a plan over several processes, once `connect` has been called. */
  #mapped: PlanConnection | undefined
  /** The processes have agreed on lengths. */
  #connected = false
  #interrupted = false
  /** The lengths of which all processes have graphs, in the order in which these were made. */
  #agreed: readonly (number | 'profile')[] = []
  /** Of a plan with messages: the ranks whose plans have any, and this one's place among them. */
  #meeting: { readonly ranks: readonly number[]; readonly own: number } | undefined
  readonly #meetingByteOffset: number | undefined
  #last: LastRun | undefined
  #launcher: { readonly id: number; readonly made: Promise<unknown> } | undefined
  /** The contents of the uniform block on the GPUs; undefined before the first run, and after a run that failed. */
  #uniformsHeld: Uint8Array<ArrayBuffer> | undefined

  static async create(
    physical: PhysicalGpus,
    lowering: Lowering,
    recorded: RecordedPlan<PlanPart>,
  ): Promise<CudaExecutable> {
    const lowered = lower(physical, lowering, recorded)
    const { plan, stagingByteLength } = lowered
    const gpus = lowered.gpus.filter((gpu) => physical.isHere(gpu))
    const synchronises = lowered.lowering === 'graph-per-gpu'
    // Across processes flags are never cleared, which all would have to wait for: each length has flags of its own, and so has profiling.
    const sets = physical.shared === undefined ? keptGraphSets : longestUnroll(plan.commands.length) + 2
    const flags =
      flagsPerRepetition(plan, (device) => physical.gpuOf(device)) * longestUnroll(plan.commands.length)
    // A barrier has a flag for each two GPUs.
    const mostFlags = Math.max(flags, lowered.gpus.length ** 2)
    const syncs = synchronises ? sets : 0
    const arena = await Arena.allocate(physical, plan, gpus, syncs, mostFlags, stagingByteLength)
    const executable = new CudaExecutable(physical, { ...lowered, gpus }, arena)
    try {
      // Between processes every GPU reaches every other.
      for (const command of physical.shared === undefined ? plan.commands : []) {
        const byteLength = bounceByteLength(command, executable.#memory)
        if (byteLength > 0) await arena.addBounce(command.index, byteLength)
      }
      // Instantiated now, so that an error of the driver is known before the first run.
      if (physical.shared === undefined) await executable.graphs(1).ready
      return executable
    } catch (error) {
      executable.release()
      throw error
    }
  }

  private constructor(
    physical: PhysicalGpus,
    { plan, lowering, largeCopies, gpus, recorded, meetingByteOffset }: LoweredParts,
    arena: Arena,
  ) {
    this.label = plan.label
    this.plan = plan
    this.stoppable = plan.kernels.every((kernel) => kernel.isStoppable)
    this.gpus = gpus
    this.#overSeveralGpus = gpusOf(plan, physical).length > 1
    this.commandCount = plan.commands.length
    this.#recorded = recorded
    this.#meetingByteOffset = meetingByteOffset
    this.#lowering = lowering
    this.#largeCopies = largeCopies
    this.arena = arena
    this.#graphs = new GraphCache(physical)
    this.#physical = physical
    this.#memory = {
      gpuOf: (device) => physical.gpuOf(device),
      addressOf: (index) => {
        if (index === plan.buffers.length)
          return { onHost: false, address: arena.stagingAddress(gpus[0]!), gpu: gpus[0]! }
        const buffer = plan.buffers[index]!
        if (buffer.kind === 'host') return { onHost: true, address: buffer.allocation.address, gpu: 0 }
        const gpu = physical.gpuOf(buffer.device)
        const address = physical.isHere(gpu) ? buffer.allocation.address : this.#mapped!.addressOf(index)
        return { onHost: false, address, gpu }
      },
      isHere: (gpu) => physical.isHere(gpu),
      uniformAddress: (gpu) => arena.uniformAddress(gpu),
      trapAddress: (gpu) => arena.trapAddress(gpu),
      reachable: (reader, owner) => physical.reachable(reader, owner),
      internalKernel: (entry, gpu) => physical.internalKernel(entry, gpu),
      bounceAddress: (command) => arena.bounceAddress(command),
      leaveAddress: (gpu) => physical.native.leaveAddresses[gpu]!,
    }
  }

  /**
   * For a run of processes that share memory, or exchange messages (`connected`): maps the memory of the others, or agrees on the lengths of graphs, and makes the graphs
   * that such a run needs. All processes call it before each run; it rejects alike on all.
   */
  async connect(
    run: Pick<ExecutionOptions, 'times' | 'profile'>,
    connected?: SharingProcesses,
  ): Promise<void> {
    const { shared } = this.#physical
    if (connected !== undefined) await this.#agreeOnLengths(connected)
    else if (shared !== undefined && this.plan.commands.length > 0) {
      this.#mapped ??= await PlanConnection.open(this.plan, this.#physical, shared, this.arena)
      // Nothing of the program runs on any GPU: each clears its own flags, and none begins before all have.
      if (this.#interrupted)
        await agree(shared.processes, `Clearing the flags of program '${this.label}'`, () =>
          this.arena.clearAllSyncs(),
        )
      this.#interrupted = false
    } else return
    await this.#agreeOnGraphs(connected ?? shared!.processes, run)
  }

  /**
   * The processes speak about new lengths alone: those that all have change here and nowhere else, so that all have the same. (A run that native code repeats, on some of
   * the processes, comes by here on the others.)
   */
  async #agreeOnGraphs(
    processes: SharingProcesses,
    { times, profile = false }: Pick<ExecutionOptions, 'times' | 'profile'>,
  ): Promise<void> {
    const plain = profile ? times - 1 : times
    const lengths: (number | 'profile')[] =
      plain === 0 ? [] : launchSteps(this.commandCount, plain).map(({ repetitions }) => repetitions)
    if (profile) lengths.push('profile')
    const fresh = lengths.filter((length) => !this.#agreed.includes(length))
    if (fresh.length === 0) return
    // The oldest go first, before the cache of a process would have to choose.
    const others = this.#agreed.filter((length) => !lengths.includes(length))
    const gone = others.slice(0, Math.max(0, others.length + lengths.length - agreedLengths))
    for (const length of gone) this.#drop(length)
    this.#agreed = [...this.#agreed.filter((length) => !gone.includes(length)), ...fresh]
    try {
      await agree(processes, `Instantiating program '${this.label}'`, async () => {
        if (this.plan.commands.length === 0) return
        const sets = fresh.flatMap((length) =>
          length === 'profile' ? [this.profileGraphs(), this.startGraphs()] : [this.graphs(length)],
        )
        await Promise.all([...sets, this.barrier(), this.meeting()].map((set) => set?.ready))
      })
    } catch (error) {
      for (const length of fresh) this.#drop(length)
      this.#agreed = this.#agreed.filter((length) => !fresh.includes(length))
      throw error
    }
  }

  #drop(length: number | 'profile'): void {
    this.#graphs.drop(length === 'profile' ? length : lengthName(length))
  }

  async #agreeOnLengths(processes: SharingProcesses): Promise<void> {
    if (this.#connected) return
    const said = await agree(processes, `Connecting program '${this.label}'`, async () => ({
      count: this.commandCount,
      exchanges: this.#recorded !== undefined,
    }))
    this.commandCount = Math.max(...said.map(({ count }) => count))
    const ranks = said.flatMap(({ exchanges }, rank) => (exchanges ? [rank] : []))
    const own = ranks.indexOf(processes.rank)
    if (own >= 0) this.#meeting = { ranks, own }
    this.#connected = true
  }

  /** The recorded parts of the plan that a command carries out. */
  recordedBy(command: number): readonly number[] {
    return this.#recorded?.[command] ?? [command]
  }

  /** All processes know that a run has been ended, whose GPUs may have launched unequally often. */
  interrupted(): void {
    this.#interrupted = true
    this.#last = undefined
  }

  /** Graphs of `repetitions` repetitions. */
  graphs(repetitions: number): GraphHandles {
    return this.#graphs.get(lengthName(repetitions), (slot) => this.#lower(repetitions, slot))
  }

  /** One repetition with time stamps around every command. */
  profileGraphs(): GraphHandles {
    const { plan } = this
    const nodesOf = (command: CudaCommand) =>
      stampedNodes(plan, command, this.#memory, (gpu, slot) => this.arena.stampAddress(gpu, slot))
    return this.#graphs.get('profile', () =>
      this.#physical.shared === undefined
        ? lowerToOneGraph(plan, 1, this.#memory, nodesOf)
        : lowerPerGpu(plan, 1, this.#memory, this.#sync(longestUnroll(plan.commands.length)), {
            nodesOf,
            largeCopies: this.#largeCopies,
          }),
    )
  }

  /**
   * Across processes, what none of their GPUs goes beyond before all have come there: it stands before each run, so that the clock begins for all alike, and
   * between graphs of two lengths, of which one's waits do not know what the other has done.
   */
  barrier(): GraphHandles | undefined {
    if (this.#physical.shared === undefined || !this.#overSeveralGpus) return undefined
    return this.#graphs.get('barrier', () => {
      const plan = barrierPlan(this.plan, (device) => this.#physical.gpuOf(device))
      const sync = this.#sync(longestUnroll(this.plan.commands.length) + 1)
      const nodesOf = ({ device }: CudaCommand) => {
        const gpu = this.#physical.gpuOf(device)
        return [stampNode(this.#memory, gpu, this.arena.stampAddress(gpu, 0))]
      }
      return lowerPerGpu(plan, 1, this.#memory, sync, { nodesOf })
    })
  }

  /**
   * Between processes that exchange messages: what none of their GPUs goes beyond before all have come there, so that the clock of a run begins for all
   * alike. In round k each tells the one 2^k places on what it knows (Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, 1988).
   */
  meeting(): GraphHandles | undefined {
    if (this.#meeting === undefined) return undefined
    const { ranks, own } = this.#meeting
    return this.#graphs.get('meeting', () => {
      const [gpu] = this.gpus as [number]
      const sent = this.arena.stagingAddress(gpu) + this.#meetingByteOffset!
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

  /** One time stamp on the first GPU, in the slot behind those of the commands. */
  startGraphs(): GraphHandles {
    return this.#graphs.get('start', () =>
      this.gpus.slice(0, 1).map((gpu) => ({
        mainGpu: gpu,
        nodes: [{ ...stampNode(this.#memory, gpu, this.arena.stampAddress(gpu, this.startSlot)), after: [] }],
      })),
    )
  }

  get startSlot(): number {
    return this.plan.commands.length * 2
  }

  /** Where the uniform block must be copied before a run with `wanted`; none when the GPUs hold it already. */
  uniformTargets(wanted: Uint8Array<ArrayBuffer>): { gpu: number; address: number }[] {
    if (this.#holds(wanted)) return []
    this.#uniformsHeld = wanted.slice()
    return this.gpus.map((gpu) => ({ gpu, address: this.arena.uniformAddress(gpu) }))
  }

  /** A run of `times` repetitions has gone well, with the uniforms that the GPUs hold. */
  ranWell(times: number, run: Pick<NativeRunRequest, 'before' | 'steps'>): void {
    if (this.#last?.times !== times || this.#last.destroyed !== this.#graphs.destroyed)
      this.#last = { times, run, destroyed: this.#graphs.destroyed }
  }

  /** What starts the last run again; undefined where one of `times` repetitions with these uniforms would differ, or one of its graphs is gone. */
  runLauncher(times: number, uniforms: Uint8Array<ArrayBuffer>): unknown {
    const last = this.#last
    if (last === undefined || last.times !== times || last.destroyed !== this.#graphs.destroyed)
      return undefined
    if (!this.#holds(uniforms)) return undefined
    const { before, steps } = last.run
    last.launcher ??= this.#physical.native.createRunLauncher(before, steps)
    return last.launcher
  }

  #holds(uniforms: Uint8Array<ArrayBuffer>): boolean {
    if (uniforms.length === 0) return true
    return this.#uniformsHeld !== undefined && Buffer.compare(this.#uniformsHeld, uniforms) === 0
  }

  /** What starts one repetition from native code; made at the first call. */
  launcher(): Promise<unknown> {
    if (this.#launcher === undefined) {
      const id = this.#physical.nextId()
      const { ids, ready } = this.graphs(1)
      const made = ready.then(() => this.#physical.native.createLauncher(id, ids))
      this.#launcher = { id, made }
      made.catch(() => {
        this.#launcher = undefined
      })
    }
    return this.#launcher.made
  }

  /** After a run that failed: it may not have copied the uniforms, nor, unless it was `ended` on purpose, launched on every GPU as often. */
  recover(ended: boolean): void {
    this.#last = undefined
    this.#uniformsHeld = undefined
    if (!ended) this.#graphs.forgetSynchronised()
  }

  release(): void {
    if (this.#launcher !== undefined) this.#physical.native.destroyLauncher(this.#launcher.id)
    this.#graphs.clear()
    this.#mapped?.close()
    this.arena.free()
  }

  #lower(repetitions: number, slot: number): GraphSet {
    if (this.#lowering === 'one-graph') return lowerToOneGraph(this.plan, repetitions, this.#memory)
    if (this.#physical.shared !== undefined) {
      const options = { largeCopies: this.#largeCopies }
      return lowerPerGpu(this.plan, repetitions, this.#memory, this.#sync(repetitions - 1), options)
    }
    this.arena.clearSync(slot)
    return lowerPerGpu(this.plan, repetitions, this.#memory, this.#sync(slot))
  }

  #sync(slot: number): SyncMemory {
    return {
      epochAddress: (gpu) => this.arena.epochAddress(slot, gpu),
      flagAddress: (gpu, flag) => this.arena.flagAddress(slot, gpu, flag),
      stopAddress: this.#physical.native.stopAddress,
    }
  }
}
