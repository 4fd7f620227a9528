import {
  type AgreedRun,
  type Executable,
  type ExecutionOptions,
  type ExecutionResult,
  GpuError,
  type HostAllocation,
  isGpuError,
  type KeyedMessage,
  keepAwake,
  type RepeatedOptions,
  type Runtime,
  type Span,
} from '@tandem-gpu/core'
import type { ProgramMemory } from './message-memory.ts'
import { type PreparedNodes, settled, toGpuError } from './native-addon.ts'
import { RunLimit } from './run-limit.ts'
import type { Segment } from './segments.ts'
import type { MpiSession } from './session.ts'
import type { OpenedDevices } from './transport.ts'

/** How long threads do not sleep, where there are cores to spare: what waking one adds to longer waits is little. */
const awakeMilliseconds = { run: 50, afterRun: 1 }

/** A program of one rank. */
export interface MpiExecutable extends Executable {
  readonly segments: readonly (Segment & { readonly executable: Executable })[]
  /** What the inner backend has made of the plan. */
  readonly made: readonly Executable[]
  readonly nodes: PreparedNodes
  /** One segment and no message: the inner backend repeats it. */
  readonly alone: boolean
  readonly memory: ProgramMemory
  /** What messages are sent from and received into. */
  readonly messageMemory: readonly HostAllocation[]
}

/** What the runs of a group need of its rank. */
export interface RunningRank {
  readonly session: MpiSession
  /** The number by which native code knows the group. */
  readonly group: number
  readonly label: string
  readonly devices: OpenedDevices
  /** That this process has for itself. */
  readonly cores: number
  /** The device of the group that is this rank's device with that number. */
  globalOrdinal(local: number): number
  /** Says to the other ranks that this one cannot go on. */
  leave(reason: string): void
  /** MPI may write to the memory of the program's messages for as long as the process lives. */
  keep(executable: MpiExecutable): void
}

/**
 * The runs of one rank, one after another in the order of the calls. A program runs as a native schedule: messages are posted and completed by the
 * progress thread, device work is submitted here when that thread says so. A program without messages is one run of the inner backend.
 */
export class MpiRuns {
  /** Why another rank cannot go on, once that is known. */
  peerLost: GpuError | undefined
  readonly #session: MpiSession
  readonly #group: number
  readonly #label: string
  readonly #inner: Runtime
  readonly #joined: OpenedDevices['joined']
  /** MPI takes messages from device memory. */
  readonly #gpuAware: boolean
  readonly #cores: number
  readonly #globalOrdinal: (local: number) => number
  readonly #leave: (reason: string) => void
  readonly #keep: (executable: MpiExecutable) => void
  #runs = 0
  /** Runs that have not settled. */
  #pending = 0
  /** Settles when the last run has: what follows must take effect after all its parts. */
  #lastRun: Promise<unknown> = Promise.resolve()
  /** Settles when all reads and writes have, where MPI itself uses device memory: its messages do not queue up behind them in the inner backend. */
  #transferred: Promise<unknown> = Promise.resolve()

  constructor({ session, group, label, devices, cores, globalOrdinal, leave, keep }: RunningRank) {
    this.#session = session
    this.#group = group
    this.#label = label
    this.#inner = devices.inner
    this.#joined = devices.joined
    this.#gpuAware = devices.transport.name === 'gpu-aware'
    this.#cores = cores
    this.#globalOrdinal = globalOrdinal
    this.#leave = leave
    this.#keep = keep
  }

  /** Settles when all runs have, whatever came of them. */
  get settled(): Promise<unknown> {
    return this.#lastRun
  }

  run(executable: MpiExecutable, options: ExecutionOptions): Promise<ExecutionResult> {
    const run = this.#runs++
    const done = Promise.all([this.#lastRun, this.#transferred]).then(() =>
      this.#execute(executable, options, run),
    )
    this.#followedBy(done)
    return done
  }

  #followedBy(run: Promise<unknown>): void {
    this.#session.noteRun(this.#group, run)
    this.#pending += 1
    this.#lastRun = run
      .catch(() => {})
      .then(() => {
        this.#pending -= 1
      })
  }

