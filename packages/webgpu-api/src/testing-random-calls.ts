import { seededRandom } from '@tandem-gpu/core/testing'
import { DeviceModel, type ModelBuffer, usages } from './testing-model.ts'

/**
 * Makes random valid and invalid API calls on several devices and compares each result with a model:
 * exceptions, errors in the scope around each call, promises, states, and buffer contents. The same seed
 * produces the same calls.
 */
export class RandomCalls {
  readonly #random: () => number
  readonly #open: (ordinal: number) => Promise<GPUDevice>
  readonly #devices: DeviceModel[] = []
  readonly #log: string[] = []

  constructor(seed: number, open: (ordinal: number) => Promise<GPUDevice>) {
    this.#random = seededRandom(seed)
    this.#open = open
  }

  /** Throws at the first difference; the error lists the most recent calls. */
  async run(calls: number, devices: number): Promise<void> {
    try {
      for (let i = 0; i < devices; i++) this.#devices.push(await this.#newDevice(i))
      // Most calls follow one another without a turn of the event loop.
      for (let i = 0; i < calls; i++) {
        const ended = this.#step()
        if (ended !== undefined) await ended
      }
      await this.#settle()
      for (const device of this.#devices) {
        for (const buffer of device.buffers) await device.compareBytes(buffer)
        await device.destroy()
      }
    } catch (error) {
      throw new Error(`${(error as Error).stack}\nafter:\n${this.#log.slice(-25).join('\n')}`, {
        cause: error,
      })
    }
  }

  async #newDevice(index: number): Promise<DeviceModel> {
    return DeviceModel.open(await this.#open(index % 2), (text) => this.#log.push(`device ${index}: ${text}`))
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!
  }

