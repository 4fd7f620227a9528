import { GpuError } from '@tandem-gpu/core'
import {
  type AgreedRun,
  type Executable,
  type ExecutionOptions,
  type ExecutionResult,
  type KeyedMessage,
  keepAwake,
  type RepeatedOptions,
  type Span,
} from '@tandem-gpu/core/backend'
import type { InnerRuntime } from './message-memory.ts'
import type { MpiExecutable } from './mpi-executable.ts'
import { type PreparedNodes, toGpuError } from './native-addon.ts'
import { RunLimit } from './run-limit.ts'
import type { MpiSession } from './session.ts'

/**
 * How long threads do not sleep, where there are cores to spare: what waking one adds to longer waits is
 * little.
 */
const awakeMilliseconds = { run: 50, afterRun: 1 }

/** What the runs of a group need of its rank. */
export interface RunningRank {
  readonly session: MpiSession
  /** The number by which native code knows the group. */
  readonly group: number
  readonly label: string
  /** That this process has for itself. */
  readonly cores: number
  /** The device of the group that is this rank's device with that number. */
  globalOrdinal(local: number): number
  /** Says to the other ranks that this one cannot go on. */
  leave(reason: string): void
  /** MPI may write to the memory of the program's messages for as long as the process lives. */
  keep(executable: MpiExecutable): void
}

/** What a native schedule begins with: its nodes, and what starts its segments without JavaScript. */
export interface Schedule {
  readonly nodes: PreparedNodes
  readonly launchers: readonly unknown[]
}

/**
 * The runs of one rank, one after another in the order of the calls. A program runs as a native schedule:
 * messages are posted and completed by the progress thread, device work is submitted here when that thread
 * says so. A program without messages is one run of the inner backend.
 */
export abstract class MpiRuns {
  /** Why another rank cannot go on, once that is known. */
  peerLost: GpuError | undefined
  protected readonly rank: RunningRank
  readonly #inner: InnerRuntime
  #runs = 0
  /** Runs that have not settled. */
  #pending = 0
  /** Settles when the last run has: what follows must take effect after all its parts. */
  #lastRun: Promise<unknown> = Promise.resolve()
  /** Settles when what runs must wait for besides has. */
  protected transferred: Promise<unknown> = Promise.resolve()

  constructor(rank: RunningRank, inner: InnerRuntime) {
    this.rank = rank
    this.#inner = inner
  }

  /** Settles when all runs have, whatever came of them. */
  get settled(): Promise<unknown> {
    return this.#lastRun
  }

  protected get isIdle(): boolean {
    return this.#pending === 0
  }

