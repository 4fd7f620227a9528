import { expect } from 'vitest'
import type { HostBuffer, HostView } from '../../buffers/host-buffer.ts'
import type { BufferView, Device, DeviceBuffer } from '../../group/device.ts'
import type { DeviceGroup } from '../../group/group.ts'
import type { Kernel } from '../../kernels/kernel.ts'
import type { Schedule } from '../../plan/plan.ts'
import type { Recorder } from '../../recording/recorder.ts'
import type { Program } from '../../running/program.ts'
import { seededRandom } from '../random.ts'
import { accumulate } from './kernels.ts'

interface Block {
  readonly buffer: number
  readonly row: number
  readonly column: number
  readonly rows: number
  readonly columns: number
}

/** A command for the recorder, and what it does to the model (one array per buffer). */
interface Step {
  /** The devices whose memory it touches; undefined if it also touches memory that every process has. */
  readonly devices: readonly Device[] | undefined
  record(r: Recorder): void
  apply(model: readonly Uint32Array[]): void
}

type AnyBuffer = DeviceBuffer<'u32'> | HostBuffer<'u32'>

const rows = 9
const columns = 13

/**
 * Random commands on a few small matrices of devices and of the host, with the same commands on arrays in
 * order of recording as the oracle. In a group over several processes each makes the same one.
 */
export class RandomProgram {
  readonly #group: DeviceGroup
  readonly #buffers: readonly AnyBuffer[]
  readonly #deviceBuffers: number
  readonly #kernel: Kernel
  readonly #fences: boolean
  readonly #steps: Step[]
  readonly #random: () => number

  /** Without `fences` the order is what the data demand. */
  static async create(group: DeviceGroup, seed: number, fences = true): Promise<RandomProgram> {
    const kernel = await group.compile({ wgsl: accumulate })
    const { devices } = group
    const onDevices: DeviceBuffer<'u32'>[] = []
    for (let i = 0; i < Math.max(4, devices.length); i++)
      onDevices.push(await devices[i % devices.length]!.allocate('u32', [rows, columns], { label: `m${i}` }))
    return new RandomProgram(group, kernel, onDevices, seed, fences)
  }

