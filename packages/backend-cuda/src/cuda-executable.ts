import type { Executable, PlanBuffer } from '@tandem-gpu/core'
import { Arena, type CollectedRange } from './arena.ts'
import { bounceByteLength, type PlanMemory } from './command-nodes.ts'
import type { CudaHandles, CudaPlan } from './cuda-plan.ts'
import { GraphCache, type GraphHandles, keptGraphSets } from './graph-cache.ts'
import type { Links } from './link-copies.ts'
import { flagsPerRepetition, lowerPerGpu } from './lower-per-gpu.ts'
import { type GraphSet, lowerProfiled, lowerToOneGraph, stampNode } from './lower-plan.ts'
import { choosePlanLowering, type LoweredPlan, type Lowering } from './lowering.ts'
import type { NativeGroup } from './native-addon.ts'
import { longestUnroll } from './unrolling.ts'

/** What an executable needs of its runtime. */
export interface ExecutableHost extends Links {
  readonly native: NativeGroup
  readonly lowering: Lowering
  place(buffer: PlanBuffer<CudaHandles>): {
    readonly onHost: boolean
    readonly address: number
    readonly gpu: number
  }
  /** Id of one of the runtime's own kernels on a GPU; loaded by the time that what is queued next runs. */
  internalKernel(entry: string, gpu: number): number
  /** An id that no kernel or graph has had. */
  nextId(): number
}

/** A plan with its memory and its graphs, which are instantiated when a run first needs them. */
export class CudaExecutable implements Executable {
  readonly label: string
  readonly plan: CudaPlan
  readonly gpus: readonly number[]
  readonly #lowering: LoweredPlan['lowering']
  readonly #memory: PlanMemory
  readonly #arena: Arena
  readonly #graphs: GraphCache
  readonly #stopAddress: number
  readonly #native: NativeGroup
  readonly #nextId: () => number
  #launcher: { readonly id: number; readonly made: Promise<unknown> } | undefined
  /** What the uniform block on the GPUs holds; undefined before the first run, and after a run that failed. */
  #uniformsHeld: Uint8Array<ArrayBuffer> | undefined

  static async create(host: ExecutableHost, recorded: CudaPlan): Promise<CudaExecutable> {
    const lowered = choosePlanLowering(recorded, host.lowering, host)
    const { plan, gpus } = lowered
    const synchronises = lowered.lowering === 'graph-per-gpu'
    const arena = await Arena.allocate(host.native, plan, gpus, {
      hasTraps: plan.commands.some(
        (command) => command.kind === 'dispatch' && plan.kernels[command.kernel]!.bounds === 'trap',
      ),
      syncs: synchronises ? keptGraphSets : 0,
      flags: synchronises
        ? flagsPerRepetition(plan, (device) => host.gpuOf(device)) * longestUnroll(plan.commands.length)
        : 0,
    })
    const executable = new CudaExecutable(host, lowered, arena)
    try {
      for (const command of plan.commands) {
        const byteLength = bounceByteLength(command, executable.#memory)
        if (byteLength > 0) await arena.addBounce(command.index, byteLength)
      }
      // Instantiated now, so that what the driver refuses is known before the first run.
      await executable.graphs(1).ready
      return executable
    } catch (error) {
      executable.release()
      throw error
    }
  }

  private constructor(host: ExecutableHost, { plan, lowering, gpus }: LoweredPlan, arena: Arena) {
    this.label = plan.label
    this.plan = plan
    this.gpus = gpus
    this.#lowering = lowering
    this.#arena = arena
    this.#native = host.native
    this.#nextId = () => host.nextId()
    this.#graphs = new GraphCache(host.native, this.#nextId)
    this.#stopAddress = host.native.stopAddress()
    const places = plan.buffers.map((buffer) => host.place(buffer))
    this.#memory = {
      gpuOf: (device) => host.gpuOf(device),
      addressOf: (buffer) => places[buffer]!,
      uniformAddress: (gpu) => arena.uniformAddress(gpu),
      trapAddress: (gpu) => arena.trapAddress(gpu),
      reachable: (reader, owner) => host.reachable(reader, owner),
      internalKernel: (entry, gpu) => host.internalKernel(entry, gpu),
      bounceAddress: (command) => arena.bounceAddress(command),
    }
  }

  /** Graphs of so many repetitions. */
  graphs(repetitions: number): GraphHandles {
    return this.#graphs.get(`${repetitions} repetitions`, (slot) => this.#lower(repetitions, slot))
  }

  /** One repetition with time stamps around every command. */
  profileGraphs(): GraphHandles {
    return this.#graphs.get('profile', () =>
      lowerProfiled(this.plan, this.#memory, (gpu, slot) => this.#arena.stampAddress(gpu, slot)),
    )
  }

  /** One time stamp on the first GPU, in the slot behind those of the commands. */
  startGraphs(): GraphHandles {
    const gpu = this.gpus[0]!
    return this.#graphs.get('start', () => [
      {
        mainGpu: gpu,
        nodes: [stampNode(this.#memory, gpu, this.#arena.stampAddress(gpu, this.startSlot), [])],
      },
    ])
  }

  get startSlot(): number {
    return this.plan.commands.length * 2
  }

  /** Where the uniform block must be copied before a run with `wanted`; none when the GPUs hold it already. */
  uniformTargets(wanted: Uint8Array<ArrayBuffer>): { gpu: number; address: number }[] {
    if (wanted.length === 0) return []
    if (this.#uniformsHeld !== undefined && Buffer.compare(this.#uniformsHeld, wanted) === 0) return []
    this.#uniformsHeld = wanted.slice()
    return this.gpus.map((gpu) => ({ gpu, address: this.#arena.uniformAddress(gpu) }))
  }

  trapRanges(): CollectedRange[] {
    return this.#arena.trapRanges()
  }

  stampRanges(): CollectedRange[] {
    return this.#arena.stampRanges()
  }

  /** What starts one repetition from native code; made at the first call. */
  launcher(): Promise<unknown> {
    if (this.#launcher === undefined) {
      const id = this.#nextId()
      const { ids, ready } = this.graphs(1)
      const made = ready.then(() => this.#native.createLauncher(id, ids))
      this.#launcher = { id, made }
      made.catch(() => {
        this.#launcher = undefined
      })
    }
    return this.#launcher.made
  }

  /** After a run that failed: it may not have copied the uniforms, nor (`aborted` apart) launched on every GPU as often. */
  recover(aborted: boolean): void {
    this.#uniformsHeld = undefined
    if (!aborted) this.#graphs.forgetSynchronised()
  }

  release(): void {
    if (this.#launcher !== undefined) this.#native.destroyLauncher(this.#launcher.id)
    this.#graphs.clear()
    this.#arena.free()
  }

  #lower(repetitions: number, slot: number): GraphSet {
    if (this.#lowering === 'one-graph') return lowerToOneGraph(this.plan, repetitions, this.#memory)
    this.#arena.clearSync(slot)
    return lowerPerGpu(this.plan, repetitions, this.#memory, {
      epochAddress: (gpu) => this.#arena.epochAddress(slot, gpu),
      flagAddress: (gpu, flag) => this.#arena.flagAddress(slot, gpu, flag),
      stopAddress: this.#stopAddress,
    })
  }
}
