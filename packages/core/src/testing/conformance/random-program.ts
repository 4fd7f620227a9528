import { expect } from 'vitest'
import type { DeviceBuffer } from '../../device.ts'
import type { DeviceGroup } from '../../group.ts'
import type { HostBuffer } from '../../host-buffer.ts'
import type { Kernel } from '../../kernel.ts'
import type { Schedule } from '../../plan.ts'
import type { Program } from '../../program.ts'
import type { Recorder } from '../../recorder.ts'
import { seededRandom } from '../random.ts'
import { accumulate } from './kernels.ts'

interface Block {
  readonly buffer: number
  readonly row: number
  readonly column: number
  readonly rows: number
  readonly columns: number
}

/** A command for the recorder, and what it does to the model (one array per buffer; host buffers come last). */
interface Step {
  record(r: Recorder): void
  apply(model: readonly Uint32Array[]): void
}

const rows = 9
const columns = 13
const deviceBuffers = 4

/** Random commands on a few small matrices, with the same commands on arrays in order of recording as the oracle. */
export class RandomProgram {
  readonly #group: DeviceGroup
  readonly #buffers: DeviceBuffer<'u32'>[] = []
  readonly #host: HostBuffer<'u32'>
  readonly #kernel: Kernel
  readonly #steps: Step[]
  readonly #random: () => number

  static async create(group: DeviceGroup, seed: number): Promise<RandomProgram> {
    const kernel = await group.compile({ wgsl: accumulate })
    const buffers: DeviceBuffer<'u32'>[] = []
    for (let i = 0; i < deviceBuffers; i++)
      buffers.push(
        await group.devices[i % group.devices.length]!.allocate('u32', [rows, columns], { label: `m${i}` }),
      )
    return new RandomProgram(group, kernel, buffers, seed)
  }

  constructor(group: DeviceGroup, kernel: Kernel, buffers: DeviceBuffer<'u32'>[], seed: number) {
    this.#group = group
    this.#kernel = kernel
    this.#buffers = buffers
    this.#host = group.allocateHost('u32', rows * columns)
    this.#random = seededRandom(seed)
    this.#steps = Array.from({ length: 3 + this.#pick(20) }, () => this.#step())
  }

  record(schedule: Schedule): Program {
    return this.#group.record(
      (r) => {
        for (const step of this.#steps) step.record(r)
      },
      { schedule },
    )
  }

  /** Fills all buffers with the start values. */
  async reset(): Promise<void> {
    const start = this.#start()
    this.#host.array.set(start.at(-1)!)
    await Promise.all(this.#buffers.map((buffer, i) => this.#group.queue.write(buffer, start[i]!)))
  }

  async result(): Promise<Uint32Array[]> {
    const arrays = await Promise.all(this.#buffers.map((buffer) => this.#group.queue.read(buffer)))
    return [...arrays, this.#host.array.slice()]
  }

  /** What `times` repetitions of the commands in order of recording give. */
  expected(times: number): Uint32Array[] {
    const model = this.#start()
    for (let i = 0; i < times; i++) for (const step of this.#steps) step.apply(model)
    return model
  }

  async expectResult(times: number, message: string): Promise<void> {
    expect(await this.result(), message).toEqual(this.expected(times))
  }

  destroy(): void {
    for (const resource of [...this.#buffers, this.#host, this.#kernel]) resource.destroy()
  }

  #start(): Uint32Array<ArrayBuffer>[] {
    return Array.from({ length: deviceBuffers + 1 }, (_, buffer) =>
      Uint32Array.from({ length: rows * columns }, (_, i) => 1000 * (buffer + 1) + i),
    )
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #step(): Step {
    const kind = this.#pick(5)
    const height = 1 + this.#pick(4)
    const width = 1 + this.#pick(6)
    const block = (buffer: number): Block => ({
      buffer,
      row: this.#pick(rows - height + 1),
      column: this.#pick(columns - width + 1),
      rows: height,
      columns: width,
    })
    const target = block(this.#pick(deviceBuffers))
    if (kind === 0) return this.#fill(target, this.#pick(1000))
    if (kind === 1) return this.#dispatch(this.#pick(100))
    if (kind === 2) return this.#upload(block(deviceBuffers), target)
    if (kind === 3) return this.#download(target, block(deviceBuffers))
    let source = block(this.#pick(deviceBuffers))
    const apart = () =>
      source.buffer !== target.buffer ||
      source.row + height <= target.row ||
      target.row + height <= source.row ||
      source.column + width <= target.column ||
      target.column + width <= source.column
    while (!apart()) source = block(this.#pick(deviceBuffers))
    return this.#copy(source, target)
  }

  #view({ buffer, row, column, rows: height, columns: width }: Block) {
    return this.#buffers[buffer]!.block(row, column, height, width)
  }

  #hostView({ row, column, rows: height, columns: width }: Block) {
    return this.#host.reshape(rows, columns).block(row, column, height, width)
  }

  #fill(target: Block, value: number): Step {
    return {
      record: (r) => r.fill(this.#view(target), value),
      apply: (model) => eachElement(target, (i) => (model[target.buffer]![i] = value)),
    }
  }

  #copy(source: Block, target: Block): Step {
    return { record: (r) => r.copy(this.#view(source), this.#view(target)), apply: moves(source, target) }
  }

  #upload(source: Block, target: Block): Step {
    return {
      record: (r) => r.upload(this.#hostView(source), this.#view(target)),
      apply: moves(source, target),
    }
  }

  #download(source: Block, target: Block): Step {
    return {
      record: (r) => r.download(this.#view(source), this.#hostView(target)),
      apply: moves(source, target),
    }
  }

  /** A kernel over slices of two buffers of one device. */
  #dispatch(addend: number): Step {
    const count = this.#group.devices.length
    const y = this.#pick(deviceBuffers)
    const others = [...this.#buffers.keys()].filter((i) => i !== y && i % count === y % count)
    if (others.length === 0) return this.#fill({ buffer: y, row: 0, column: 0, rows: 1, columns: 3 }, addend)
    const x = others[this.#pick(others.length)]!
    const length = 1 + this.#pick(30)
    const [from, to] = [this.#pick(rows * columns - length), this.#pick(rows * columns - length)]
    return {
      record: (r) =>
        r.dispatch(this.#kernel, {
          workgroups: 1,
          args: { x: this.#buffers[x]!.slice(from, length), y: this.#buffers[y]!.slice(to, length), addend },
        }),
      apply: (model) => {
        for (let i = 0; i < length; i++)
          model[y]![to + i] = Math.imul(3, model[y]![to + i]!) + model[x]![from + i]! + addend
      },
    }
  }
}

function eachElement(
  { row, column, rows: height, columns: width }: Block,
  visit: (index: number) => void,
): void {
  for (let i = 0; i < height; i++) for (let j = 0; j < width; j++) visit((row + i) * columns + column + j)
}

function moves(source: Block, target: Block): Step['apply'] {
  const shift = (source.row - target.row) * columns + source.column - target.column
  return (model) => eachElement(target, (i) => (model[target.buffer]![i] = model[source.buffer]![i + shift]!))
}