  constructor(
    group: DeviceGroup,
    kernel: Kernel,
    onDevices: DeviceBuffer<'u32'>[],
    seed: number,
    fences: boolean,
  ) {
    this.#group = group
    this.#fences = fences
    this.#kernel = kernel
    const { devices } = group
    const length = rows * columns
    this.#deviceBuffers = onDevices.length
    this.#buffers = [
      ...onDevices,
      group.allocateHost('u32', length),
      group.allocateHost('u32', length, { device: seed % devices.length }),
      group.allocateHost('u32', length, { device: devices.at(-1)! }),
    ]
    this.#random = seededRandom(seed)
    this.#steps = Array.from({ length: 3 + this.#pick(20) }, () => this.#step())
  }

  record(schedule: Schedule): Program {
    return this.#group.record(
      (r) => {
        for (const { devices, record } of this.#steps)
          if (devices === undefined || r.touches(...devices)) record(r)
      },
      { schedule },
    )
  }

  /** Fills all buffers with the start values. */
  async reset(): Promise<void> {
    const start = this.#start()
    const writes = this.#buffers.map((buffer, i) => {
      if (!('array' in buffer)) return this.#group.queue.write(buffer, start[i]!)
      if (buffer.array.length > 0) buffer.array.set(start[i]!)
      return undefined
    })
    await Promise.all(writes)
  }

  /** The contents; undefined for host memory of another process. */
  result(): Promise<(Uint32Array | undefined)[]> {
    return Promise.all(
      this.#buffers.map(async (buffer) => {
        if (!('array' in buffer)) return this.#group.queue.read(buffer)
        return buffer.array.length > 0 ? buffer.array.slice() : undefined
      }),
    )
  }

  /** What `times` repetitions of the commands in order of recording give. */
  expected(times: number): Uint32Array[] {
    const model = this.#start()
    for (let i = 0; i < times; i++) for (const step of this.#steps) step.apply(model)
    return model
  }

  async expectResult(times: number, message: string): Promise<void> {
    const expected = this.expected(times)
    const result = await this.result()
    expect(
      result.map((array, i) => array ?? expected[i]!),
      message,
    ).toEqual(expected)
  }

  destroy(): void {
    for (const resource of [...this.#buffers, this.#kernel]) resource.destroy()
  }

  #start(): Uint32Array<ArrayBuffer>[] {
    return this.#buffers.map((_, buffer) =>
      Uint32Array.from({ length: rows * columns }, (_, i) => 1000 * (buffer + 1) + i),
    )
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #step(): Step {
    const kind = this.#pick(12)
    const height = 1 + this.#pick(4)
    const width = 1 + this.#pick(6)
    const block = (buffer: number): Block => ({
      buffer,
      row: this.#pick(rows - height + 1),
      column: this.#pick(columns - width + 1),
      rows: height,
      columns: width,
    })
    if (kind === 0 && this.#fences) return this.#fence(this.#pick(this.#group.devices.length))
    if (kind <= 1) return this.#fill(block(this.#pick(this.#deviceBuffers)), this.#pick(1000))
    if (kind <= 5) return this.#dispatch(this.#pick(100))
    const target = block(this.#pick(this.#buffers.length))
    let source = block(this.#pick(this.#buffers.length))
    const apart = () =>
      source.buffer !== target.buffer ||
      source.row + height <= target.row ||
      target.row + height <= source.row ||
      source.column + width <= target.column ||
      target.column + width <= source.column
    while (!apart()) source = block(this.#pick(this.#buffers.length))
    return this.#copy(source, target)
  }

  #view({ buffer, row, column, rows: height, columns: width }: Block): BufferView<'u32'> | HostView<'u32'> {
    const whole = this.#buffers[buffer]!
    const matrix = 'array' in whole ? whole.reshape(rows, columns) : whole
    return matrix.block(row, column, height, width)
  }

  #devicesOf(...blocks: readonly Block[]): Device[] | undefined {
    const devices = blocks.map(({ buffer }) => this.#buffers[buffer]!.device)
    return devices.includes(undefined) ? undefined : (devices as Device[])
  }

  #fence(device: number): Step {
    return { devices: undefined, record: (r) => r.fence(device), apply: () => {} }
  }

  #fill(target: Block, value: number): Step {
    return {
      devices: this.#devicesOf(target),
      record: (r) => r.fill(this.#view(target) as BufferView<'u32'>, value),
      apply: (model) => eachElement(target, (i) => (model[target.buffer]![i] = value)),
    }
  }

  #copy(source: Block, target: Block): Step {
    const onHost = ({ buffer }: Block) => buffer >= this.#deviceBuffers
    return {
      devices: this.#devicesOf(source, target),
      record: (r) => {
        const [from, to] = [this.#view(source), this.#view(target)]
        if (onHost(source) && !onHost(target)) r.upload(from as HostView, to as BufferView)
        else if (onHost(target) && !onHost(source)) r.download(from as BufferView, to as HostView)
        else r.copy(from, to)
      },
      apply: (model) => {
        const shift = (source.row - target.row) * columns + source.column - target.column
        eachElement(target, (i) => (model[target.buffer]![i] = model[source.buffer]![i + shift]!))
      },
    }
  }

  /** A kernel over slices of two buffers of one device. */
  #dispatch(addend: number): Step {
    const count = this.#group.devices.length
    const y = this.#pick(this.#deviceBuffers)
    const others = Array.from({ length: this.#deviceBuffers }, (_, i) => i).filter(
      (i) => i !== y && i % count === y % count,
    )
    if (others.length === 0) return this.#fill({ buffer: y, row: 0, column: 0, rows: 1, columns: 3 }, addend)
    const x = others[this.#pick(others.length)]!
    const length = 1 + this.#pick(30)
    const [from, to] = [this.#pick(rows * columns - length), this.#pick(rows * columns - length)]
    const [source, target] = [this.#buffers[x], this.#buffers[y]] as DeviceBuffer<'u32'>[]
    return {
      devices: [source!.device, target!.device],
      record: (r) =>
        r.dispatch(this.#kernel, {
          workgroups: 1,
          args: { x: source!.slice(from, length), y: target!.slice(to, length), addend },
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
