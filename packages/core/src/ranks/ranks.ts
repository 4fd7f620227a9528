import type { RepeatedOptions } from '../backend/execution.ts'
import type { Executable } from '../backend/handles.ts'

/**
 * What a runtime over several processes offers in addition. Each process is a rank; every rank runs the same
 * program, opens the same group, and calls it in the same order. `Runtime.devices` lists the devices of ALL
 * ranks in rank order (`Adapter.rank`), the same on each rank; a rank may have no device.
 *
 * Requirements on such a runtime:
 * - It is called only for local devices: `allocate`, `write`, `read` and the commands of a plan refer to
 *   devices of this rank, by their ordinals in the group. `compile`, `allocateHost`, `instantiate` and `run`
 *   are also called on a rank without devices.
 * - `allocate`, `compile` and `instantiate` do local work and never wait for another rank: core settles their
 *   outcomes with `gather`. Anything that a plan needs from other ranks (addresses, connections) is set up by
 *   its first `run`.
 * - `run` is called on every rank, for the same program and number of repetitions, after all ranks have
 *   agreed to it, in the same order, even if this rank's plan is empty. If `signal` aborts on one rank, all
 *   ranks stop after the same repetition and `run` rejects with `aborted` on each.
 * - A plan's messages behave as documented for `PlanMessage`. A transport must make progress with every
 *   message whose two parts have started, whatever else is waiting.
 * - No long wait is silent: after 5 s, a runtime prints on standard error which ranks it is waiting for.
 */
export interface Ranks {
  /** This process, from 0. */
  readonly rank: number
  readonly count: number
  /**
   * True if each device can access the memory of all others, on any rank. Plans are then whole: every rank
   * gets the commands of all devices, without messages, and memory of other ranks has a stub in place of an
   * allocation. Commands that use host memory run on a device of the rank that has it. Core starts a run when
   * all earlier calls are complete on all ranks, and starts no other call before the run ends.
   */
  readonly sharesMemory?: boolean
  /**
   * True if, whenever `run` rejects with anything but `device-lost`, the devices of all ranks are ready for
   * the next run. Otherwise, a failed run on one rank leaves others waiting for its messages, and the group
   * ends.
   */
  readonly survivesFailures?: boolean
  /** Present if memory that a rank has freed is released only once no other rank uses it. */
  readonly freedMemory?: FreedMemory
  /** Whether messages between devices go through host memory. */
  readonly throughHost?: boolean
  /** How data moves between the ranks, for reports. */
  readonly transport?: Transport
  /**
   * Resolves on every rank to the messages of all ranks under `key`: equal messages once, with the lowest
   * rank that sends them, by ascending rank. Each rank uses a key once; keys ascend in the order of the
   * program, but calls overlap and may arrive in any order. Messages have a few hundred characters, and more
   * only after an error. Many gathers may be in flight at once. Rejects with `device-lost` if a rank is gone
   * or has called `leave` and has sent nothing under `key`, and with `validation` if this rank and another
   * wait for calls of each other. `doing` describes this rank's call in error messages: 'runs "sum" 3 times'.
   * `beginsRun`: a run follows, unless a rank cannot begin it, and then a call of `runEnded`.
   */
  gather(
    key: number,
    message: string,
    number?: number,
    doing?: string,
    beginsRun?: boolean,
  ): Promise<readonly RankMessage[]>
  /**
   * Present if runs of several groups must not overlap, because devices of different ranks wait for each other
   * in them. The gather that begins a run then resolves once the runs of other groups that began before have
   * ended on this rank; `runEnded` is called with its key when the run has ended or does not take place.
   */
  runEnded?(key: number): void
  /**
   * Runs the executable without JavaScript between two gathers: if all ranks send the same message under the
   * key of `start`, it runs here, and then this rank sends `end` with its seconds. The run cannot be aborted.
   * Other ranks may call `gather` and `run` instead. Undefined if this is not possible now, for instance
   * because the executable has not run before; absent if it is never possible.
   */
  runAgreed?(
    executable: Executable,
    options: RepeatedOptions,
    start: KeyedMessage,
    end: KeyedMessage,
  ): AgreedRun | undefined
  /**
   * Copies the `bytes` of rank `from` to rank `to`, or to all ranks. The ranks that take part call it with
   * arrays of equal length; the arrays on ranks other than `from` are overwritten. Keys are as in `gather`
   * and from the same sequence. All ranks receive the results of gathers in the same order, and make the
   * calls that follow them in that order too.
   */
  deliver(key: number, from: number, to: number | 'all', bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /**
   * Announces that this rank makes no more calls; `reason` is a sentence if it cannot continue. Never waits.
   * On every other rank, a `gather` or a `deliver` that needs this rank rejects with `device-lost`; if there
   * is a reason, `Runtime.lost` resolves there too, with rank and reason in its message, and a `run` in
   * progress rejects.
   */
  leave(reason?: string): void
  /**
   * Called on every rank after one rank has ended a run of the executable at its time limit. The ranks may
   * have completed different amounts of it.
   */
  interrupted(executable: Executable): void
  /**
   * Called on every rank when the ranks have made different calls: some may have begun work that others have
   * not.
   */
  diverged(): void
}

/**
 * Memory that ranks have freed and that others may still use. If a call runs out of memory on any rank, every
 * rank calls both functions, then tries once more.
 */
export interface FreedMemory {
  /**
   * Waits until this rank has released all memory of other ranks that it no longer uses. Resolves to the
   * memory that it still uses, as text for the ranks that own it.
   */
  letGo(): Promise<string>
  /**
   * Releases the memory that this rank has freed, except memory that any rank still uses according to `used`.
   */
  giveBack(used: readonly string[]): Promise<void>
}

/** A rank's message under a key: see `Ranks.gather`. */
export interface KeyedMessage {
  readonly key: number
  readonly message: string
  readonly doing: string
}

/** A run of `Ranks.runAgreed`. */
export interface AgreedRun {
  /** The result of the gather at the start. */
  readonly started: Promise<readonly RankMessage[]>
  /**
   * The result of the gather at the end; undefined if the ranks do not send the same message at the start. If
   * the run fails here, rejects as `Runtime.run` does, and this rank has not yet sent its outcome.
   */
  readonly ended: Promise<readonly RankMessage[] | undefined>
}

/** How a group over several ranks moves data between them, and why it uses no faster way. */
export interface Transport {
  readonly name: string
  readonly refused: readonly { readonly name: string; readonly reason: string }[]
}

/** A message of one rank, or of several ranks that send the same. */
export interface RankMessage {
  /** The lowest rank that sends it. */
  readonly rank: number
  readonly message: string
  /** The greatest of the numbers sent with it; 0 if there is none. */
  readonly number: number
}
