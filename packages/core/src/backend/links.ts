import type { PlanCommand, PlanPart } from '../plan/plan.ts'
import type { FreedMemory } from '../ranks/ranks.ts'
import type { Adapter } from './adapter.ts'
import type { ExecutionOptions, RepeatedOptions } from './execution.ts'
import type { Handles } from './handles.ts'
import type { OpenOptions, Runtime } from './runtime.ts'

/**
 * One way to connect the devices of several processes. A backend that supports such a way lists it in
 * `Backend.links`, and a backend around it, which manages the processes, uses it. `plans` is the part of each
 * program that a runtime of the link receives:
 *
 * - `whole`: every process maps the memory of all. Its runtime has the devices of all processes, gets whole
 *   plans (`Ranks.sharesMemory`), and runs the commands of its own devices.
 * - `parts`: devices send each other messages. The runtime has this process's own devices, in their order,
 *   gets its parts of each plan, and carries the messages in them.
 * - `segments`: the backend around it carries the messages, from and to memory at the addresses that
 *   `NativeAccess.address` returns. The runtime has this process's own devices, and gets the commands between
 *   messages.
 */
export type Link =
  | LinkOf<'whole', SharingRuntime>
  | LinkOf<'parts', LinkedRuntime<Handles, PlanPart>>
  | LinkOf<'segments', Runtime, Pick<LinkedProcesses, 'rank'>>

/** An adapter in the list of all processes' adapters. */
export interface RankAdapter extends Adapter {
  /** The process that has the adapter. */
  readonly rank: number
}

/** `P` is the part of `LinkedProcesses` that the link needs. */
export interface LinkOf<Plans extends string, R, P = LinkedProcesses> {
  /** For messages, and for users who ask for it. */
  readonly name: string
  /** `machine`: all processes must run on one machine. */
  readonly reach: 'machine' | 'network'
  readonly plans: Plans
  /**
   * As `Backend.open`, over adapters of all processes; this process's own adapters are those that
   * `Backend.adapters` found. Every process that has a device calls it. With `whole` and `parts`, every
   * process has a device, and the call rejects with the same error on all, or on none. It rejects with
   * `unsupported` and the reason if the devices cannot be linked this way.
   */
  open(adapters: readonly RankAdapter[], processes: P, options?: OpenOptions): Promise<R>
}

/** The processes of a link, which make the same calls to their runtimes in the same order. */
export interface LinkedProcesses {
  readonly rank: number
  /**
   * Resolves on every process to the messages of all processes, by rank. All processes call it in the same
   * order. Rejects with `device-lost` if one of them cannot.
   */
  exchange(message: string): Promise<readonly string[]>
  /**
   * Resolves when another process has ended or cannot continue, so that waiting for its devices would never
   * succeed.
   */
  readonly broken: Promise<unknown>
}

/** A runtime whose devices need no messages from the host to access those of other processes. */
export interface LinkedRuntime<H extends Handles = Handles, C extends PlanPart = PlanCommand>
  extends Runtime<H, C> {
  /**
   * Exchanges with the other processes what a run with these options needs, such as addresses of their
   * memory, and creates what the run needs here. All processes call it before each run, in the same order and
   * with the same options. If it rejects on one, it rejects with the same error on all, before any work has
   * begun. Resolves to whether this process has a part in the plan; if not, it need not run it. `parts` are the
   * repetitions of the calls of `run` that follow, together `times`, if the run is divided; the last of them is
   * profiled. If `run` rejects with `device-lost`, some processes may have completed more of the work than
   * others.
   */
  connect(
    executable: H['executable'],
    options: Pick<ExecutionOptions, 'times' | 'profile' | 'timeoutSeconds' | 'stopsKernels'>,
    parts?: readonly number[],
  ): Promise<boolean>
  /**
   * A launcher for native code that repeats the last run of this executable and replaces `connect` and `run`.
   * Undefined if the run would differ from the last one or needs JavaScript.
   */
  repeat(executable: H['executable'], options: RepeatedOptions): RepeatedRun | undefined
}

/** A runtime of a `whole` link: every process maps the memory of all processes. */
export interface SharingRuntime<H extends Handles = Handles> extends LinkedRuntime<H> {
  /** As `Ranks.freedMemory`. */
  readonly freedMemory: FreedMemory
  /** As `Ranks.interrupted`. */
  interrupted(executable: H['executable']): void
}

/** A run that native code starts once. */
export interface RepeatedRun {
  /** An external value that holds a `TandemLauncher`; its `seconds` are those of the run. */
  readonly launcher: unknown
  /**
   * Call it when the run fails. Returns the error that `run` would reject with, derived from the `nativeCode`
   * and `result` of the launcher's error.
   */
  readonly failed: (error: Error) => unknown
}
