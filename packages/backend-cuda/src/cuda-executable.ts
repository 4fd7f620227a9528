import type { Executable, Plan, PlanBuffer } from '@tandem-gpu/core'
import { type Arrangement, ArrangementTrial, type TrialStep } from './arrangement-trial.ts'
import { bounceByteLength, type PlanMemory, peerKernelByteLength } from './command-nodes.ts'
import type { CudaKernel } from './cuda-kernel.ts'
import { encodeNodes } from './graph-nodes.ts'
import { hasLinkCopies, type LinkCopyOptions, sendLinkCopies } from './link-copies.ts'
import { flagsPerRepetition, lowerPerGpu, type SyncMemory } from './lower-per-gpu.ts'
import { type GraphSet, lowerProfiled, lowerToOneGraph, stampNode } from './lower-plan.ts'
import type { NativeGroup } from './native-addon.ts'
import { trapRecordByteLength } from './trap-record.ts'
import { longestUnroll } from './unrolling.ts'

/** What an executable needs of its runtime. */
export interface ExecutableHost {
  readonly native: NativeGroup
  gpuOf(device: number): number
  reachable(reader: number, owner: number): boolean
  place(buffer: PlanBuffer): { readonly onHost: boolean; readonly address: number; readonly gpu: number }
  /** Id of one of the runtime's own kernels on a GPU; loaded by the time that what is queued next runs. */
  internalKernel(entry: string, gpu: number): number
  readonly lowering: Lowering
  /** An id that no kernel or graph has had. */
  nextId(): number
}

/** Memory of an executable's own on one GPU: the uniform block, trap records, time stamps. */
interface Arena {
  readonly gpu: number
  readonly address: number
}

/** How many sets of graphs, of different lengths and arrangements, stay instantiated. A run needs at most five. */
const keptSets = 8
/** Epochs stand this far apart: GPUs write flags, never these. */
const epochByteLength = 256

/** A plan with its graphs, which are instantiated when a run first needs them. */
export class CudaExecutable implements Executable {
  readonly label: string
  readonly plan: Plan
  readonly gpus: readonly number[]
  readonly memory: PlanMemory
  readonly hasTraps: boolean
  readonly #host: ExecutableHost
  readonly #arenas: ReadonlyMap<number, Arena>
  readonly #layout: ArenaLayout
  readonly #bounces: ReadonlyMap<number, ArrayBuffer>
  /** By arrangement and length; the least recently used first. */
  readonly #graphs = new Map<string, GraphHandles>()
  readonly #trial: ArrangementTrial
  /** Which parts of the arenas' synchronisation memory are free. */
  readonly #freeSyncs: number[]
  #profileGraphs: GraphHandles | undefined
  #startGraphs: GraphHandles | undefined
  /** What the uniform block on the GPUs holds; undefined before the first run. */
  #uniformsHeld: Uint8Array<ArrayBuffer> | undefined

