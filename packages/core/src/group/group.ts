import type { LiveHandles, LostInfo, OpenedRuntime } from '../backend/runtime.ts'
import { bufferByteLength, type ElementType, requireElementType } from '../buffers/element-type.ts'
import { type HostBuffer, OwnedHostBuffer } from '../buffers/host-buffer.ts'
import { requireCount } from '../buffers/view.ts'
import { describedValue, isObject } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import { compileKernel, kernelKey, requireCompileOptions } from '../kernels/compile-kernel.ts'
import { type CompiledKernel, type CompileOptions, type Kernel, OwnedKernel } from '../kernels/kernel.ts'
import { requireOptions } from '../options.ts'
import type { Schedule } from '../plan/plan.ts'
import type { Transport } from '../ranks/ranks.ts'
import { emptyHash, hashDigits, hashText } from '../ranks/rolling-hash.ts'
import { ProgramRecorder } from '../recording/program-recorder.ts'
import type { Recorder } from '../recording/recorder.ts'
import { type Program, RecordedProgram } from '../running/program.ts'
import type { Device } from './device.ts'
import { asyncDisposeSymbol } from './dispose.ts'
import { deviceOf, GroupDevice } from './group-device.ts'
import { GroupQueue } from './group-queue.ts'
import { GroupState } from './group-state.ts'
import type { Queue } from './queue.ts'
import type { Leak } from './resource.ts'
import { chooseAdapters, type Selection, type SelectionOptions, selectionOptions } from './selection.ts'

/** Options of `openGroup`. */
export interface OpenGroupOptions extends SelectionOptions {
  /** Enforces WebGPU's default limits on every device, so that a program that works here runs anywhere. */
  readonly portableLimits?: boolean | undefined
  /**
   * Looks for kernels that leave their views, at some cost: `compile` uses `bounds: 'trap'` by default if
   * every device supports it, and `record` rejects dispatches with more invocations than a view has elements,
   * if each invocation accesses the element at its `global_invocation_id` plus a constant. `selection.reason`
   * says what is not checked. Default false.
   */
  readonly debug?: boolean | undefined
  readonly label?: string | undefined
}

/** Options of `DeviceGroup.record`. */
export interface RecordOptions {
  /** Default `overlapped`. */
  readonly schedule?: Schedule | undefined
  readonly label?: string | undefined
}

/** Options of `DeviceGroup.allocateHost`. */
export interface AllocateHostOptions {
  readonly label?: string | undefined
  /**
   * Places the memory in the process of this device, for data that is too large for a copy in every process.
   * Recorded copies that use no other device run on the queue of this device.
   */
  readonly device?: Device | number | undefined
}

/** Devices that are programmed together. */
export interface DeviceGroup {
  readonly label: string
  /** Name of the backend. */
  readonly backend: string
  /** True if every device is a software adapter, so that the "GPU" is the CPU. */
  readonly software: boolean
  /** By ordinal, in the order of `selection.chosen`. */
  readonly devices: readonly Device[]
  /**
   * This process, from 0, and how many share the group; 0 and 1 unless the backend runs over several
   * processes.
   */
  readonly rank: number
  readonly rankCount: number
  /** If there are several processes, how data moves between them, and why no faster way is used. */
  readonly transport: Transport | undefined
  /**
   * Whether data between devices of different processes goes through host memory; if so, it is better to
   * start from there.
   */
  readonly throughHost: boolean
  /** Which adapters were chosen, and why. */
  readonly selection: Selection
  /** Transfers and runs. */
  readonly queue: Queue
  /** Resolves when the devices are lost; all pending and later calls reject with `device-lost`. */
  readonly lost: Promise<LostInfo>
  /** May a kernel on `reader` read and write memory of `owner`? True for the same device. */
  canAccessPeer(reader: Device | number, owner: Device | number): boolean
  /**
   * Kernels of equal source, entry point, constants and bounds share their code; the last one to be destroyed
   * frees it. Rejects with `compilation`, `too-large` or `unsupported`.
   */
  compile<A = unknown>(options: CompileOptions<A>): Promise<Kernel<A>>
  /** Synchronous; throws `validation` and `too-large` for commands that could not run. */
  record(body: (recorder: Recorder) => void, options?: RecordOptions): Program
  /** Memory of the host: a copy in every process, or, with `device`, only in the process of that device. */
  allocateHost<T extends ElementType>(type: T, length: number, options?: AllocateHostOptions): HostBuffer<T>
  /** Live objects of the backend. */
  live(): LiveHandles
  /**
   * Waits for pending work, then frees everything. The report names the objects that the caller did not
   * destroy.
   */
  destroy(): Promise<LeakReport>
  [Symbol.asyncDispose](): Promise<void>
}

