import type { Executable } from '@tandem-gpu/core/backend'
import { Arena } from './arena.ts'
import { bounceByteLength, type PlanAddresses } from './command-nodes.ts'
import type { CudaCommand, CudaPlan, RecordedPlan } from './cuda-plan.ts'
import { GraphCache, type GraphHandles, keptGraphSets } from './graph-cache.ts'
import type { NodeBody } from './graph-nodes.ts'
import { flagsPerRepetition, lowerPerGpu, type SyncMemory } from './lower-per-gpu.ts'
import { type GraphSet, lowerToOneGraph, stampedNodes, stampNode } from './lower-plan.ts'
import { choosePlanLowering, type LoweredPlan, type Lowering } from './lowering.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { longestUnroll } from './unrolling.ts'

/** What an executable is made of. */
export interface ExecutableParts {
  readonly physical: PhysicalGpus
  readonly lowered: LoweredPlan
  readonly arena: Arena
}

export const lengthName = (repetitions: number) => `${repetitions} repetitions`

/** The arena of a plan, of which `sets` sets of graphs synchronise at the same time. */
export function arenaOf(
  physical: PhysicalGpus,
  { plan, lowering, gpus }: LoweredPlan,
  sets: number,
  stagingByteLength = 0,
): Promise<Arena> {
  const flags =
    flagsPerRepetition(plan, (device) => physical.gpuOf(device)) * longestUnroll(plan.commands.length)
  // A barrier has a flag for each two GPUs.
  const mostFlags = Math.max(flags, gpus.length ** 2)
  const own = gpus.filter((gpu) => physical.isHere(gpu))
  return Arena.allocate(
    physical,
    plan,
    own,
    lowering === 'graph-per-gpu' ? sets : 0,
    mostFlags,
    stagingByteLength,
  )
}

/** A plan with its memory and its graphs, which are instantiated when a run first needs them. */
export abstract class CudaExecutable implements Executable {
  readonly label: string
  readonly plan: CudaPlan
  readonly stoppable: boolean
  /** Those of this process on which commands run. */
  readonly gpus: readonly number[]
  readonly arena: Arena
  /** From how many commands follows how many repetitions a graph holds. */
  commandCount: number
  protected readonly physical: PhysicalGpus
  protected readonly lowered: LoweredPlan
  protected readonly memory: PlanAddresses
  protected readonly cache: GraphCache
  /**
   * The contents of the uniform block on the GPUs; undefined before the first run, and after a run that
   * failed.
   */
  #uniformsHeld: Uint8Array<ArrayBuffer> | undefined