  static async create(host: ExecutableHost, recorded: Plan): Promise<CudaExecutable> {
    const arrangements = arrangementsFor(recorded, host)
    // Driven by the sender, a copy waits for its receiver: that is for the driver to order, see `arrangementsFor`.
    const plan = arrangements.every((arrangement) => arrangement === 'one-graph')
      ? sendLinkCopies(recorded, { ...linksOf(host), byteLengthAbove: peerKernelByteLength })
      : recorded
    const gpus = gpusOf(plan, host)
    const hasTraps = plan.commands.some(
      (command) =>
        command.kind === 'dispatch' && (plan.kernels[command.kernel] as CudaKernel).bounds === 'trap',
    )
    const perGpu = arrangements.some((arrangement) => arrangement !== 'one-graph')
    const flags = perGpu ? flagsPerRepetition(plan, host.gpuOf) * longestUnroll(plan.commands.length) : 0
    const layout = arenaLayout(plan, hasTraps, flags, perGpu ? keptSets : 0)
    const arenas = new Map<number, Arena>()
    const bounces = new Map<number, ArrayBuffer>()
    const bounceAddresses = new Map<number, number>()
    const places = plan.buffers.map((buffer) => host.place(buffer))
    const memory: PlanMemory = {
      gpuOf: (device) => host.gpuOf(device),
      addressOf: (buffer) => places[buffer]!,
      uniformAddress: (gpu) => arenas.get(gpu)!.address + layout.uniforms,
      trapAddress: (gpu) => arenas.get(gpu)!.address + layout.traps,
      reachable: (reader, owner) => host.reachable(reader, owner),
      internalKernel: (entry, gpu) => host.internalKernel(entry, gpu),
      bounceAddress: (command) => bounceAddresses.get(command)!,
    }
    let executable: CudaExecutable | undefined
    try {
      for (const gpu of gpus) {
        arenas.set(gpu, { gpu, address: await host.native.allocate(gpu, layout.byteLength, true) })
      }
      for (const command of plan.commands) {
        const byteLength = bounceByteLength(command, memory)
        if (byteLength === 0) continue
        const { arrayBuffer } = host.native.mapHost(byteLength)
        bounces.set(command.index, arrayBuffer)
        bounceAddresses.set(command.index, await host.native.lockHost(arrayBuffer))
      }
      executable = new CudaExecutable(
        host,
        plan,
        gpus,
        memory,
        hasTraps,
        arrangements,
        arenas,
        layout,
        bounces,
      )
      // Instantiated now, so that what the driver refuses is known before the first run.
      await executable.graphs(1, executable.#trial.current).ready
      return executable
    } catch (error) {
      executable?.releaseGraphs()
      releaseMemory(host, arenas, bounces)
      throw error
    }
  }

  private constructor(
    host: ExecutableHost,
    plan: Plan,
    gpus: readonly number[],
    memory: PlanMemory,
    hasTraps: boolean,
    arrangements: readonly Arrangement[],
    arenas: ReadonlyMap<number, Arena>,
    layout: ArenaLayout,
    bounces: ReadonlyMap<number, ArrayBuffer>,
  ) {
    this.#host = host
    this.label = plan.label
    this.plan = plan
    this.gpus = gpus
    this.memory = memory
    this.hasTraps = hasTraps
    this.#arenas = arenas
    this.#layout = layout
    this.#bounces = bounces
    this.#trial = new ArrangementTrial(plan, arrangements)
    this.#freeSyncs = Array.from({ length: layout.syncCount }, (_, index) => index)
  }

  /** What a run of `times` repetitions launches. */
  steps(times: number): TrialStep[] {
    return this.#trial.steps(times)
  }

  /** What the steps of a finished run took. */
  recordSeconds(steps: readonly TrialStep[], stepSeconds: readonly number[]): void {
    this.#trial.record(steps, stepSeconds)
  }

  /** Graphs of `repetitions` repetitions. Queued for instantiation at the first call: a run may be queued right behind. */
  graphs(repetitions: number, arrangement: Arrangement): GraphHandles {
    const key = `${arrangement} ${repetitions}`
    const known = this.#graphs.get(key)
    if (known !== undefined) {
      this.#graphs.delete(key)
      this.#graphs.set(key, known)
      return known
    }
    const [oldest] = this.#graphs.keys()
    if (this.#graphs.size >= keptSets && oldest !== undefined) this.#destroy(oldest)
    const handles = this.#lower(repetitions, arrangement)
    this.#graphs.set(key, handles)
    // The next run takes another arrangement, or tries again where there is no other: there may be memory then.
    handles.ready.catch(() => {
      if (this.#graphs.get(key) === handles) this.#destroy(key)
      this.#trial.exclude(arrangement)
    })
    return handles
  }

  /** One repetition with time stamps around every command. */
  profileGraphs(): GraphHandles {
    if (this.#profileGraphs === undefined) {
      const stampAddress = (gpu: number, slot: number) => this.#stampAddress(gpu, slot)
      this.#profileGraphs = this.#instantiate(lowerProfiled(this.plan, this.memory, stampAddress))
      this.#profileGraphs.ready.catch(() => {
        this.#profileGraphs = undefined
      })
    }
    return this.#profileGraphs
  }

  /** One time stamp on the first GPU, in the slot behind those of the commands. */
  startGraphs(): GraphHandles {
    const gpu = this.gpus[0]!
    if (this.#startGraphs === undefined) {
      const node = stampNode(this.memory, gpu, this.#stampAddress(gpu, this.startSlot), [])
      this.#startGraphs = this.#instantiate([{ mainGpu: gpu, nodes: [node] }])
      this.#startGraphs.ready.catch(() => {
        this.#startGraphs = undefined
      })
    }
    return this.#startGraphs
  }

