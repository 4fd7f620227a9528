import { flattened } from './byte-region.ts'
import { describedValue, isObject } from './described-value.ts'
import type { BufferView } from './device.ts'
import { OwnedDeviceBuffer } from './device-buffer.ts'
import { type ElementArray, type ElementType, elementArray, type HostArray } from './element-type.ts'
import { GpuError, isGpuError } from './errors.ts'
import { abortedError, type ExecutionOptions, type ExecutionResult, type Span } from './execution.ts'
import { belongsElsewhere, type GroupState } from './group-state.ts'
import type { Executable } from './handles.ts'
import { requireOptions } from './options.ts'
import { bufferOf, notAView } from './owned-buffer.ts'
import type { PlanPart } from './plan.ts'
import { type Program, RecordedProgram } from './program.ts'
import type { NumberedCall } from './rank-calls.ts'
import { patchedUniformBlock } from './uniform-block.ts'
import { requireCount } from './view.ts'

export interface RunOptions {
  /** Acts between repetitions: work in flight completes, then `run` rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Seconds that the run may take on the devices, from when everything queued before it is done; default: no limit. A run that takes longer
   * rejects with `timeout`. What it runs cannot be stopped, so the group is lost. Rejects with `unsupported` where the backend has no limits.
   */
  readonly timeoutSeconds?: number | undefined
  /** Collects one span per command of the last repetition, where the device has timestamps. */
  readonly profile?: boolean | undefined
  /** New values of recorded parameters, for this run. */
  readonly parameters?: Readonly<Record<string, number>> | undefined
  /**
   * Called about 20 times, and at the end, with the repetitions that are done; the devices do not wait for it. The run is then made of as many
   * parts, each of which `timeoutSeconds` limits. What it throws rejects the run once all parts have ended. Over several processes it is called at
   * the end alone.
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined
}

export interface RunProgress {
  /** Repetitions that are done. */
  readonly done: number
  /** Repetitions of the whole run. */
  readonly times: number
}

/** Parts of a run that reports its progress. */
const progressParts = 20

export interface RunResult {
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly repetitions: number
  readonly spans?: readonly ProgramSpan[]
}

export type ProgramSpan = Span & { readonly label: string; readonly kind: PlanPart['kind'] }

export interface ReadOptions<T extends ElementType> {
  /** The array that receives the elements. It must be as long as the view, at the call and when the elements arrive, and is written only then. */
  readonly into?: HostArray<T> | undefined
  /**
   * Which processes get the elements: all (the default), the one of the buffer's device, which no other process needs to know of,
   * or the one of this rank. Others resolve to undefined.
   */
  readonly to?: 'all' | 'owner' | number | undefined
}

/** Everything takes effect in the order of the calls. Promises reject with `GpuError`. */
export interface Queue {
  /**
   * Copies `data` (dense, row after row) into `target`. Later changes of `data` have no effect. In a group over several
   * processes it concerns the process of the buffer's device alone; others may leave `data` out.
   */
  write<T extends ElementType>(target: BufferView<T>, data: HostArray<T> | undefined): Promise<void>
  /** The view's elements, dense, row after row; in every process of the group. */
  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  /** The view's elements in the one process that `to` names, undefined in others. */
  read<T extends ElementType>(
    source: BufferView<T>,
    options: ReadOptions<T> & { readonly to: 'owner' | number },
  ): Promise<ElementArray<T> | undefined>
  /**
   * Runs the program `times` times (default 1; 0 does nothing) with one call of the backend. Over several processes, an error in
   * one is an error in all, and `seconds` are the longest of all.
   */
  run(program: Program, times?: number, options?: RunOptions): Promise<RunResult>
}

/** The group's one queue. Calls reach the runtime in order; they complete on their own. */
export class GroupQueue implements Queue {
  readonly #group: GroupState
  /** Settles when every call so far has reached the runtime. */
  #issued: Promise<void> = Promise.resolve()
  readonly #active = new Set<Promise<unknown>>()

  constructor(group: GroupState) {
    this.#group = group
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
  }

