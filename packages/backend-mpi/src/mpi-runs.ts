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
import { type PreparedNodes, settled, toGpuError } from './native-addon.ts'
import { RunLimit } from './run-limit.ts'
import type { MpiSession } from './session.ts'

/**
 * How long threads stay awake if there are spare cores. For longer waits, the time to wake a thread matters
 * little.
 */
const awakeMilliseconds = { run: 50, afterRun: 1 }

/** Runs with a time limit use keys that are greater than those of the group's calls. */
const firstLimitKey = 2 ** 50

/** The part of a rank that the runs of a group need. */
export interface RunningRank {
  readonly session: MpiSession
  /** The group's number in native code. */
  readonly group: number
  readonly label: string
  /** The number of cores that this process has for itself. */
  readonly cores: number
  /** The ordinal in the group of this rank's device number `local`. */
  globalOrdinal(local: number): number
  /** Tells the other ranks that this one cannot continue. */
  leave(reason: string): void
  /** Keeps the memory of the program's messages, because MPI may write to it until the process ends. */
  keep(executable: MpiExecutable): void
}

/**
 * The input of a native schedule: its nodes, and the launchers that start its segments without JavaScript.
 */
export interface Schedule {
  readonly nodes: PreparedNodes
  readonly launchers: readonly unknown[]
}

/**
 * The runs of one rank, one after another in the order of the calls. A program runs as a native schedule: the
 * progress thread posts and completes messages, and device work is submitted here when that thread requests
 * it. A program without messages is one run of the inner backend.
 */
export abstract class MpiRuns {
  /** Why another rank cannot continue, once that is known. */
  peerLost: GpuError | undefined
  protected readonly rank: RunningRank
  readonly #inner: InnerRuntime
  #runs = 0
  /** Runs that have not settled. */
  #pending = 0
  /** Settles when the last run has settled: later calls must take effect after all its parts. */
  #lastRun: Promise<unknown> = Promise.resolve()
  /** Settles when all transfers so far have settled. */
  #transferred: Promise<unknown> = Promise.resolve()

  constructor(rank: RunningRank, inner: InnerRuntime) {
    this.rank = rank
    this.#inner = inner
  }

  /** Settles when all runs have settled, whether or not they succeeded. */
  get settled(): Promise<unknown> {
    return this.#lastRun
  }

  protected get isIdle(): boolean {
    return this.#pending === 0
  }

  run(executable: MpiExecutable, options: ExecutionOptions): Promise<ExecutionResult> {
    const run = this.countRun()
    // The time limit does not include the transfers before the run.
    const waits = this.followsTransfers || this.limitOf(options) !== undefined
    const transferred = waits ? this.#transferred : undefined
    const done = Promise.all([this.#lastRun, transferred]).then(() =>
      executable.alone && !this.endsEarly(options)
        ? this.repeat(executable, options)
        : this.#schedule(executable, options, run),
    )
    this.followedBy(done)
    return done
  }

  /**
   * Whether a time limit or an abort may end the run on all ranks after the same repetition, for which each
   * rank counts repetitions. The answer is the same on all ranks.
   */
  protected endsEarly(options: ExecutionOptions): boolean {
    return options.abortable !== false || this.limitOf(options) !== undefined
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
    const done = this.#lastRun.then(transfer)
    this.#transferred = Promise.allSettled([this.#transferred, done])
    return done
  }

  /**
   * Runs the program as in its last run, with both agreements of the ranks, in native code; undefined if this
   * rank cannot.
   */
  runAgreed(
    _executable: MpiExecutable,
    _options: RepeatedOptions,
    _start: KeyedMessage,
    _end: KeyedMessage,
  ): AgreedRun | undefined {
    return undefined
  }

  /** Keeps threads awake during a run, because the ranks agree on its outcome right after it. */
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
   * Makes the inner backend repeat a program in one call: since no rank can abort it, the ranks need not
   * agree on repetitions.
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

  /** The clock of a program of one segment. */
  protected abstract readonly clock: ExecutionResult['clock']
  /**
   * The time limit that this rank enforces together with the others; undefined if there is none or the
   * devices enforce it.
   */
  protected abstract limitOf(options: ExecutionOptions): number | undefined
  /** Whether runs wait until earlier transfers are complete, because the devices do not order them. */
  protected abstract readonly followsTransfers: boolean
  /** Whether device work may be skipped after the time limit, because no other rank waits for it. */
  protected abstract readonly skipsWork: boolean
  protected abstract begin(executable: MpiExecutable, options: ExecutionOptions): Promise<Schedule>
  /** Whether all ranks continue after device work has failed on this rank. */
  protected abstract goesOn(error: unknown): boolean
  /**
   * Called when the ranks cannot continue: others wait for messages that never come, and messages in flight
   * cannot be cancelled.
   */
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
    let limit: RunLimit | undefined
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
      if (limitSeconds !== undefined) {
        // The limit does not include what other ranks do before the run.
        await settled(addon.gather(group, firstLimitKey + run, ''))
        limit = new RunLimit(limitSeconds, this.skipsWork, abort)
      }
      const { seconds, repetitions } = await addon
        .run(group, run, nodes, times, issue, launchers, (reason) =>
          fail(new GpuError('driver', `Program "${executable.label}" failed: ${reason}`)),
        )
        .catch((error: unknown) => {
          // Its messages can be neither completed nor cancelled.
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
