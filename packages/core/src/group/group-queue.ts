import { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { type ElementArray, type ElementType, elementArray, type HostArray } from '../buffers/element-type.ts'
import { bufferOf, notAView } from '../buffers/owned-buffer.ts'
import { arrayName, describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { requireOptions } from '../options.ts'
import { byteRegion, flattened } from '../plan/byte-region.ts'
import type { Program } from '../running/program.ts'
import { ProgramRuns } from '../running/program-runs.ts'
import type { BufferView } from './device.ts'
import { belongsElsewhere, type GroupState } from './group-state.ts'
import type { Queue, ReadOptions, RunOptions, RunResult } from './queue.ts'
import type { Turns } from './turns.ts'

/** The group's one queue. */
export class GroupQueue implements Queue {
  readonly #group: GroupState
  readonly #turns: Turns
  readonly #runs: ProgramRuns

  constructor(group: GroupState) {
    this.#group = group
    this.#turns = group.turns
    this.#runs = new ProgramRuns(group)
  }

  /** Resolves when nothing is pending. */
  idle(): Promise<void> {
    return this.#turns.idle()
  }

  run(program: Program, times?: number, options?: RunOptions): Promise<RunResult> {
    return this.#runs.run(program, times, options)
  }

  async write<T extends ElementType>(target: BufferView<T>, data: HostArray<T> | undefined): Promise<void> {
    const { buffer, region } = this.#transfer(target, 'The target of a write')
    if (data === undefined && !buffer.local) return
    requireArray(data, buffer, target.length, 'The data of a write')
    if (target.length === 0 || !buffer.local) return
    // A private copy: the caller may change, resize or transfer its array, and other threads may write to it.
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
    await this.#turns.enqueue([buffer], () =>
      this.#group.runtime.write({ allocation: allocationOf(buffer), ...region }, bytes),
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
      throw invalid(
        `The option to of a read is ${describedValue(to)}; it must be 'all', 'owner' or a rank from 0 to ${rankCount - 1}.`,
      )
    const taker = to === 'owner' ? buffer.device.rank : to
    const takes = taker === 'all' || taker === rank
    const { into } = options
    if (takes && into !== undefined) requireArray(into, buffer, source.length, '`into` of a read')
    const call =
      calls === undefined || to === 'owner' || source.length === 0
        ? undefined
        : calls.number(`reads ${viewText(source)} of "${buffer.label}" to ${to}`, 2)
    // The elements arrive in private memory, for the same reason that `write` copies.
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
      if (buffer.local) await runtime.read({ allocation: allocationOf(buffer), ...region }, bytes)
    }
    await this.#group.settle(call, () => this.#turns.enqueue([buffer], take))
    const from = buffer.device.rank
    if (call !== undefined && (taker === 'all' || (taker !== from && (takes || buffer.local))))
      await this.#group.guard(() => call.calls.deliver(call, from, taker, bytes))
    return taken()
  }

  /** Checks a view of a transfer. */
  #transfer(view: BufferView, what: string) {
    this.#group.requireAlive()
    const buffer = bufferOf(view)
    if (!(buffer instanceof OwnedDeviceBuffer)) throw invalid(notAView(what, 'device', view))
    if (buffer.group !== this.#group)
      throw invalid(`${what}, buffer "${buffer.label}", ${belongsElsewhere(buffer.group, this.#group)}`)
    if (buffer.destroyed) throw invalid(`${what}, buffer "${buffer.label}", is destroyed.`)
    const { buffer: _, ...region } = flattened(byteRegion(0, view, buffer.elementByteLength))
    return { buffer, region }
  }
}

function allocationOf(buffer: OwnedDeviceBuffer) {
  if (buffer.allocation === undefined)
    throw invalid(`Scratch "${buffer.label}" has no memory until its program is prepared.`)
  return buffer.allocation
}

function viewText({ offset, rows, columns, stride }: BufferView): string {
  return `${rows} x ${columns} elements at ${offset} with leading dimension ${stride}`
}

function requireArray<A extends HostArray>(
  array: A | undefined,
  buffer: OwnedDeviceBuffer,
  length: number,
  what: string,
): asserts array is A {
  const expected = elementArray(buffer.type, 0).constructor.name
  const name = arrayName(array)
  if (array === undefined || name !== expected)
    throw invalid(
      `${what} is ${name ?? describedValue(array)}; buffer "${buffer.label}" of ${buffer.type} needs ${expected}.`,
    )
  if (array.length !== length)
    throw invalid(`${what} has ${array.length} elements; the view of buffer "${buffer.label}" has ${length}.`)
}
