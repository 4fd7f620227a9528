import type { LostInfo, Runtime } from './backend.ts'
import { GpuError, invalid } from './errors.ts'
import type { MessageList } from './message-list.ts'
import { type NumberedCall, RankCalls } from './rank-calls.ts'
import type { Resource } from './resource.ts'

/** Timers of JavaScript count at most 2^31 − 1 milliseconds. */
const longestTimeoutSeconds = 2_147_483

/** What the objects of one group share: the runtime, whether it still runs, and what has not been destroyed. */
export class GroupState {
  readonly label: string
  readonly runtime: Runtime
  /** This process, and how many there are: 0 of 1 in a group of one process. */
  readonly rank: number
  readonly rankCount: number
  /** The calls that are compared between ranks; absent in a group of one process. */
  readonly calls: RankCalls | undefined
  /** Whether the devices of all ranks reach each other's memory: see `Ranks.sharesMemory`. */
  readonly sharesMemory: boolean
  readonly resources = new Set<Resource>()
  readonly #pending = new Map<Promise<unknown>, (error: GpuError) => void>()
  /** The group is destroyed: it takes no new work, and what is pending goes on. */
  #closed: GpuError | undefined
  /** The devices are lost, or the ranks no longer agree: nothing goes on. */
  #ended: GpuError | undefined
  #runtimeEnded = false

  constructor(label: string, runtime: Runtime) {
    this.label = label
    this.runtime = runtime
    const { ranks } = runtime
    this.rank = ranks?.rank ?? 0
    this.rankCount = ranks?.count ?? 1
    this.sharesMemory = ranks?.sharesMemory ?? false
    this.calls = ranks && new RankCalls(ranks, (error) => this.#end(error))
    void runtime.lost.then((info) => {
      this.#runtimeEnded = true
      if (info.reason !== 'destroyed') ranks?.leave(info.message)
      this.#end(lostError(label, info))
    })
  }

  /** The group takes no new work; what is pending goes on. */
  close(): void {
    this.#closed ??= destroyedError(this.label)
  }

  /** True once the devices are lost or closed: the runtime frees what it holds by itself and takes no more calls. */
  get runtimeEnded(): boolean {
    return this.#runtimeEnded
  }

  /** Throws `device-lost` once the devices are lost or the group is destroyed, `validation` once the ranks have diverged. */
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
   * Calls the runtime and, over several ranks, agrees on the outcome: rejects on every rank where it fails on one. `undo` takes
   * back what succeeded here alone.
   */
  async settle<R>(
    call: NumberedCall | undefined,
    work: () => Promise<R>,
    undo?: (done: R) => void,
    messages?: MessageList,
  ): Promise<R> {
    if (call === undefined) return this.guard(work)
    let done: { readonly result: R } | undefined
    let error: unknown
    try {
      done = { result: await this.guard(work) }
    } catch (caught) {
      error = caught
    }
    try {
      await this.guard(() => this.calls!.agree(call, { error, messages }))
    } catch (failure) {
      if (done !== undefined && !this.runtimeEnded) undo?.(done.result)
      throw failure
    }
    return done!.result
  }

  /** This rank cannot go on, so the group ends on all ranks: `error` is why. */
  abandon(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.runtime.ranks?.leave(message)
    this.#end(
      new GpuError('device-lost', `The group "${this.label}" has ended: ${message}`, { cause: error }),
    )
  }

  /** Throws `validation` for a limit that is no positive number, and `unsupported` where the runtime cannot enforce it. */
  requireTimeLimit(seconds: number, label: string): void {
    if (typeof seconds !== 'number' || !(seconds > 0) || seconds > longestTimeoutSeconds)
      throw invalid(
        `The time limit of program "${label}" is ${String(seconds)} seconds; it must be a number above 0 and at most ${longestTimeoutSeconds}.`,
      )
    if (this.runtime.abandon === undefined || this.calls !== undefined)
      throw new GpuError(
        'unsupported',
        `The backend of group "${this.label}" cannot limit the time of a run.`,
      )
  }

  /** `running`, or `timeout` and the loss of the devices, so many seconds after `earlier` have settled. */
  withinSeconds<R>(
    running: Promise<R>,
    seconds: number,
    earlier: readonly Promise<unknown>[],
    label: string,
  ): Promise<R> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const limit = new Promise<never>((_, reject) => {
      void Promise.allSettled(earlier).then(() => {
        timer = setTimeout(() => {
          const message = `Program "${label}" takes longer than its limit of ${seconds} s, and what runs on the devices cannot be stopped.`
          reject(new GpuError('timeout', `${message} Group "${this.label}" is lost.`))
          this.#ended ??= lostError(this.label, { reason: 'unknown', message })
          // The run itself has rejected by then.
          setTimeout(() => this.runtime.abandon!(), 0)
        }, seconds * 1000)
      })
    })
    const settled = () => clearTimeout(timer)
    running.then(settled, settled)
    return Promise.race([running, limit])
  }

  #end(error: GpuError): void {
    this.#ended ??= error
    for (const reject of this.#pending.values()) reject(this.#ended)
  }

  /** Resolves when no call of the runtime is pending. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending.keys())
  }
}

function destroyedError(label: string): GpuError {
  return new GpuError('device-lost', `The group "${label}" is destroyed.`)
}

/** Where an object of `owner` is used in another group. */
export function belongsElsewhere(owner: GroupState, here: GroupState): string {
  return owner.label === here.label
    ? `belongs to another group, which is also named "${here.label}".`
    : `belongs to group "${owner.label}", not to "${here.label}".`
}

function lostError(label: string, { reason, message }: LostInfo): GpuError {
  if (reason === 'destroyed') return destroyedError(label)
  return new GpuError('device-lost', `The devices of group "${label}" are lost: ${message}`)
}