/** The report of `DeviceGroup.destroy`. */
export interface LeakReport {
  readonly leaks: readonly Leak[]
  /** A sentence for each resource that the driver failed to release; absent if there are none. */
  readonly failures?: readonly string[]
}

const groupOptions = {
  ...selectionOptions,
  portableLimits: 'boolean',
  debug: 'boolean',
  label: 'string',
} as const

/**
 * Opens devices. Rejects with `validation` for wrong options, and with `no-device` if there are too few
 * matching devices, naming those that were found.
 */
export async function openGroup(options: OpenGroupOptions): Promise<DeviceGroup> {
  requireOptions(options, 'openGroup', groupOptions)
  const { backend, ...selection } = await chooseAdapters(options)
  const { label = 'group', portableLimits = false, debug = false } = options
  const runtime = await backend.open(selection.chosen, { label })
  const traps = runtime.devices.every(({ features }) => features.has('trap'))
  const bounds = debug ? (traps ? 'trap' : 'clamp') : undefined
  const reasons = [selection.reason, transportText(runtime.ranks?.transport), bounds && debugText[bounds]]
  const reason = reasons.filter(Boolean).join(' ')
  return new OpenedGroup(label, backend.name, { ...selection, reason }, runtime, portableLimits, bounds)
}

function transportText(transport: Transport | undefined): string {
  if (transport === undefined) return ''
  const { name, refused } = transport
  const reasons = refused.map(({ name, reason }) => ` Not through ${name}: ${reason}`)
  return `Data moves between processes through ${name}.${reasons.join('')}`
}

/** What `debug` checks, by the default bounds of kernels. */
const debugText = {
  trap: 'With debug, kernels trap at accesses outside their views unless they are compiled with other bounds.',
  clamp:
    'With debug, accesses at global_invocation_id plus a constant are checked when they are recorded; other indices are not checked, because these devices do not support bounds "trap".',
} as const

/** The code of all live kernels with equal source, compiled once. */
interface SharedKernel {
  readonly compiling: Promise<CompiledKernel>
  /** The code to release; undefined before compilation and after release. */
  compiled?: CompiledKernel | undefined
  holders: number
}

class OpenedGroup implements DeviceGroup {
  readonly label: string
  readonly backend: string
  readonly software: boolean
  readonly devices: readonly GroupDevice[]
  readonly rank: number
  readonly rankCount: number
  readonly transport: Transport | undefined
  readonly throughHost: boolean
  readonly selection: Selection
  readonly queue: GroupQueue
  readonly lost: Promise<LostInfo>
  readonly #state: GroupState
  /** By `kernelKey` of the options of `compile`. */
  readonly #compiled = new Map<string, SharedKernel>()
  /** Set if the group was opened with `debug`. */
  readonly #debugBounds: 'trap' | 'clamp' | undefined
  #programs = 0
  #hostBuffers = 0
  #destruction: Promise<LeakReport> | undefined