  get startSlot(): number {
    return this.plan.commands.length * 2
  }

  /** Where the uniform block must be copied before a run with `wanted`; none when the GPUs hold it already. */
  uniformTargets(wanted: Uint8Array<ArrayBuffer>): { gpu: number; address: number }[] {
    if (wanted.length === 0) return []
    if (this.#uniformsHeld !== undefined && equalBytes(this.#uniformsHeld, wanted)) return []
    this.#uniformsHeld = wanted.slice()
    return this.gpus.map((gpu) => ({ gpu, address: this.memory.uniformAddress(gpu) }))
  }

  /** A run that failed may not have copied them. */
  forgetUniforms(): void {
    this.#uniformsHeld = undefined
  }

  /** After a failure: graphs that synchronise among themselves start afresh. */
  forgetGraphs(): void {
    for (const [key, { syncPart }] of [...this.#graphs]) if (syncPart !== undefined) this.#destroy(key)
  }

  trapRanges(): { gpu: number; address: number; byteLength: number; clear: boolean }[] {
    if (!this.hasTraps) return []
    const byteLength = this.plan.commands.length * trapRecordByteLength
    return this.gpus.map((gpu) => ({ gpu, address: this.memory.trapAddress(gpu), byteLength, clear: true }))
  }

  stampRanges(): { gpu: number; address: number; byteLength: number; clear: boolean }[] {
    const byteLength = (this.startSlot + 1) * 8
    return this.gpus.map((gpu) => ({
      gpu,
      address: this.#arenas.get(gpu)!.address + this.#layout.stamps,
      byteLength,
      clear: false,
    }))
  }

  release(): void {
    this.releaseGraphs()
    releaseMemory(this.#host, this.#arenas, this.#bounces)
  }

  releaseGraphs(): void {
    for (const key of [...this.#graphs.keys()]) this.#destroy(key)
    for (const handles of [this.#profileGraphs, this.#startGraphs]) {
      for (const id of handles?.ids ?? []) this.#host.native.destroyGraph(id)
    }
  }

  #stampAddress(gpu: number, slot: number): number {
    return this.#arenas.get(gpu)!.address + this.#layout.stamps + slot * 8
  }

  #lower(repetitions: number, arrangement: Arrangement): GraphHandles {
    if (arrangement === 'one-graph')
      return this.#instantiate(lowerToOneGraph(this.plan, repetitions, this.memory))
    const part = this.#freeSyncs.pop()!
    const { syncs, syncByteLength } = this.#layout
    const base = (gpu: number) => this.#arenas.get(gpu)!.address + syncs + part * syncByteLength
    const sync: SyncMemory = {
      epochAddress: base,
      flagAddress: (gpu, slot) => base(gpu) + epochByteLength + slot * 4,
      stopAddress: this.#host.native.stopAddress(),
    }
    // Left over from graphs that had this part before.
    for (const gpu of this.gpus) this.#host.native.zero(gpu, base(gpu), syncByteLength).catch(() => {})
    return {
      ...this.#instantiate(lowerPerGpu(this.plan, repetitions, this.memory, sync, arrangement)),
      syncPart: part,
    }
  }

  #instantiate(set: GraphSet): GraphHandles {
    const { native, nextId } = this.#host
    const ids = set.map(() => nextId())
    const created = set.map(({ mainGpu, nodes }, index) =>
      native.createGraph(ids[index]!, mainGpu, encodeNodes(nodes)),
    )
    const ready = Promise.all(created).then(() => {})
    // Whoever runs the graphs awaits `ready`. Half a set is of no use.
    ready.catch(() => {
      for (const id of ids) native.destroyGraph(id)
    })
    return { ids, ready }
  }

  #destroy(key: string): void {
    const handles = this.#graphs.get(key)
    for (const id of handles?.ids ?? []) this.#host.native.destroyGraph(id)
    if (handles?.syncPart !== undefined) this.#freeSyncs.push(handles.syncPart)
    this.#graphs.delete(key)
  }
}

export interface GraphHandles {
  readonly ids: readonly number[]
  /** Rejects when the driver refuses the graph. */
  readonly ready: Promise<void>
  /** Part of the synchronisation memory, for one graph a GPU. */
  readonly syncPart?: number
}

function releaseMemory(
  { native }: ExecutableHost,
  arenas: ReadonlyMap<number, Arena>,
  bounces: ReadonlyMap<number, ArrayBuffer>,
): void {
  for (const { gpu, address } of arenas.values()) native.free(gpu, address)
  for (const arrayBuffer of bounces.values()) void native.unlockHost(arrayBuffer, true).catch(() => {})
}

/**
 * `one-graph`: the driver orders commands on different GPUs. `graph-per-gpu`: kernels that signal and wait do, where all GPUs of a program
 * reach one another. `auto`: the driver where GPUs copy megabytes to each other, else the kernels. `timed`: the same, but where no megabytes
 * are copied what the first runs of a program find to be the quickest of the two and of chains of commands.
 */
export type Lowering = 'auto' | 'one-graph' | 'graph-per-gpu' | 'timed'

/** Copies between GPUs from which on an edge by the driver (6 µs) costs less than what waiting kernels hold up. */
const drivenByteLength = 2 ** 20

/**
 * The arrangements that a program may run in. Waiting kernels suit short commands. Behind a large copy they do harm: a wait starts only after
 * all earlier signals of its GPU, those of copies under way included, and a signal finds no place on a GPU that a long kernel fills. On
 * 4 H200s the transpose of 32768² by copies took 6 ms with them, 2.3 ms in one graph.
 */
function arrangementsFor(plan: Plan, host: ExecutableHost): readonly Arrangement[] {
  const gpus = gpusOf(plan, host)
  if (host.lowering === 'one-graph' || gpus.length < 2 || !allReach(gpus, host)) return ['one-graph']
  if (host.lowering === 'graph-per-gpu') return ['branches']
  if (hasLinkCopies(plan, { ...linksOf(host), byteLengthAbove: drivenByteLength })) return ['one-graph']
  return host.lowering === 'timed' ? ['chain', 'branches', 'one-graph'] : ['branches']
}

function gpusOf(plan: Plan, host: ExecutableHost): number[] {
  return [...new Set(plan.commands.map((command) => host.gpuOf(command.device)))]
}

function linksOf(host: ExecutableHost): Pick<LinkCopyOptions, 'gpuOf' | 'reachable'> {
  return {
    gpuOf: (device) => host.gpuOf(device),
    reachable: (gpu, owner) => host.reachable(gpu, owner),
  }
}

function allReach(gpus: readonly number[], host: ExecutableHost): boolean {
  return gpus.every((reader) => gpus.every((owner) => host.reachable(reader, owner)))
}

interface ArenaLayout {
  readonly uniforms: number
  readonly traps: number
  readonly stamps: number
  readonly syncs: number
  readonly syncCount: number
  /** Of one part: an epoch, then flags. */
  readonly syncByteLength: number
  readonly byteLength: number
}

function arenaLayout(plan: Plan, hasTraps: boolean, flags: number, syncCount: number): ArenaLayout {
  const aligned = (byteLength: number) => Math.ceil(byteLength / 256) * 256
  const traps = aligned(plan.uniformBlock.length)
  const stamps = traps + (hasTraps ? aligned(plan.commands.length * trapRecordByteLength) : 0)
  const syncs = stamps + aligned((plan.commands.length * 2 + 1) * 8)
  const syncByteLength = epochByteLength + aligned(flags * 4)
  const byteLength = syncs + syncCount * syncByteLength
  return { uniforms: 0, traps, stamps, syncs, syncCount, syncByteLength, byteLength }
}

function equalBytes(a: Uint8Array<ArrayBuffer>, b: Uint8Array<ArrayBuffer>): boolean {
  return (
    a.length === b.length &&
    Buffer.compare(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength),
      Buffer.from(b.buffer, b.byteOffset, b.byteLength),
    ) === 0
  )
}