  protected constructor({ physical, lowered, arena }: ExecutableParts) {
    const { plan } = lowered
    this.label = plan.label
    this.plan = plan
    this.stoppable = plan.kernels.every((kernel) => kernel.isStoppable)
    this.gpus = lowered.gpus.filter((gpu) => physical.isHere(gpu))
    this.commandCount = plan.commands.length
    this.arena = arena
    this.physical = physical
    this.lowered = lowered
    this.cache = new GraphCache(physical)
    const [first] = this.gpus
    this.memory = {
      gpuOf: (device) => physical.gpuOf(device),
      addressOf: (index) => {
        if (index === plan.buffers.length)
          return { onHost: false, address: arena.stagingAddress(first!), gpu: first! }
        const buffer = plan.buffers[index]!
        if (buffer.kind === 'host') return { onHost: true, address: buffer.allocation.address, gpu: 0 }
        const gpu = physical.gpuOf(buffer.device)
        const address = physical.isHere(gpu) ? buffer.allocation.address : this.addressElsewhere(index)
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

  /** The address of a buffer of another process. */
  protected addressElsewhere(buffer: number): number {
    throw new RangeError(`buffer ${buffer} of '${this.label}' belongs to another process`)
  }

  /** The recorded parts of the plan that a command carries out. */
  recordedBy(command: number): readonly number[] {
    return [command]
  }

  /** Graphs of `repetitions` repetitions. */
  graphs(repetitions: number): GraphHandles {
    return this.cache.get(lengthName(repetitions), (slot) => this.lower(repetitions, slot))
  }

  /** One repetition with time stamps around every command. */
  profileGraphs(): GraphHandles {
    const nodesOf = (command: CudaCommand) =>
      stampedNodes(this.plan, command, this.memory, (gpu, slot) => this.arena.stampAddress(gpu, slot))
    return this.cache.get('profile', () => this.lowerProfile(nodesOf))
  }

  /** `slot` is one of the sets of graphs that synchronise at the same time. */
  protected abstract lower(repetitions: number, slot: number): GraphSet

  protected lowerProfile(nodesOf: (command: CudaCommand) => NodeBody[]): GraphSet {
    return lowerToOneGraph(this.plan, 1, this.memory, nodesOf)
  }

  /**
   * Across processes, what none of their GPUs goes beyond before all have come there: it stands before each
   * run, so that the clock begins for all alike, and between graphs of two lengths, of which one's waits do
   * not know what the other has done.
   */
  barrier(): GraphHandles | undefined {
    return undefined
  }

  /** The same where it stands before a run alone. */
  startLine(): GraphHandles | undefined {
    return undefined
  }

  /** One time stamp on the first GPU, in the slot behind those of the commands. */
  startGraphs(): GraphHandles {
    return this.cache.get('start', () =>
      this.gpus.slice(0, 1).map((gpu) => ({
        mainGpu: gpu,
        nodes: [{ ...stampNode(this.memory, gpu, this.arena.stampAddress(gpu, this.startSlot)), after: [] }],
      })),
    )
  }

  get startSlot(): number {
    return this.plan.commands.length * 2
  }

  /**
   * Where the uniform block must be copied before a run with `wanted`; none when the GPUs hold it already.
   */
  uniformTargets(wanted: Uint8Array<ArrayBuffer>): { gpu: number; address: number }[] {
    if (this.holds(wanted)) return []
    this.#uniformsHeld = wanted.slice()
    return this.gpus.map((gpu) => ({ gpu, address: this.arena.uniformAddress(gpu) }))
  }

  protected holds(uniforms: Uint8Array<ArrayBuffer>): boolean {
    if (uniforms.length === 0) return true
    return this.#uniformsHeld !== undefined && Buffer.compare(this.#uniformsHeld, uniforms) === 0
  }

  /**
   * After a run that failed: it may not have copied the uniforms, nor, unless it was `ended` on purpose,
   * launched on every GPU as often.
   */
  recover(ended: boolean): void {
    this.#uniformsHeld = undefined
    if (!ended) this.cache.forgetSynchronised()
  }

  release(): void {
    this.cache.clear()
    this.arena.free()
  }

  protected sync(slot: number): SyncMemory {
    return {
      epochAddress: (gpu) => this.arena.epochAddress(slot, gpu),
      flagAddress: (gpu, flag) => this.arena.flagAddress(slot, gpu, flag),
      stopAddress: this.physical.native.stopAddress,
    }
  }

  /** Of one process: graphs in slots whose flags are cleared for them. */
  protected lowerHere(repetitions: number, slot: number): GraphSet {
    if (this.lowered.lowering === 'one-graph') return lowerToOneGraph(this.plan, repetitions, this.memory)
    this.arena.clearSync(slot)
    return lowerPerGpu(this.plan, repetitions, this.memory, this.sync(slot))
  }

  /**
   * Allocates what copies go through between GPUs that do not reach each other, and instantiates one
   * repetition, so that an error of the driver is known before the first run.
   */
  protected async readyHere(): Promise<this> {
    try {
      for (const command of this.plan.commands) {
        const byteLength = bounceByteLength(command, this.memory)
        if (byteLength > 0) await this.arena.addBounce(command.index, byteLength)
      }
      await this.graphs(1).ready
      return this
    } catch (error) {
      this.release()
      throw error
    }
  }
}

/** Of a program in one process. */
export class LocalExecutable extends CudaExecutable {
  #launcher: { readonly id: number; readonly made: Promise<unknown> } | undefined

  static async create(
    physical: PhysicalGpus,
    lowering: Lowering,
    recorded: RecordedPlan,
  ): Promise<LocalExecutable> {
    const lowered = choosePlanLowering(recorded, lowering, physical)
    const arena = await arenaOf(physical, lowered, keptGraphSets)
    return new LocalExecutable({ physical, lowered, arena }).readyHere()
  }

  protected override lower(repetitions: number, slot: number): GraphSet {
    return this.lowerHere(repetitions, slot)
  }

  /** What starts one repetition from native code; made at the first call. */
  launcher(): Promise<unknown> {
    if (this.#launcher === undefined) {
      const id = this.physical.nextId()
      const { ids, ready } = this.graphs(1)
      const made = ready.then(() => this.physical.native.createLauncher(id, ids))
      this.#launcher = { id, made }
      made.catch(() => {
        this.#launcher = undefined
      })
    }
    return this.#launcher.made
  }

  override release(): void {
    if (this.#launcher !== undefined) this.physical.native.destroyLauncher(this.#launcher.id)
    super.release()
  }
}