  run(executable: MpiExecutable, options: ExecutionOptions): Promise<ExecutionResult> {
    const run = this.countRun()
    // Where a limit ends the run on all ranks after the same repetition, this one has to count too.
    const counts = options.abortable !== false || this.limitOf(options) !== undefined
    const done = Promise.all([this.#lastRun, this.transferred]).then(() =>
      executable.alone && !counts
        ? this.repeat(executable, options)
        : this.#schedule(executable, options, run),
    )
    this.followedBy(done)
    return done
  }

  /** Numbers a run. */
  protected countRun(): number {
    return this.#runs++
  }

  protected followedBy(run: Promise<unknown>): void {
    this.rank.session.noteRun(this.rank.group, run)
    this.#pending += 1
    this.#lastRun = run
      .catch(() => {})
      .then(() => {
        this.#pending -= 1
      })
  }

  /** A read or write, after all runs before it. */
  transfer(transfer: () => Promise<void>): Promise<void> {
    return this.#lastRun.then(transfer)
  }

  /**
   * A run like the last of its program, from one agreement of the ranks to the other in native code;
   * undefined where this rank cannot.
   */
  runAgreed(
    _executable: MpiExecutable,
    _options: RepeatedOptions,
    _start: KeyedMessage,
    _end: KeyedMessage,
  ): AgreedRun | undefined {
    return undefined
  }

  /** Keeps threads awake while a run is under way, at whose end the ranks agree. */
  protected async awake<R>(running: Promise<R>): Promise<R> {
    const { session, cores } = this.rank
    const { addon } = session
    const awake = keepAwake(running, awakeMilliseconds.run, cores, addon.yieldCore)
    if (awake) addon.stayAwake(awakeMilliseconds.run)
    const result = await running
    if (awake) addon.stayAwake(awakeMilliseconds.afterRun)
    return result
  }

  /**
   * A program that the inner backend repeats, in one call: as no rank can abort it, no repetition need be
   * agreed on.
   */
  protected async repeat(
    { made, segments }: MpiExecutable,
    { times, profile = false, uniformBlock, timeoutSeconds }: ExecutionOptions,
  ): Promise<ExecutionResult> {
    const [part] = made as [Executable]
    const { originalIndex } = segments[0]!
    const result = await this.awake(
      this.#inner.run(part, {
        times,
        ...(profile && { profile }),
        ...(uniformBlock && { uniformBlock }),
        ...(timeoutSeconds && { timeoutSeconds }),
      }),
    )
    const spans = result.spans?.map((span) => ({
      ...span,
      command: originalIndex[span.command]!,
      device: this.rank.globalOrdinal(span.device),
    }))
    return { ...result, ...(spans && { spans }) }
  }

  /** Which clock times a program of one segment. */
  protected abstract readonly clock: ExecutionResult['clock']
  /**
   * The time limit that this rank keeps together with the others; undefined where there is none, or the
   * devices keep it.
   */
  protected abstract limitOf(options: ExecutionOptions): number | undefined
  protected abstract begin(executable: MpiExecutable, options: ExecutionOptions): Promise<Schedule>
  /** Whether the other ranks go on, and this one with them, where device work has failed here. */
  protected abstract goesOn(error: unknown): boolean
  /** Others wait for messages that never come, and messages under way cannot be taken back. */
  protected abstract fail(executable: MpiExecutable, run: number, error: unknown): void

  async #schedule(
    executable: MpiExecutable,
    options: ExecutionOptions,
    run: number,
  ): Promise<ExecutionResult> {
    const { times, signal, profile = false, uniformBlock } = options
    const { session, group, globalOrdinal, keep } = this.rank
    const { addon } = session
    const abort = () => addon.abortRun(group, run)
    const limitSeconds = this.limitOf(options)
    const limit = limitSeconds === undefined ? undefined : new RunLimit(limitSeconds, abort)
    const start = performance.now()
    let failure: unknown
    let innerSeconds = 0
    let { clock } = this
    const spans: Span[] = []
    const issue = async (node: number, repetition: number, count: number) => {
      if (limit?.skips()) {
        addon.segmentCompleted(group, run, node, count)
        return
      }
      const { executable: part, originalIndex } = executable.segments[node]!
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
            device: globalOrdinal(span.device),
            startSeconds: span.startSeconds + offsetSeconds,
            endSeconds: span.endSeconds + offsetSeconds,
          })
        addon.segmentCompleted(group, run, node, count)
      } catch (error) {
        if (limit?.ended(error)) addon.segmentCompleted(group, run, node, count)
        else if (!this.goesOn(error)) fail(error)
        else {
          failure ??= error
          addon.segmentCompleted(group, run, node, count)
        }
      }
    }
    const fail = (error: unknown) => {
      failure ??= error
      this.fail(executable, run, error)
    }
    signal?.addEventListener('abort', abort)
    try {
      if (signal?.aborted) abort()
      const { nodes, launchers } = await this.begin(executable, options)
      const { seconds, repetitions } = await addon
        .run(...([group, run, nodes, times, issue, launchers] as const), (reason) =>
          fail(new GpuError('driver', `Program "${executable.label}" failed: ${reason}`)),
        )
        .catch((error: unknown) => {
          // Its messages can be neither finished nor taken back.
          keep(executable)
          throw error
        })
      if (failure !== undefined) throw failure
      if (limit !== undefined && (repetitions < times || limit.hasActed))
        throw new GpuError('timeout', 'The run took longer than its limit.')
      if (repetitions < times)
        throw new GpuError('aborted', `The run was aborted after ${repetitions} of ${times} repetitions.`, {
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
}
