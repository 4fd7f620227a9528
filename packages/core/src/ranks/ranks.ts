import type { RepeatedOptions } from '../backend/execution.ts'
import type { Executable } from '../backend/handles.ts'

/**
 * What a runtime over several processes offers in addition. Each process is a rank; every rank runs the same
 * program, opens the same group, and calls it in the same order. `Runtime.devices` lists the devices of ALL
 * ranks in rank order (`Adapter.rank`), the same on each rank; a rank may have no device.
 *
 * What core asks of such a runtime:
 * - It is called for local devices alone: `allocate`, `write`, `read` and the commands of a plan name devices
 *   of this rank, by their ordinals among all. `compile`, `allocateHost`, `instantiate` and `run` are also
 *   called on a rank without devices.
 * - `allocate`, `compile` and `instantiate` do local work and never wait for another rank: core settles their
 *   outcomes with `gather`. What a plan needs from other ranks (addresses, connections) waits for its first
 *   `run`.
 * - `run` is called on every rank, for the same program and number of repetitions, after all ranks have
 *   agreed to it, in the same order; also where this rank's plan is empty. When `signal` aborts on one rank,
 *   all ranks stop after the same repetition and `run` rejects with `aborted` on each.
 * - A plan's `PlanMessage`s are carried out as `PlanMessage` says. A transport must make progress with every
 *   message whose two parts have started, whatever else waits.
 * - No wait is silent: a runtime says on standard error whom it waits for when that takes more than 5 s.
 */
export interface Ranks {
  /** This process, from 0. */
  readonly rank: number
  readonly count: number
  /**
   * True where each device reaches the memory of all others, whatever their ranks. Plans are whole then:
   * every rank gets the commands of all devices, in which memory of other ranks has no allocation but a stub,
   * and no messages. Commands that use host memory run on a device of the rank that has it. Core starts a run
   * when all earlier calls are complete on all ranks, and no other call before it ends.
   */
  readonly sharesMemory?: boolean
  /**
   * True where `run` rejects with anything but `device-lost` only when the devices of all ranks are ready for
   * the next run. Elsewhere a program with messages whose run fails on one rank leaves others waiting for
   * these, and the group ends.
   */
  readonly survivesFailures?: boolean
  /** Whether runs take `ExecutionOptions.timeoutSeconds` for executables that are `stoppable`. */
  readonly limitsTime: boolean
  /** Present where memory that a rank has freed is given back only once no other rank uses it. */
  readonly freedMemory?: FreedMemory
  /** Whether messages between devices go through host memory. */
  readonly throughHost?: boolean
  /** How messages travel, for reports. */
  readonly transport?: Transport
  /**
   * Gives every rank the messages of all ranks under `key`: equal messages once, with the lowest rank that
   * sends them, by ascending rank. Each rank uses a key once; keys ascend in the order of the program, but
   * calls overlap and may come in any order. Messages have some hundred characters, and more only where
   * something went wrong. Many of them may travel at once. Rejects with `device-lost` when a rank is gone, or
   * has called `leave`, and has said nothing under `key`, and with `validation` when this rank and another
   * wait for calls of each other. `doing` says what this rank does, for messages: 'runs "sum" 3 times'.
   */
  gather(key: number, message: string, number?: number, doing?: string): Promise<readonly RankMessage[]>
  /**
   * Runs the executable without JavaScript between two gathers: when all ranks say the same under the key of
   * `start`, it runs here, and then this rank says `end` with its seconds. Nothing aborts the run. Other
   * ranks may call `gather` and `run` instead. Undefined where that is not possible now, for instance because
   * the executable has not run before; absent where it never is.
   */
  runAgreed?(
    executable: Executable,
    options: RepeatedOptions,
    start: KeyedMessage,
    end: KeyedMessage,
  ): AgreedRun | undefined
  /**
   * Gives the `bytes` of rank `from` to rank `to`, or to all. Called by the ranks that take part, with arrays
   * of one length; what `from` does not own is overwritten. Keys as in `gather`, from the same numbers, whose
   * results come to all ranks in one order: calls that follow them come in that order too.
   */
  deliver(key: number, from: number, to: number | 'all', bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /**
   * This rank makes no more calls; `reason` is a sentence where it cannot go on. Never waits. On every other
   * rank, a `gather` or a `deliver` that needs this rank rejects with `device-lost`; given a reason,
   * `Runtime.lost` resolves there too, with rank and reason in its message, and a `run` in progress rejects.
   */
  leave(reason?: string): void
  /**
   * A run of it has been ended at its limit on one rank, as all know by now, and each calls this. They may
   * have done unequally much of it.
   */
  interrupted(executable: Executable): void
  /**
   * The ranks have made different calls, as each of them finds out: some may have begun what others have not.
   */
  diverged(): void
}

/**
 * Memory that ranks have freed and that others may still use. When a call fails for want of memory on any
 * rank, every rank does both, then tries once more.
 */
export interface FreedMemory {
  /**
   * Waits until this rank has let go of all that it uses no more. Gives what it still uses, as text for the
   * ranks that own it.
   */
  letGo(): Promise<string>
  /** Gives back what this rank has freed, but for what is still used according to what all ranks say. */
  giveBack(used: readonly string[]): Promise<void>
}

/** What a rank says under a key: see `Ranks.gather`. */
export interface KeyedMessage {
  readonly key: number
  readonly message: string
  readonly doing: string
}

/** A run of `Ranks.runAgreed`. */
export interface AgreedRun {
  /** As `gather` of its start. */
  readonly started: Promise<readonly RankMessage[]>
  /**
   * As `gather` of its end; undefined where the ranks do not say the same at the start. Rejects as
   * `Runtime.run` does where it fails here, and then this rank has yet to say how it ends.
   */
  readonly ended: Promise<readonly RankMessage[] | undefined>
}

/** How a group over several ranks moves data between them, and why not in a quicker way. */
export interface Transport {
  readonly name: string
  readonly refused: readonly { readonly name: string; readonly reason: string }[]
}

/** A message of one rank, or of several that say the same. */
export interface RankMessage {
  /** The lowest rank that says it. */
  readonly rank: number
  readonly message: string
  /** The greatest of the numbers that they give with it; 0 where they give none. */
  readonly number: number
}
