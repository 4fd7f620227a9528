import { GpuError } from '@tandem-gpu/core'
import type { ExecutionOptions, ExecutionResult, Span } from '@tandem-gpu/core/backend'
import { CommandStream } from './command-stream.ts'
import { padTo4 } from './padded-buffer.ts'
import type { PhysicalDevice } from './physical-device.ts'
import type { PreparedCommand, PreparedPlan } from './prepared-plan.ts'
import type { ReadbackRing } from './readback-ring.ts'
import { Timestamps } from './timestamps.ts'
import { copyRows } from './transfer.ts'

const secondsPerNanosecond = 1e-9

/**
 * One run of a plan: encodes its commands in recorded order, `times` times. `submit` resolves when all work
 * is submitted, so that other work may follow, and `result` when the work has completed. Call them in this
 * order.
 */
export class Execution {
  readonly #plan: PreparedPlan
  readonly #options: ExecutionOptions
  readonly #ring: (physical: PhysicalDevice) => ReadbackRing
  readonly #streams = new Map<PhysicalDevice, CommandStream>()
  readonly #clocks = new Map<PhysicalDevice, RunClock>()
  #startMilliseconds = 0

  constructor(
    plan: PreparedPlan,
    options: ExecutionOptions,
    ring: (physical: PhysicalDevice) => ReadbackRing,
  ) {
    this.#plan = plan
    this.#options = options
    this.#ring = ring
  }

