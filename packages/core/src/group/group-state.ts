import type { Executable, Handles } from '../backend/handles.ts'
import type { LostInfo, OpenedRuntime } from '../backend/runtime.ts'
import { GpuError, invalid, isGpuError } from '../errors.ts'
import { isMessage, type Plan, type PlanPart } from '../plan/plan.ts'
import type { MessageList } from '../ranks/message-list.ts'
import { type NumberedCall, RankCalls } from '../ranks/rank-calls.ts'
import type { Resource } from './resource.ts'
import { Turns } from './turns.ts'

/** JavaScript timers support at most 2^31 − 1 milliseconds. */
const longestTimeoutSeconds = 2_147_483

/**
 * How long after its time limit a run is abandoned if its kernels were told to stop but have not stopped. The
 * kernels that are queued after the running one must finish too, and a kernel may take longer than estimated
 * to check the stop word.
 */
const graceSeconds = 60

/** The number of agreements to reserve for a call of `settleWithMemory`. */
export const memoryAgreements = 3

/**
 * What the objects of one group share: the runtime, whether it is still usable, and the resources that have
 * not been destroyed.
 */
export class GroupState {
  readonly label: string
  readonly runtime: OpenedRuntime
  /** This process, and the number of processes: 0 and 1 in a group of one process. */
  readonly rank: number
  readonly rankCount: number
  /** The calls that are compared between ranks; absent in a group of one process. */
  readonly calls: RankCalls | undefined
  /** Whether the devices of all ranks reach each other's memory: see `Ranks.sharesMemory`. */
  readonly sharesMemory: boolean
  readonly resources = new Set<Resource>()
  /** Callbacks that clear the timers of runs with time limits. */
  readonly #limits = new Set<() => void>()
  /** The order of the queue's calls. */
  readonly turns: Turns
  readonly #pending = new Map<Promise<unknown>, (error: GpuError) => void>()
  /** Set when the group is destroyed: it accepts no new work, and pending work continues. */
  #closed: GpuError | undefined
  /** Set when the devices are lost or the ranks have diverged: no work continues. */
  #ended: GpuError | undefined
  #runtimeEnded = false

  constructor(label: string, runtime: OpenedRuntime) {
    this.label = label
    this.runtime = runtime
    const { ranks } = runtime
    this.rank = ranks?.rank ?? 0
    this.rankCount = ranks?.count ?? 1
    this.sharesMemory = ranks?.sharesMemory ?? false
    this.turns = new Turns(this)
    this.calls = ranks && new RankCalls(ranks, (error) => this.#end(error))
    void runtime.lost.then((info) => {
      this.#runtimeEnded = true
      if (info.reason !== 'destroyed') ranks?.leave(info.message)
      this.#end(lostError(label, info))
    })
  }

  /** Instantiates this process's part of a program. A group of one process has no messages. */
  instantiate(plan: Plan<Handles, PlanPart>): Promise<Executable> {
    const { runtime } = this
    return this.guard(() =>
      runtime.ranks === undefined
        ? runtime.instantiate({ ...plan, commands: plan.commands.filter((part) => !isMessage(part)) })
        : runtime.instantiate(plan),
    )
  }

  /** Makes the group reject new work; pending work continues. */
  close(): void {
    this.#closed ??= destroyedError(this.label)
  }

  /**
   * True once the devices are lost or closed: the runtime then frees its own resources and accepts no more
   * calls.
   */
  get runtimeEnded(): boolean {
    return this.#runtimeEnded
  }

  /** Whether the group accepts new work. */
  get alive(): boolean {
    return (this.#ended ?? this.#closed) === undefined
  }

  /**
   * Throws `device-lost` once the devices are lost or the group is destroyed, `validation` once the ranks
   * have diverged.
   */
  requireAlive(): void {
    const error = this.#ended ?? this.#closed
    if (error !== undefined) throw error
  }

  /** Calls the runtime; rejects with `device-lost` as soon as the devices are lost. */
  guard<R>(call: () => Promise<R>): Promise<R> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    let lose!: (error: GpuError) => void
    const promise = new Promise<R>((resolve, reject) => {
      lose = reject
      call().then(resolve, reject)
    })
    this.#pending.set(promise, lose)
    const forget = () => this.#pending.delete(promise)
    promise.then(forget, forget)
    return promise
  }

  /**
   * Calls the runtime and, over several ranks, agrees on the outcome: if the call fails on one rank, it
   * rejects on every rank. `undo` then reverts the work of a rank on which it succeeded.
   */
  async settle<R>(
    call: NumberedCall | undefined,
    work: () => Promise<R>,
    undo?: (done: R) => void,
    messages?: MessageList,
    agreement = 0,
  ): Promise<R> {
    if (call === undefined) return this.guard(work)
    const done = await this.guard(work).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
    const error = 'error' in done ? done.error : undefined
    try {
      await this.guard(() => call.calls.agree(call, { error, messages }, agreement))
    } catch (failure) {
      if ('result' in done && !this.runtimeEnded) undo?.(done.result)
      throw failure
    }
    if ('error' in done) throw done.error
    return done.result
  }

  /**
   * As `settle`, for a call with `memoryAgreements` that allocates memory: if any rank runs out of memory,
   * tries once more after all ranks have given back the memory that they freed.
   */
  async settleWithMemory<R>(
    call: NumberedCall | undefined,
    work: () => Promise<R>,
    undo?: (done: R) => void,
    messages?: MessageList,
  ): Promise<R> {
    const earlier = this.turns.pending
    try {
      return await this.settle(call, work, undo, messages)
    } catch (error) {
      if (call === undefined || !(await this.memoryComesBack(call, error, 1, earlier))) throw error
    }
    return this.settle(call, work, undo, messages, 2)
  }

  /**
   * Called after all ranks have agreed that a call failed with `error`. Resolves to true if the ranks gave
   * back freed memory, so that the call should be tried again.
   */
  async memoryComesBack(
    call: NumberedCall,
    error: unknown,
    agreement: number,
    earlier: readonly Promise<unknown>[],
  ): Promise<boolean> {
    if (!isGpuError(error, 'out-of-memory')) return false
    return this.guard(() => call.calls.giveBackMemory(call, agreement, earlier))
  }

  /** Ends the group on all ranks because this rank cannot continue; `error` is the reason. */
  abandon(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.runtime.ranks?.leave(message)
    this.#end(
      new GpuError('device-lost', `The group "${this.label}" has ended: ${message}`, { cause: error }),
    )
  }