  async write<T extends ElementType>(target: BufferView<T>, data: HostArray<T> | undefined): Promise<void> {
    const { buffer, region } = this.#transfer(target, 'The target of a write')
    if (data === undefined && !buffer.local) return
    requireArray(data, buffer, target.length, 'The data of a write')
    if (target.length === 0 || !buffer.local) return
    // A copy that nobody else has: the caller may change, resize or transfer its array, and other threads may write to it.
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
    await this.#enqueue([buffer], () =>
      this.#group.runtime.write({ allocation: allocationOf(buffer), ...region() }, bytes),
    )
  }

  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  async read<T extends ElementType>(
    source: BufferView<T>,
    options: ReadOptions<T> = {},
  ): Promise<ElementArray<T> | undefined> {
    const { buffer, region } = this.#transfer(source, 'The source of a read')
    requireOptions(options, 'read', { into: 'any', to: 'any' })
    const { calls, rank, rankCount, runtime } = this.#group
    const { to = 'all' } = options
    if (to !== 'all' && to !== 'owner' && !(Number.isInteger(to) && to >= 0 && to < rankCount))
      throw new GpuError(
        'validation',
        `A read goes to rank ${describedValue(to)}; the group has ${rankCount} ranks, and 'all' and 'owner' go too.`,
      )
    const taker = to === 'owner' ? buffer.rank : to
    const call =
      calls === undefined || to === 'owner' || source.length === 0
        ? undefined
        : calls.number(`reads ${viewText(source)} of "${buffer.label}" to ${to}`, 2)
    const takes = taker === 'all' || taker === rank
    const { into } = options
    if (takes && into !== undefined) requireArray(into, buffer, source.length, '`into` of a read')
    // The elements arrive in memory that nobody else has, for the same reason that `write` copies.
    const elements = elementArray(buffer.type as T, takes || buffer.local ? source.length : 0)
    const taken = () => {
      if (!takes) return undefined
      if (into === undefined) return elements
      requireArray(into, buffer, source.length, '`into` of a read')
      into.set(elements)
      return into as ElementArray<T>
    }
    if (source.length === 0 || (call === undefined && !takes)) return taken()
    const bytes = new Uint8Array(elements.buffer)
    const take = async () => {
      if (buffer.local) await runtime.read({ allocation: allocationOf(buffer), ...region() }, bytes)
    }
    if (call === undefined) await this.#enqueue([buffer], take)
    else {
      let error: unknown
      await this.#enqueue([buffer], take).catch((caught: unknown) => {
        error = caught
      })
      await this.#group.guard(() => calls!.agree(call, { error }))
      const from = buffer.rank!
      if (taker === 'all' || (taker !== from && (takes || buffer.local)))
        await this.#group.guard(() =>
          runtime.ranks!.deliver(calls!.key(call, 1), from, taker as number | 'all', bytes),
        )
    }
    return taken()
  }

  async run(program: Program, times = 1, options: RunOptions = {}): Promise<RunResult> {
    requireOptions(options, 'run', runOptions)
    const { onProgress, ...rest } = options
    if (onProgress === undefined) return this.#run(program, times, rest)
    if (this.#group.calls === undefined && Number.isSafeInteger(times) && times > 1)
      return this.#runInParts(program, times, onProgress, rest)
    const result = await this.#run(program, times, rest)
    onProgress({ done: times, times })
    return result
  }

  /** All parts are issued at once, so that the devices never wait and no other call comes between them. */
  async #runInParts(
    program: Program,
    times: number,
    onProgress: (progress: RunProgress) => void,
    { profile, ...options }: RunOptions,
  ): Promise<RunResult> {
    const parts = Math.min(times, progressParts)
    const end = (part: number) => Math.round((part * times) / parts)
    const runs = Array.from({ length: parts }, (_, part) => {
      const last = part === parts - 1
      return handled(
        this.#run(program, end(part + 1) - end(part), { ...options, ...(last && profile && { profile }) }),
      )
    })
    let seconds = 0
    let clock: RunResult['clock'] = 'device'
    let spans: RunResult['spans']
    try {
      for (const [part, run] of runs.entries()) {
        const result = await run.catch((error: unknown) => {
          if (!isGpuError(error, 'aborted')) throw error
          throw new GpuError(
            'aborted',
            `The run is aborted after ${end(part)} to ${end(part + 1)} of ${times} repetitions.`,
            { cause: error.cause },
          )
        })
        seconds += result.seconds
        if (result.clock === 'host') clock = 'host'
        spans = result.spans
        onProgress({ done: end(part + 1), times })
      }
    } finally {
      await Promise.allSettled(runs)
    }
    return { seconds, clock, repetitions: times, ...(spans && { spans }) }
  }

  async #run(program: Program, times: number, options: RunOptions): Promise<RunResult> {
    const group = this.#group
    group.requireAlive()
    if (!(program instanceof RecordedProgram))
      throw new GpuError(
        'validation',
        `What run takes is ${describedValue(program)}; it must be a program, which record returns.`,
      )
    if (program.group !== group)
      throw new GpuError('validation', `A program of another group cannot run in group "${group.label}".`)
    requireSignal(options.signal)
    requireCount(times, `The repetition count of program "${program.label}"`)
    if (program.destroyed) throw new GpuError('validation', `Program "${program.label}" is destroyed.`)
    const { signal, profile, parameters, timeoutSeconds } = options
    if (timeoutSeconds !== undefined) group.requireTimeLimit(timeoutSeconds, program.label)
    const { commands, uniformBlock } = program.plan
    requireHostMemory(program)
    const patched =
      parameters === undefined
        ? undefined
        : patchedUniformBlock(uniformBlock, program.parameters, parameters, program.label)
    const call = group.calls?.number(runText(program.label, times, options), times === 0 ? 0 : 2)
    // Over several ranks, all ranks learn of an abort before they run, and a rank without commands takes part too.
    if (signal?.aborted && call === undefined) throw abortedError(signal, 0, times)
    if (times === 0 || (commands.length === 0 && call === undefined))
      return { seconds: 0, clock: 'host', repetitions: times }
    const execution: ExecutionOptions = {
      times,
      ...(signal && { signal }),
      ...(profile && { profile }),
      ...(patched && { uniformBlock: patched }),
    }
    const result =
      call === undefined
        ? await this.#runHere(program, execution, timeoutSeconds)
        : await this.#runOnAllRanks(program, execution, call)
    const { seconds, clock, spans } = result
    if (spans === undefined) return { seconds, clock, repetitions: times }
    const named = spans.map((span): ProgramSpan => {
      const { label, kind } = commands[span.command]!
      return { ...span, label, kind }
    })
    return { seconds, clock, repetitions: times, spans: named }
  }

  #runHere(
    program: RecordedProgram,
    execution: ExecutionOptions,
    timeoutSeconds: number | undefined,
  ): Promise<ExecutionResult> {
    const earlier = [...this.#active]
    // Preparation may run ahead of the turn: it allocates, and changes nothing that earlier work sees.
    const preparation = handled(program.prepared())
    return this.#enqueue(
      [program],
      (executable: Executable) => {
        if (execution.signal?.aborted) throw abortedError(execution.signal, 0, execution.times)
        const running = this.#group.runtime.run(executable, execution)
        if (timeoutSeconds === undefined) return running
        return this.#group.withinSeconds(running, timeoutSeconds, earlier, program.label)
      },
      async (turn) => {
        await turn
        return preparation
      },
    )
  }

  /** No rank starts before all are ready, and the result is the same on all. */
  async #runOnAllRanks(
    program: RecordedProgram,
    execution: ExecutionOptions,
    call: NumberedCall,
  ): Promise<ExecutionResult> {
    const group = this.#group
    const calls = group.calls!
    const messages = program.takeMessages()
    const preparation = handled(program.prepared())
    let started = false
    let result: ExecutionResult | undefined
    let error: unknown
    try {
      result = await this.#enqueue(
        [program],
        (executable: Executable) => {
          started = true
          return group.runtime.run(executable, execution)
        },
        async (turn) => {
          await turn
          const { signal, times } = execution
          const own: { error?: unknown; executable?: Executable } = await preparation.then(
            (executable) => (signal?.aborted ? { error: abortedError(signal, 0, times) } : { executable }),
            (caught: unknown) => ({ error: caught }),
          )
          await group.guard(() => calls.agree(call, { error: own.error, ...(messages && { messages }) }))
          return own.executable!
        },
      )
    } catch (caught) {
      if (!started) throw caught
      error = caught
      // Other ranks may wait for messages that never come.
      if (!isGpuError(error, 'aborted') && program.exchangesMessages) {
        group.abandon(error)
        throw error
      }
    }
    const all = await group.guard(() =>
      calls.agree(call, { error, ...(result && { seconds: result.seconds, clock: result.clock }) }, 1),
    )
    return { ...result!, ...all }
  }

  /**
   * Retains, waits for its turn, calls the runtime; the next call's turn comes right after that call is made. `ready` resolves
   * when the call may be made, which is not before the turn.
   */
  #enqueue<R>(resources: readonly Retained[], call: () => Promise<R>): Promise<R>
  #enqueue<P, R>(
    resources: readonly Retained[],
    call: (prepared: P) => Promise<R>,
    ready: (turn: Promise<void>) => Promise<P>,
  ): Promise<R>
  #enqueue<P, R>(
    resources: readonly Retained[],
    call: (prepared: P) => Promise<R>,
    ready?: (turn: Promise<void>) => Promise<P>,
  ): Promise<R> {
    this.#group.requireAlive()
    for (const resource of resources) resource.retain()
    const turn = this.#issued
    let passTurn = () => {}
    this.#issued = new Promise((resolve) => {
      passTurn = resolve
    })
    const work = async (): Promise<R> => {
      try {
        const prepared = (await (ready === undefined ? turn : ready(turn))) as P
        const completion = this.#group.guard(() => call(prepared))
        passTurn()
        return await completion
      } finally {
        passTurn()
        for (const resource of resources) resource.release()
      }
    }
    const active = work()
    this.#active.add(active)
    const forget = () => this.#active.delete(active)
    active.then(forget, forget)
    return active
  }

  /** Checks a view of a transfer. The region is computed late, because scratch gets its memory when its program is prepared. */
  #transfer(view: BufferView, what: string) {
    this.#group.requireAlive()
    const buffer = bufferOf(view)
    if (!(buffer instanceof OwnedDeviceBuffer))
      throw new GpuError('validation', notAView(what, 'device', view))
    if (buffer.group !== this.#group)
      throw new GpuError(
        'validation',
        `${what}, buffer "${buffer.label}", ${belongsElsewhere(buffer.group, this.#group)}`,
      )
    if (buffer.destroyed) throw new GpuError('validation', `${what}, buffer "${buffer.label}", is destroyed.`)
    const size = buffer.elementByteLength
    const region = () => {
      const { byteOffset, rowByteLength, rows, rowByteStride } = flattened({
        buffer: 0,
        byteOffset: view.offset * size,
        rowByteLength: view.columns * size,
        rows: view.rows,
        rowByteStride: (view.rows === 1 ? view.columns : view.stride) * size,
      })
      return { byteOffset, rowByteLength, rows, rowByteStride }
    }
    return { buffer, region }
  }
}