  async submit(): Promise<void> {
    const { commands, physicals } = this.#plan
    const { times, profile = false } = this.#options
    this.#checkAborted(0)
    this.#startMilliseconds = performance.now()
    for (const physical of physicals) this.#begin(physical, profile)
    try {
      for (let repetition = 0; repetition < times; repetition++) {
        const timed = profile && repetition === times - 1
        for (const command of commands) {
          const stream = this.#stream(command.physical)
          const clock = timed ? this.#clocks.get(command.physical) : undefined
          if (command.kind === 'steps') {
            if (clock !== undefined) clock.add(command, stream.encodeTimed(command.steps, clock.timestamps))
            else for (const step of command.steps) stream.encode(step)
          } else {
            await this.#transfer(command, stream, clock)
          }
          if (stream.full) {
            await stream.flush()
            this.#checkAborted(repetition)
          }
        }
      }
      for (const [physical, stream] of this.#streams) {
        await this.#clocks.get(physical)?.finish(stream)
        stream.submit()
      }
    } catch (error) {
      // The work in flight completes before the failure is reported, and errors of that work are dropped.
      await Promise.allSettled([...this.#streams.values()].map((stream) => stream.finished()))
      this.#destroyClocks()
      throw error
    }
  }

  async result(): Promise<ExecutionResult> {
    try {
      await Promise.all([...this.#streams.values()].map((stream) => stream.finished()))
      const hostSeconds = (performance.now() - this.#startMilliseconds) / 1000
      const clocks = [...this.#clocks.values()]
      const [clock] = clocks
      const deviceSeconds = this.#streams.size === 1 && clock !== undefined ? clock.seconds : 0
      const times =
        deviceSeconds > 0
          ? { seconds: deviceSeconds, clock: 'device' as const }
          : { seconds: hostSeconds, clock: 'host' as const }
      if (this.#options.profile !== true || clocks.length === 0) return times
      const spans = clocks
        .flatMap((each) => each.spans(this.#options.times - 1))
        .sort((a, b) => a.command - b.command)
      return { ...times, spans }
    } finally {
      this.#destroyClocks()
    }
  }

  #begin(physical: PhysicalDevice, profile: boolean): void {
    const { label, commands, uniforms } = this.#plan
    const stream = this.#stream(physical)
    const uniformBlock = this.#options.uniformBlock ?? this.#plan.uniformBlock
    const uniform = uniforms.get(physical)
    const { value, checked } = physical.scoped(`start "${label}"`, () => {
      if (uniform !== undefined) physical.gpu.queue.writeBuffer(uniform, 0, wholeWords(uniformBlock))
      if (!physical.gpu.features.has('timestamp-query')) return undefined
      const own = profile ? commands.filter((command) => command.physical === physical) : []
      return new RunClock(physical, own.length)
    })
    stream.watch(checked)
    if (value === undefined) return
    this.#clocks.set(physical, value)
    value.start(stream)
  }

  async #transfer(
    command: Exclude<PreparedCommand, { kind: 'steps' }>,
    stream: CommandStream,
    clock: RunClock | undefined,
  ): Promise<void> {
    if (command.kind === 'bounce') {
      const source = this.#stream(command.source)
      for (const { download, upload } of command.chunks) {
        await source.download(download)
        await source.finished()
        await stream.upload(upload)
      }
      return
    }
    if (command.kind === 'host') {
      const { from, to } = command
      // Uploads read their data when they were issued; downloads may still be in progress on any device.
      for (const each of this.#streams.values()) {
        await each.downloaded(from.arrayBuffer)
        await each.downloaded(to.arrayBuffer)
      }
      copyRows(from, to)
      return
    }
    const begin = clock?.timestamps.mark(stream.encoder)
    if (command.kind === 'upload') for (const chunk of command.chunks) await stream.upload(chunk)
    else for (const chunk of command.chunks) await stream.download(chunk)
    if (clock !== undefined && begin !== undefined) {
      clock.add(command, { begin, end: clock.timestamps.mark(stream.encoder) })
    }
  }

  #stream(physical: PhysicalDevice): CommandStream {
    let stream = this.#streams.get(physical)
    if (stream === undefined) {
      const { label, pacing } = this.#plan
      stream = new CommandStream(physical, this.#ring(physical), `run "${label}"`, pacing)
      this.#streams.set(physical, stream)
    }
    return stream
  }

  #checkAborted(repetition: number): void {
    const { signal, times } = this.#options
    if (signal?.aborted !== true) return
    throw new GpuError(
      'aborted',
      `"${this.#plan.label}" was aborted in repetition ${repetition + 1} of ${times}.`,
      { cause: signal.reason },
    )
  }

  #destroyClocks(): void {
    for (const clock of this.#clocks.values()) clock.timestamps.destroy()
    this.#clocks.clear()
  }
}

function wholeWords(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes.byteLength % 4 === 0) return bytes
  const padded = new Uint8Array(padTo4(bytes.byteLength))
  padded.set(bytes)
  return padded
}

/** The device's clock over one run: when it starts and ends, and the spans of commands in between. */
class RunClock {
  readonly timestamps: Timestamps
  readonly #commands: { command: PreparedCommand; begin: number; end: number }[] = []
  #start = 0
  #end = 0
  #nanoseconds = new BigUint64Array(0)

  constructor(physical: PhysicalDevice, commands: number) {
    // Two times per command and two for the run; a pass at the boundary between query sets skips one query.
    const count = 2 * commands + 2
    this.timestamps = new Timestamps(physical, count + Math.ceil(count / 4096))
  }

  start(stream: CommandStream): void {
    this.#start = this.timestamps.mark(stream.encoder)
  }

  add(command: PreparedCommand, times: { begin: number; end: number }): void {
    this.#commands.push({ command, ...times })
  }

  async finish(stream: CommandStream): Promise<void> {
    this.#end = this.timestamps.mark(stream.encoder)
    await stream.readBack(
      this.timestamps.byteLength,
      (encoder, staging) => this.timestamps.resolve(encoder, staging),
      (bytes) => {
        this.#nanoseconds = new BigUint64Array(bytes.slice().buffer)
      },
    )
  }

  /** Zero if the clock does not advance or is too coarse. */
  get seconds(): number {
    return this.#since(this.#end)
  }

  spans(repetition: number): Span[] {
    return this.#commands.map(({ command, begin, end }) => {
      const startSeconds = this.#since(begin)
      return {
        command: command.index,
        repetition,
        device: command.device,
        startSeconds,
        endSeconds: Math.max(startSeconds, this.#since(end)),
      }
    })
  }

  #since(index: number): number {
    const start = this.#nanoseconds[this.#start] ?? 0n
    const time = this.#nanoseconds[index] ?? 0n
    return time > start ? Number(time - start) * secondsPerNanosecond : 0
  }
}