  constructor(
    label: string,
    backend: string,
    selection: Selection,
    runtime: OpenedRuntime,
    portable: boolean,
    debugBounds?: 'trap' | 'clamp',
  ) {
    this.#debugBounds = debugBounds
    this.label = label
    this.backend = backend
    this.selection = selection
    this.software = selection.chosen.every((adapter) => adapter.software)
    this.lost = runtime.lost
    this.#state = new GroupState(label, runtime)
    this.rank = this.#state.rank
    this.rankCount = this.#state.rankCount
    this.transport = runtime.ranks?.transport
    this.throughHost = runtime.ranks?.throughHost ?? false
    this.devices = runtime.devices.map(
      (info, ordinal) => new GroupDevice(this.#state, ordinal, info, portable),
    )
    this.queue = new GroupQueue(this.#state)
  }

  canAccessPeer(reader: Device | number, owner: Device | number): boolean {
    const a = deviceOf(this.devices, reader).ordinal
    const b = deviceOf(this.devices, owner).ordinal
    return a === b || this.#state.runtime.canAccessPeer(a, b)
  }

  async compile<A>(given: CompileOptions<A>): Promise<Kernel<A>> {
    this.#state.requireAlive()
    requireCompileOptions(given)
    const options = { ...given, bounds: given.bounds ?? this.#debugBounds }
    const key = kernelKey(options)
    let shared = this.#compiled.get(key)
    if (shared === undefined) {
      const call = this.#state.calls?.number(compilationText(options, key), 1)
      // Ranks release kernels at different times but must agree on what they compile, so over several ranks
      // the code is kept until the group ends.
      const holders = this.rankCount > 1 ? 1 : 0
      shared = { compiling: compileKernel(this.#state, this.devices, options, call), holders }
      this.#compiled.set(key, shared)
      const created = shared
      shared.compiling.then(
        (compiled) => {
          created.compiled = compiled
        },
        () => this.#compiled.delete(key),
      )
    } else this.#state.calls?.number(compilationText(options, key))
    shared.holders++
    const letGo = () => this.#letGo(key, shared)
    try {
      const compiled = await shared.compiling
      this.#state.requireAlive()
      return new OwnedKernel(this.#state, options.label ?? compiled.handle.label, compiled, letGo)
    } catch (error) {
      letGo()
      throw error
    }
  }

  record(body: (recorder: Recorder) => void, options: RecordOptions = {}): Program {
    this.#state.requireAlive()
    if (typeof body !== 'function')
      throw invalid(
        `The callback of record is ${describedValue(body)}; it must be a function that records commands.`,
      )
    requireOptions(options, 'record', recordOptions)
    const number = this.#programs++
    const { schedule = 'overlapped', label = `program ${number}` } = options
    this.#state.calls?.number(`records "${label}", ${schedule}`)
    const debug = this.#debugBounds !== undefined
    const recorder = new ProgramRecorder(this.#state, this.devices, number, schedule, debug)
    try {
      const result: unknown = body(recorder)
      if (isObject(result) && 'then' in result) {
        // Its outcome no longer matters; a rejection must not end the process.
        void Promise.resolve(result).catch(() => {})
        throw invalid(`The callback that records "${label}" is asynchronous; it must be synchronous.`)
      }
      recorder.requireLive(label)
    } finally {
      recorder.close()
    }
    return new RecordedProgram(this.#state, label, schedule, recorder)
  }

  allocateHost<T extends ElementType>(
    type: T,
    length: number,
    options: AllocateHostOptions = {},
  ): HostBuffer<T> {
    this.#state.requireAlive()
    requireOptions(options, 'allocateHost', { label: 'string', device: 'any' })
    const label = options.label ?? `host buffer ${this.#hostBuffers++}`
    const device = options.device === undefined ? undefined : deviceOf(this.devices, options.device)
    requireCount(length, `The length of host buffer "${label}"`)
    requireElementType(type, `Host buffer "${label}"`)
    const byteLength = bufferByteLength(type, length)
    const place = device === undefined ? '' : ` by device ${device.ordinal}`
    this.#state.calls?.number(`allocates ${length} ${type} of host memory${place} for "${label}"`)
    const local = device?.local ?? true
    try {
      const allocation = length === 0 || !local ? undefined : this.#state.runtime.allocateHost(byteLength)
      return new OwnedHostBuffer(this.#state, device, type, length, label, allocation)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new GpuError(
        'out-of-memory',
        `The host has no room for the ${byteLength} bytes of host buffer "${label}".`,
        { cause: error },
      )
    }
  }

  live(): LiveHandles {
    return this.#state.runtime.live()
  }

  destroy(): Promise<LeakReport> {
    this.#destruction ??= this.#destroyOnce()
    return this.#destruction
  }

  async [asyncDisposeSymbol](): Promise<void> {
    await this.destroy()
  }

  async #destroyOnce(): Promise<LeakReport> {
    const { resources, runtime } = this.#state
    this.#state.close()
    await this.queue.idle()
    await this.#state.idle()
    const compiling = [...this.#compiled.values()].map((shared) => shared.compiling)
    // If the devices are lost, a compilation may never settle.
    await this.#state.guard(() => Promise.allSettled(compiling)).catch(() => {})
    const leaked = [...resources]
    const leaks = leaked.map((resource) => resource.leak())
    for (const resource of leaked) resource.destroy()
    for (const [key, shared] of this.#compiled) {
      shared.holders = 1
      this.#letGo(key, shared)
    }
    runtime.ranks?.leave()
    const failures = await runtime.dispose()
    return failures.length === 0 ? { leaks } : { leaks, failures }
  }

  /** Releases the compiled code with the last kernel of its source. */
  #letGo(key: string, shared: SharedKernel): void {
    shared.holders--
    if (shared.holders > 0) return
    if (this.#compiled.get(key) === shared) this.#compiled.delete(key)
    const { compiled } = shared
    shared.compiled = undefined
    if (compiled !== undefined && !this.#state.runtimeEnded)
      this.#state.runtime.releaseKernel(compiled.handle)
  }
}

const recordOptions = { schedule: ['overlapped', 'serial'], label: 'string' } as const

function compilationText({ label = 'kernel' }: CompileOptions, key: string): string {
  return `compiles kernel "${label}" (${hashDigits(hashText(emptyHash, key))})`
}
