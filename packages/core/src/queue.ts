import { flattened } from './byte-region.ts'
import type { BufferView } from './device.ts'
import { OwnedDeviceBuffer } from './device-buffer.ts'
import { type ElementArray, type ElementType, elementArray } from './element-type.ts'
import { GpuError } from './errors.ts'
import { abortedError, type ExecutionOptions, type Span } from './execution.ts'
import type { GroupState } from './group-state.ts'
import { bufferOf } from './owned-buffer.ts'
import type { PlanCommand } from './plan.ts'
import { type Program, RecordedProgram } from './program.ts'
import { patchedUniformBlock } from './uniform-block.ts'
import { requireCount } from './view.ts'

export interface RunOptions {
  /** Acts between repetitions: work in flight completes, then `run` rejects with `aborted`. */
  readonly signal?: AbortSignal
  /** Collects one span per command of the last repetition, where the device has timestamps. */
  readonly profile?: boolean
  /** New values of recorded parameters, for this run. */
  readonly parameters?: Readonly<Record<string, number>>
}

export interface RunResult {
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly repetitions: number
  readonly spans?: readonly ProgramSpan[]
}

export type ProgramSpan = Span & { readonly label: string; readonly kind: PlanCommand['kind'] }

export interface ReadOptions<T extends ElementType> {
  /** Receives the elements; exactly as long as the view. */
  readonly into?: ElementArray<T>
}

/** Everything takes effect in the order of the calls. Promises reject with `GpuError`. */
export interface Queue {
  /** Copies `data` (dense, row after row) into `target`. Leave `data` alone until the promise settles. */
  write<T extends ElementType>(target: BufferView<T>, data: ElementArray<T>): Promise<void>
  /** The view's elements, dense, row after row. */
  read<T extends ElementType>(source: BufferView<T>, options?: ReadOptions<T>): Promise<ElementArray<T>>
  /** Runs the program `times` times (default 1; 0 does nothing) with one call of the backend. */
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

  async write<T extends ElementType>(target: BufferView<T>, data: ElementArray<T>): Promise<void> {
    const { buffer, region } = this.#transfer(target, 'The target of a write')
    requireArray(data, buffer, target.length, 'The data of a write')
    if (target.length === 0) return
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    await this.#enqueue([buffer], () =>
      this.#group.runtime.write({ allocation: allocationOf(buffer), ...region() }, bytes),
    )
  }

  async read<T extends ElementType>(
    source: BufferView<T>,
    options: ReadOptions<T> = {},
  ): Promise<ElementArray<T>> {
    const { buffer, region } = this.#transfer(source, 'The source of a read')
    const into = options.into ?? elementArray(buffer.type as T, source.length)
    requireArray(into, buffer, source.length, '`into` of a read')
    if (source.length === 0) return into
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength)
    await this.#enqueue([buffer], () =>
      this.#group.runtime.read({ allocation: allocationOf(buffer), ...region() }, bytes),
    )
    return into
  }

  async run(program: Program, times = 1, options: RunOptions = {}): Promise<RunResult> {
    this.#group.requireAlive()
    if (!(program instanceof RecordedProgram) || program.group !== this.#group)
      throw new GpuError(
        'validation',
        `A program of another group cannot run in group "${this.#group.label}".`,
      )
    requireCount(times, `The repetition count of program "${program.label}"`)
    if (program.destroyed) throw new GpuError('validation', `Program "${program.label}" is destroyed.`)
    const { signal, profile, parameters } = options
    const { commands, uniformBlock } = program.plan
    const patched =
      parameters === undefined
        ? undefined
        : patchedUniformBlock(uniformBlock, program.parameters, parameters, program.label)
    if (signal?.aborted) throw abortedError(signal, 0, times)
    if (times === 0 || commands.length === 0) return { seconds: 0, clock: 'host', repetitions: times }
    const execution: ExecutionOptions = {
      times,
      ...(signal && { signal }),
      ...(profile && { profile }),
      ...(patched && { uniformBlock: patched }),
    }
    const result = await this.#enqueue(
      [program],
      async (executable) => {
        if (signal?.aborted) throw abortedError(signal, 0, times)
        return this.#group.runtime.run(executable, execution)
      },
      () => program.prepared(),
    )
    const { seconds, clock, spans } = result
    if (spans === undefined) return { seconds, clock, repetitions: times }
    const named = spans.map((span): ProgramSpan => {
      const { label, kind } = commands[span.command]!
      return { ...span, label, kind }
    })
    return { seconds, clock, repetitions: times, spans: named }
  }

  /** Retains, waits its turn, prepares, calls the runtime; the next call's turn comes right after that call is made. */
  #enqueue<R>(resources: readonly { retain(): void; release(): void }[], call: () => Promise<R>): Promise<R>
  #enqueue<P, R>(
    resources: readonly { retain(): void; release(): void }[],
    call: (prepared: P) => Promise<R>,
    prepare: () => Promise<P>,
  ): Promise<R>
  #enqueue<P, R>(
    resources: readonly { retain(): void; release(): void }[],
    call: (prepared: P) => Promise<R>,
    prepare?: () => Promise<P>,
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
        // Preparation may run ahead of the turn: it allocates, and changes nothing that earlier work sees.
        const preparation = prepare?.()
        preparation?.catch(() => {})
        await turn
        const prepared = (await preparation) as P
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

  /** Checks a view of a transfer. The region is taken late: scratch gets its memory when its program is prepared. */
  #transfer(view: BufferView, what: string) {
    this.#group.requireAlive()
    const buffer = bufferOf(view)
    if (!(buffer instanceof OwnedDeviceBuffer))
      throw new GpuError('validation', `${what} is not a view of a device buffer.`)
    if (buffer.group !== this.#group)
      throw new GpuError(
        'validation',
        `${what}, buffer "${buffer.label}", belongs to group "${buffer.group.label}", not to "${this.#group.label}".`,
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

function requireArray(array: ElementArray, buffer: OwnedDeviceBuffer, length: number, what: string): void {
  const expected = elementArray(buffer.type, 0).constructor.name
  if (array?.constructor.name !== expected)
    throw new GpuError(
      'validation',
      `${what} is ${array?.constructor.name}; buffer "${buffer.label}" of ${buffer.type} takes ${expected}.`,
    )
  if (array.length !== length)
    throw new GpuError(
      'validation',
      `${what} has ${array.length} elements; the view of buffer "${buffer.label}" has ${length}.`,
    )
}