  #chance(part: number): boolean {
    return this.#random() < part
  }

  /** Usually a valid offset or length, sometimes an invalid one. */
  #number(right: () => number, size: number): number {
    if (this.#chance(0.93)) return right()
    return this.#pick([2, 4, 6, 256, Math.max(0, size), Math.max(0, size) + 4, 2 ** 33])
  }

  #offset(size: number, multiple: number): number {
    return this.#number(() => this.#below(Math.floor(size / multiple) + 1) * multiple, size)
  }

  #length(rest: number): number {
    return this.#number(() => this.#below(Math.max(0, Math.floor(rest / 4)) + 1) * 4, rest)
  }

  #bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.#below(256))
  }

  /** A random buffer, sometimes one of another device. */
  #buffer(device: DeviceModel, wanted?: (buffer: ModelBuffer) => boolean): ModelBuffer {
    const { buffers } = this.#chance(0.02) ? this.#pick(this.#devices) : device
    if (buffers !== device.buffers && buffers.length > 0) return this.#pick(buffers)
    const fitting = wanted === undefined ? [] : device.buffers.filter(wanted)
    return this.#pick(fitting.length > 0 && this.#chance(0.95) ? fitting : device.buffers)
  }

  /** Waits until pending operations have settled on every device. */
  async #settle(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.settle()))
  }

  #step(): Promise<void> | undefined {
    const index = this.#below(this.#devices.length)
    const device = this.#devices[index]!
    const kind = this.#random()
    if (kind < 0.12 || device.buffers.length < 4) this.#create(device)
    else if (kind < 0.28) this.#write(device)
    else if (kind < 0.5) this.#submit(device)
    else if (kind < 0.6) this.#map(device)
    else if (kind < 0.72) this.#range(device)
    else if (kind < 0.8) device.unmap(this.#buffer(device, (b) => b.buffer.mapState !== 'unmapped'))
    else if (kind < 0.83) device.destroyBuffer(this.#buffer(device))
    else if (kind < 0.94) return this.#settle()
    else return this.#settle().then(() => this.#await(kind, index))
    return undefined
  }

  async #await(kind: number, index: number): Promise<void> {
    const device = this.#devices[index]!
    if (kind < 0.98) {
      const buffer = this.#buffer(device)
      if (buffer.owner === device) await device.compareBytes(buffer)
    } else if (kind < 0.983) {
      await device.destroy()
      this.#devices[index] = await this.#newDevice(index)
    } else await device.device.queue.onSubmittedWorkDone()
  }

  #create(device: DeviceModel): void {
    const usage = this.#chance(0.93) ? this.#pick(usages.right) : this.#pick(usages.wrong)
    const size = this.#chance(0.9) ? 4 * this.#below(300) : this.#pick([0, 1, 6, 13, 2 ** 33, 40_000])
    device.createBuffer(size, usage, size < 2 ** 30 && this.#chance(0.25))
    // Keep the number of buffers small.
    if (device.buffers.length > 14) device.forget(this.#below(device.buffers.length))
  }

  #write(device: DeviceModel): void {
    const target = this.#buffer(device, (b) => (b.usage & usages.COPY_DST) !== 0)
    const offset = this.#offset(target.size, 4)
    const length = this.#length(Math.min(target.size, 40_000) - offset)
    const data = this.#bytes(Math.min(length, 50_000) + this.#pick([0, 0, 4, 9]))
    const start = this.#chance(0.8) ? 0 : this.#below(3) * 4
    device.writeBuffer(target, offset, data, start, this.#chance(0.1) ? undefined : length)
  }

  #map(device: DeviceModel): void {
    const buffer = this.#buffer(
      device,
      (b) => (b.usage & (usages.MAP_READ | usages.MAP_WRITE)) !== 0 && b.buffer.mapState === 'unmapped',
    )
    const right = (buffer.usage & usages.MAP_READ) !== 0 ? 1 : 2
    const offset = this.#offset(buffer.size, 8)
    const length = this.#chance(0.3) ? undefined : this.#length(buffer.size - offset)
    device.map(buffer, this.#chance(0.95) ? right : this.#pick([0, 1, 2, 3]), offset, length)
  }

  #range(device: DeviceModel): void {
    const buffer = this.#buffer(device, (b) => b.buffer.mapState === 'mapped')
    const [from, to] = buffer.mapped ?? [0, buffer.size]
    const offset = this.#number(() => from + this.#below(Math.floor((to - from) / 8) + 1) * 8, buffer.size)
    const length = this.#chance(0.2) ? undefined : this.#length(to - offset)
    device.range(buffer, offset, length, (count) => this.#bytes(count))
  }

  #submit(device: DeviceModel): void {
    const commandBuffers = Array.from({ length: 1 + this.#below(2) }, () => {
      const encoder = device.encoder()
      const count = 1 + this.#below(4)
      for (let i = 0; i < count; i++) this.#command(device, encoder)
      return encoder.finish()
    })
    if (this.#chance(0.03)) commandBuffers.push(commandBuffers[0]!)
    device.submit(commandBuffers)
    if (this.#chance(0.03)) device.submit(commandBuffers)
  }

  #command(device: DeviceModel, encoder: ReturnType<DeviceModel['encoder']>): void {
    const has = (usage: number) => (b: ModelBuffer) => (b.usage & usage) !== 0 && b.isFree
    const kind = this.#random()
    if (kind < 0.3) {
      const source = this.#buffer(device, has(usages.COPY_SRC))
      const target = this.#buffer(device, (b) => has(usages.COPY_DST)(b) && b !== source)
      const from = this.#offset(source.size, 4)
      const to = this.#offset(target.size, 4)
      encoder.copy(source, from, target, to, this.#length(Math.min(source.size - from, target.size - to)))
    } else if (kind < 0.45) {
      const target = this.#buffer(device, has(usages.COPY_DST))
      const offset = this.#offset(target.size, 4)
      encoder.clear(target, offset, this.#chance(0.3) ? undefined : this.#length(target.size - offset))
    } else if (kind < 0.48) encoder.debugGroup(this.#chance(0.8))
    else if (kind < 0.5) encoder.leaveOpen()
    else {
      const [x, y] = [0, 1].map(() => this.#buffer(device, has(usages.STORAGE)))
      const indirect = this.#chance(0.3)
      encoder.dispatch({
        ...{ x: x!, y: y!, xOffset: this.#offset(x!.size, 256), yOffset: this.#offset(y!.size, 256) },
        uniformOffset: this.#chance(0.95) ? 256 * this.#below(4) : this.#pick([4, 128, 1024]),
        counts: indirect
          ? this.#chance(0.95)
            ? 12 * this.#below(5)
            : this.#pick([2, 56, 64])
          : [this.#pick([0, 1, 2, 5]), this.#pick([1, 1, 2, 3]), this.#pick([1, 1, 1, 70_000])],
      })
    }
  }
}