function allocationOf(buffer: OwnedDeviceBuffer) {
  if (buffer.allocation === undefined)
    throw new GpuError(
      'validation',
      `Scratch "${buffer.label}" has no memory before its program is prepared.`,
    )
  return buffer.allocation
}

interface Retained {
  retain(): void
  release(): void
}

/** Awaited later: a rejection meanwhile is not "unhandled". */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {})
  return promise
}

function viewText({ offset, rows, columns, stride }: BufferView): string {
  return `${rows} x ${columns} elements at ${offset} with leading dimension ${stride}`
}

function runText(label: string, times: number, { parameters = {}, profile = false }: RunOptions): string {
  const values = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))
  const given = values.map(([name, value]) => ` ${name} = ${value}`).join()
  return `runs "${label}" ${times} times${given === '' ? '' : ` with${given}`}${profile ? ', profiled' : ''}`
}

function requireHostMemory({ label, plan }: Program): void {
  for (const buffer of plan.buffers)
    if (buffer.kind === 'host' && buffer.allocation.arrayBuffer.byteLength !== buffer.byteLength)
      throw new GpuError(
        'validation',
        `The memory of host buffer "${buffer.label}", which program "${label}" uses, is detached: it was transferred elsewhere.`,
      )
}

const runOptions = {
  onProgress: 'function',
  signal: 'object',
  timeoutSeconds: 'number',
  profile: 'boolean',
  parameters: 'object',
} as const

function requireSignal(signal: unknown): void {
  if (signal === undefined || (isObject(signal) && 'aborted' in signal && 'addEventListener' in signal))
    return
  throw new GpuError(
    'validation',
    `The option signal of run is ${describedValue(signal)}; it must be an AbortSignal.`,
  )
}

/** The name of a typed array's class, whoever made it; undefined for anything else. */
const arrayName: () => string | undefined = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!

function requireArray<A extends HostArray>(
  array: A | undefined,
  buffer: OwnedDeviceBuffer,
  length: number,
  what: string,
): asserts array is A {
  const expected = elementArray(buffer.type, 0).constructor.name
  const name = arrayName.call(array)
  if (array === undefined || name !== expected)
    throw new GpuError(
      'validation',
      `${what} is ${name ?? describedValue(array)}; buffer "${buffer.label}" of ${buffer.type} takes ${expected}.`,
    )
  if (array.length !== length)
    throw new GpuError(
      'validation',
      `${what} has ${array.length} elements; the view of buffer "${buffer.label}" has ${length}.`,
    )
}