  /**
   * Throws `validation` if the limit is not a positive number, and `unsupported` if the runtime cannot
   * enforce one.
   */
  requireTimeLimit(seconds: number, label: string): void {
    requireTimeoutSeconds(seconds, `program "${label}"`)
    const { ranks, abandon } = this.runtime
    if (ranks === undefined && abandon === undefined)
      throw new GpuError(
        'unsupported',
        `The backend of group "${this.label}" cannot limit the time of a run.`,
      )
  }

  /**
   * Resolves as `running` does, but rejects with `timeout`, and the devices are lost, `seconds` after
   * `earlier` have settled. If the runtime ends the run itself (`isEnded`), that also rejects with `timeout`,
   * and the devices are lost only if the run is still going `graceSeconds` later.
   */
  withinSeconds<R>(
    running: Promise<R>,
    seconds: number,
    earlier: readonly Promise<unknown>[],
    label: string,
    isEnded: boolean,
  ): Promise<R> {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isSettled = false
    const settle = () => {
      isSettled = true
      clearTimeout(timer)
      this.#limits.delete(settle)
    }
    // In a lost group, `running` may never settle, so its timer must not be registered.
    if (this.#ended === undefined) this.#limits.add(settle)
    const ended = running.catch((error: unknown) => {
      if (!isEnded || !isGpuError(error, 'timeout')) throw error
      throw endedError(label, seconds, error)
    })
    ended.then(settle, settle)
    const abandon = this.runtime.abandon?.bind(this.runtime)
    if (abandon === undefined) return ended
    const limit = new Promise<never>((_, reject) => {
      const lose = () => {
        const message = `${tooLongText(label, seconds)}, and work that is already running on the devices cannot be stopped.`
        reject(new GpuError('timeout', `${message} Group "${this.label}" is lost.`))
        this.#ended ??= lostError(this.label, { reason: 'unknown', message })
        // Delayed so that the run itself rejects first.
        setTimeout(abandon, 0)
      }
      const wait = Math.min(seconds + (isEnded ? graceSeconds : 0), longestTimeoutSeconds)
      void Promise.allSettled(earlier).then(() => {
        if (!isSettled) timer = setTimeout(lose, wait * 1000)
      })
    })
    return Promise.race([ended, limit])
  }

  #end(error: GpuError): void {
    this.#ended ??= error
    for (const forget of this.#limits) forget()
    for (const reject of this.#pending.values()) reject(this.#ended)
  }

  /** Resolves when no call of the runtime is pending. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending.keys())
  }
}

/** Throws `validation` if the time limit of `what` is not a positive number of reasonable size. */
export function requireTimeoutSeconds(seconds: unknown, what: string): void {
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > longestTimeoutSeconds)
    throw invalid(
      `The time limit of ${what} is ${String(seconds)} seconds; it must be a number above 0 and at most ${longestTimeoutSeconds}.`,
    )
}

function destroyedError(label: string): GpuError {
  return new GpuError('device-lost', `The group "${label}" has been destroyed.`)
}

/** The end of a message about an object of `owner` that is used in another group. */
export function belongsElsewhere(owner: GroupState, here: GroupState): string {
  return owner.label === here.label
    ? `belongs to another group, which is also named "${here.label}".`
    : `belongs to group "${owner.label}", not to "${here.label}".`
}

function tooLongText(label: string, seconds: number): string {
  return `Program "${label}" ran longer than its limit of ${seconds} s`
}

/** The error for a run that the runtime has ended at its time limit. */
export function endedError(label: string, seconds: number, cause: unknown): GpuError {
  const message = `${tooLongText(label, seconds)}. It was stopped, and the memory it writes is undefined.`
  return new GpuError('timeout', message, { cause })
}

function lostError(label: string, { reason, message }: LostInfo): GpuError {
  if (reason === 'destroyed') return destroyedError(label)
  return new GpuError('device-lost', `The devices of group "${label}" were lost: ${message}`)
}