  /** A read or write, after all runs before it. */
  transfer(transfer: () => Promise<void>): Promise<void> {
    const done = this.#lastRun.then(transfer)
    if (this.#gpuAware) this.#transferred = Promise.allSettled([this.#transferred, done])
    return done
  }

  /** A run like the last of its program, from one agreement of the ranks to the other in native code; undefined where this rank cannot. */
  runAgreed(
    { alone, made }: MpiExecutable,
    options: RepeatedOptions,
    start: KeyedMessage,
    end: KeyedMessage,
  ): AgreedRun | undefined {
    if (this.#joined === undefined || !alone || this.#pending > 0) return undefined
    const repeated = this.#inner.repeated?.(made[0]!, options)
    if (repeated === undefined) return undefined
    const { addon } = this.#session
    const native = addon.runAgreed(
      ...([this.#group, start.key, start.message] as const),
      ...([end.key, end.message, repeated.launcher] as const),
    )
    this.#session.noteGather(
      this.#group,
      start.key,
      `${start.doing} in group "${this.#label}"`,
      native.started,
    )
    const awake = keepAwake(native.ended, awakeMilliseconds.run, this.#cores, addon.yieldCore)
    if (awake) addon.stayAwake(awakeMilliseconds.run)
    const begun = async () => {
      const said = await settled(native.started)
      // All ranks number runs alike, whichever way they begin.
      if (said.length === 1) this.#runs++
      return said
    }
    const over = async () => {
      const outcome = await settled(native.ended)
      if (awake) addon.stayAwake(awakeMilliseconds.afterRun)
      if (outcome === undefined || 'said' in outcome) return outcome?.said
      throw this.#ended(repeated.failed(outcome.error))
    }
    const ended = over()
    this.#followedBy(ended)
    return { started: begun(), ended }
  }

  /** The error of a run; where the devices of other ranks wait for this rank's, it ends the group for all. */
  #ended(error: unknown): unknown {
    if (this.#joined === undefined || !isGpuError(error, 'device-lost')) return error
    this.#joined.break()
    if (this.peerLost === undefined) this.#leave(error.message)
    return this.peerLost ?? error
  }

  async #execute(
    executable: MpiExecutable,
    options: ExecutionOptions,
    run: number,
  ): Promise<ExecutionResult> {
    const { times, signal, profile = false, uniformBlock, timeoutSeconds } = options
    // Where a limit ends the run on all ranks after the same repetition, this one has to count too.
    const limited = timeoutSeconds !== undefined && this.#joined === undefined
    if (executable.alone && options.abortable === false && !limited)
      return this.#executeAlone(executable, options)
    const { addon } = this.#session
    const abort = () => addon.abortRun(this.#group, run)
    const limit = limited ? new RunLimit(timeoutSeconds, abort) : undefined
    const start = performance.now()
    let failure: unknown
    let innerSeconds = 0
    let clock: ExecutionResult['clock'] = this.#joined === undefined ? 'host' : 'device'
    const spans: Span[] = []
    const issue = async (node: number, repetition: number, count: number) => {
      const { executable: part, originalIndex } = executable.segments[node]!
      if (limit?.skips()) {
        addon.segmentCompleted(this.#group, run, node, count)
        return
      }
      const profiled = profile && repetition + count === times
      const offsetSeconds = (performance.now() - start) / 1000
      try {
        const result = await this.#inner.run(part, {
          times: count,
          ...(profiled && { profile }),
          ...(uniformBlock && { uniformBlock }),
          ...limit?.options,
        })
        innerSeconds += result.seconds
        clock = result.clock
        for (const span of result.spans ?? [])
          spans.push({
            ...span,
            command: originalIndex[span.command]!,
            repetition: times - 1,
            device: this.#globalOrdinal(span.device),
            startSeconds: span.startSeconds + offsetSeconds,
            endSeconds: span.endSeconds + offsetSeconds,
          })
        addon.segmentCompleted(this.#group, run, node, count)
      } catch (error) {
        // Devices that need no message of the host's have done their part all the same: the others go on, and so does this rank.
        if (limit?.ended(error)) addon.segmentCompleted(this.#group, run, node, count)
        else if (this.#joined === undefined || isGpuError(error, 'device-lost')) fail(error)
        else {
          failure ??= error
          addon.segmentCompleted(this.#group, run, node, count)
        }
      }
    }
    const fail = (error: unknown) => {
      failure ??= error
      // Others wait for messages that never come, and messages under way cannot be taken back: this ends the group for all.
      this.#joined?.break()
      if (executable.alone && this.#joined === undefined) addon.endRun(this.#group, run)
      else this.#leave(error instanceof Error ? error.message : String(error))
    }
    signal?.addEventListener('abort', abort)
    try {
      if (signal?.aborted) abort()
      // A rank without a part is done at once: it would run ahead of the others, out of an abort's reach.
      let { nodes } = executable
      if (this.#joined !== undefined && executable.made[0] !== undefined)
        if (!(await this.#inner.connect!(executable.made[0], { times, profile }))) nodes = addon.prepare([])
      const native = !profile && !executable.alone && limit === undefined
      const launchers = native
        ? await this.#launchers(executable, uniformBlock).catch((error) => {
            fail(error)
            throw error
          })
        : []
      const { seconds, repetitions } = await addon
        .run(...([this.#group, run, nodes, times, issue, launchers] as const), (reason) =>
          fail(new GpuError('driver', `Program "${executable.label}" fails: ${reason}`)),
        )
        .catch((error: unknown) => {
          // Its messages can be neither finished nor taken back.
          this.#keep(executable)
          throw error
        })
      if (failure !== undefined) throw failure
      if (limit !== undefined && (repetitions < times || limit.hasActed))
        throw new GpuError('timeout', 'The run takes longer than its limit.')
      if (repetitions < times)
        throw new GpuError('aborted', `The run is aborted after ${repetitions} of ${times} repetitions.`, {
          cause: signal?.reason,
        })
      return {
        seconds: executable.alone ? innerSeconds : seconds,
        clock: executable.alone ? clock : 'host',
        ...(profile && { spans }),
      }
    } catch (error) {
      throw failure ?? toGpuError(error)
    } finally {
      limit?.close()
      signal?.removeEventListener('abort', abort)
    }
  }

  /** A program that the inner backend repeats, in one call: as no rank can abort it, no repetition need be agreed on. */
  async #executeAlone(
    { made, segments }: MpiExecutable,
    { times, profile = false, uniformBlock, timeoutSeconds }: ExecutionOptions,
  ): Promise<ExecutionResult> {
    const { addon } = this.#session
    const [part] = made as [Executable]
    const { originalIndex } = segments[0]!
    try {
      if (this.#joined !== undefined && !(await this.#inner.connect!(part, { times, profile })))
        return { seconds: 0, clock: 'device' }
      const running = this.#inner.run(part, {
        times,
        ...(profile && { profile }),
        ...(uniformBlock && { uniformBlock }),
        ...(timeoutSeconds && { timeoutSeconds }),
      })
      // At its end the ranks agree.
      const awake = keepAwake(running, awakeMilliseconds.run, this.#cores, addon.yieldCore)
      if (awake) addon.stayAwake(awakeMilliseconds.run)
      const result = await running
      if (awake) addon.stayAwake(awakeMilliseconds.afterRun)
      const spans = result.spans?.map((span) => ({
        ...span,
        command: originalIndex[span.command]!,
        device: this.#globalOrdinal(span.device),
      }))
      return { ...result, ...(spans && { spans }) }
    } catch (error) {
      throw this.#ended(error)
    }
  }

  /** What starts the segments without JavaScript, where the inner backend has it. */
  async #launchers(
    { segments }: MpiExecutable,
    uniformBlock: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<unknown[]> {
    return Promise.all(segments.map(({ executable }) => this.#inner.launcher?.(executable, uniformBlock)))
  }
}
