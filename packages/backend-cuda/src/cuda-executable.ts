import type { Executable, ExecutionOptions } from '@tandem-gpu/core/backend'
import { Arena } from './arena.ts'
import { bounceByteLength, type PlanAddresses } from './command-nodes.ts'
import type { CudaCommand, CudaPlan, RecordedPlan } from './cuda-plan.ts'
import { GraphCache, type GraphHandles, keptGraphSets } from './graph-cache.ts'
import type { NodeBody } from './graph-nodes.ts'
import { flagsPerRepetition, lowerPerGpu, type SyncMemory } from './lower-per-gpu.ts'
import { type GraphSet, lowerToOneGraph, stampedNodes, stampNode } from './lower-plan.ts'
import { choosePlanLowering, type LoweredPlan, type Lowering } from './lowering.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { launchSteps, longestUnroll } from './unrolling.ts'

/** The parts from which an executable is constructed. */
export interface ExecutableParts {
  readonly physical: PhysicalGpus
  readonly lowered: LoweredPlan
  readonly arena: Arena
}

/** What distinguishes the graphs of an executable, apart from those of its profile. */
export interface GraphForm {
  readonly repetitions: number
  /** Whether kernels that look at the stop word where a workgroup begins are given it. */
  readonly isLimited: boolean
}

export const formName = ({ repetitions, isLimited }: GraphForm) =>
  `${repetitions} repetitions${isLimited ? ' with a limit' : ''}`

/** The name of the graphs that profile one repetition; their kernels look at the stop word. */
export const profileName = 'profile'

/** The forms of the graphs of a run, apart from its profiled repetition, and how often each is launched. */
export function graphForms(
  commandCount: number,
  { times, profile = false, timeoutSeconds, stopsKernels }: RunForm,
): (GraphForm & { readonly launches: number })[] {
  const plain = profile ? times - 1 : times
  const isLimited = timeoutSeconds !== undefined || stopsKernels === true
  const steps = plain === 0 ? [] : launchSteps(commandCount, plain)
  return steps.map((step) => ({ ...step, isLimited }))
}

/** The options of a run on which its graphs depend. */
export type RunForm = Pick<ExecutionOptions, 'times' | 'profile' | 'timeoutSeconds' | 'stopsKernels'>

/** One repetition that nothing stops. */
const unlimited: GraphForm = { repetitions: 1, isLimited: false }

/** Allocates the arena of a plan, of which `sets` sets of graphs synchronize at the same time. */
export function arenaOf(
  physical: PhysicalGpus,
  { plan, lowering, gpus }: LoweredPlan,
  sets: number,
  stagingByteLength = 0,
): Promise<Arena> {
  const flags =
    flagsPerRepetition(plan, (device) => physical.gpuOf(device)) * longestUnroll(plan.commands.length)
  // A barrier needs a flag for each pair of GPUs.
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
  /** The GPUs of this process on which commands run. */
  readonly gpus: readonly number[]
  readonly arena: Arena
  /** The number of commands, which determines how many repetitions a graph holds. */
  commandCount: number
  protected readonly physical: PhysicalGpus
  protected readonly lowered: LoweredPlan
  protected readonly memory: PlanAddresses
  protected readonly cache: GraphCache
  /** The contents of the uniform block on the GPUs; undefined before the first run and after a failed run. */
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
      isSwitched: (gpu) => physical.isSwitched(gpu),
      internalKernel: (entry, gpu) => physical.internalKernel(entry, gpu),
      bounceAddress: (command) => arena.bounceAddress(command),
      leaveAddress: (gpu) => physical.native.leaveAddresses[gpu]!,
      startAddress: (gpu) => physical.native.leaveAddresses[gpu]!,
    }
  }

  /** The address of a buffer of another process. */
  protected addressElsewhere(buffer: number): number {
    throw new RangeError(`buffer ${buffer} of '${this.label}' belongs to another process`)
  }

  /** The recorded parts of the plan that a command executes. */
  recordedBy(command: number): readonly number[] {
    return [command]
  }

  graphs(form: GraphForm): GraphHandles {
    const memory = form.isLimited ? this.memory : { ...this.memory, startAddress: () => 0 }
    return this.cache.get(formName(form), (slot) => this.lower(form.repetitions, slot, memory))
  }

  /** One repetition with time stamps around every command. */
  profileGraphs(): GraphHandles {
    const nodesOf = (command: CudaCommand) =>
      stampedNodes(this.plan, command, this.memory, (gpu, slot) => this.arena.stampAddress(gpu, slot))
    return this.cache.get(profileName, () => this.lowerProfile(nodesOf))
  }

  /** `slot` selects one of the sets of graphs that synchronize at the same time. */
  protected abstract lower(repetitions: number, slot: number, memory: PlanAddresses): GraphSet

  protected lowerProfile(nodesOf: (command: CudaCommand) => NodeBody[]): GraphSet {
    return lowerToOneGraph(this.plan, 1, this.memory, nodesOf)
  }

  /**
   * A barrier between the GPUs of all processes; undefined in a single process. It precedes each run, so that
   * the clock starts for all at the same time, and separates graphs of two lengths, since the waits of one do
   * not see the signals of the other.
   */
  barrier(): GraphHandles | undefined {
    return undefined
  }

  /** The barrier that precedes a run if nothing else needs one. */
  startLine(): GraphHandles | undefined {
    return undefined
  }

  /** Writes one time stamp on the first GPU, in the slot after those of the commands. */
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
   * The addresses to which the uniform block must be copied before a run with `wanted`; none if the GPUs
   * already hold it.
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
   * Called after a failed run: it may not have copied the uniforms and, unless it was `ended` on purpose, may
   * have launched a different number of times on each GPU.
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

  /** Lowers the plan within one process, to graphs in slots whose flags are cleared. */
  protected lowerHere(repetitions: number, slot: number, memory: PlanAddresses): GraphSet {
    if (this.lowered.lowering === 'one-graph') return lowerToOneGraph(this.plan, repetitions, memory)
    this.arena.clearSync(slot)
    return lowerPerGpu(this.plan, repetitions, memory, this.sync(slot))
  }

  /**
   * Allocates the memory for copies between GPUs that cannot access each other, and instantiates one
   * repetition, so that driver errors are reported before the first run.
   */
  protected async readyHere(): Promise<this> {
    try {
      for (const command of this.plan.commands) {
        const byteLength = bounceByteLength(command, this.memory)
        if (byteLength > 0) await this.arena.addBounce(command.index, byteLength)
      }
      await this.graphs(unlimited).ready
      return this
    } catch (error) {
      this.release()
      throw error
    }
  }
}

/** The executable of a program in one process. */
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

  protected override lower(repetitions: number, slot: number, memory: PlanAddresses): GraphSet {
    return this.lowerHere(repetitions, slot, memory)
  }

  /** A launcher that starts one repetition from native code; created at the first call. */
  launcher(): Promise<unknown> {
    if (this.#launcher === undefined) {
      const id = this.physical.nextId()
      const { ids, ready } = this.graphs(unlimited)
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
