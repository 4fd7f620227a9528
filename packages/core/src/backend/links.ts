import type { PlanCommand, PlanPart } from '../plan/plan.ts'
import type { FreedMemory } from '../ranks/ranks.ts'
import type { Adapter } from './adapter.ts'
import type { ExecutionOptions, RepeatedOptions } from './execution.ts'
import type { Handles } from './handles.ts'
import type { OpenOptions, Runtime } from './runtime.ts'

/**
 * One way to connect the devices of several processes. A backend that supports such a way lists it in
 * `Backend.links`, and a backend around it, which manages the processes, uses it. `plans` says which part of
 * each program a runtime of the link receives:
 *
 * - `whole`: every process maps the memory of all. Its runtime has the devices of all processes, gets whole
 *   plans (`Ranks.sharesMemory`), and runs the commands of its own devices.
 * - `parts`: devices send each other messages. The runtime has this process's own devices, in their order,
 *   gets its parts of each plan, and carries the messages in them.
 * - `segments`: the backend around it carries the messages, from and to the memory of which
 *   `NativeAccess.address` gives the address. The runtime has this process's own devices, and gets what lies
 *   between messages.
 */
export type Link =
  | LinkOf<'whole', SharingRuntime>
  | LinkOf<'parts', LinkedRuntime<Handles, PlanPart>>
  | LinkOf<'segments', Runtime, Pick<LinkedProcesses, 'rank'>>

/** `P` is what the link needs of the processes. */
export interface LinkOf<Plans extends string, R, P = LinkedProcesses> {
  /** For messages, and for users who ask for it. */
  readonly name: string
  /** `machine`: the processes must share one. */
  readonly reach: 'machine' | 'network'
  readonly plans: Plans
  /**
   * As `Backend.open`, over adapters of all processes: `Adapter.rank` says whose each is, and this process's
   * own are those that `Backend.adapters` found. Every process that has a device calls it. With `whole` and
   * `parts` all processes have one, and it rejects on all alike. The code is `unsupported`, with the reason,
   * where the devices cannot be linked this way.
   */
  open(adapters: readonly Adapter[], processes: P, options?: OpenOptions): Promise<R>
}

/** The processes of a link, which make the same calls of their runtimes in the same order. */
export interface LinkedProcesses {
  readonly rank: number
  /**
   * Returns the messages of all processes to each of them, by rank. All call it in the same order. Rejects
   * with `device-lost` if one cannot.
   */
  exchange(message: string): Promise<readonly string[]>
  /** Resolves when another process has ended or cannot continue: waits for its devices will never succeed. */
  readonly broken: Promise<unknown>
}

/** A runtime whose devices need no messages from the host to access those of other processes. */
export interface LinkedRuntime<H extends Handles = Handles, C extends PlanPart = PlanCommand>
  extends Runtime<H, C> {
  /**
   * Agrees with the other processes what a run with these options needs of them, such as addresses of their
   * memory, and makes what it needs here. All processes call it before each run, in the same order and with
   * the same options; it rejects alike on all, and nothing has begun then. Resolves to whether this process
   * has a part in the plan: else it need not run it. When `run` rejects with `device-lost`, the processes may
   * have done unequally much.
   */
  connect(executable: H['executable'], options: Pick<ExecutionOptions, 'times' | 'profile'>): Promise<boolean>
  /**
   * A launcher for native code that repeats the last run of this executable, in place of `connect` and `run`.
   * Undefined if the run would differ, or needs JavaScript.
   */
  repeat(executable: H['executable'], options: RepeatedOptions): RepeatedRun | undefined
}

/** A runtime of a link by which every process maps the memory of all. */
export interface SharingRuntime<H extends Handles = Handles> extends LinkedRuntime<H> {
  /** As `Ranks.freedMemory`. */
  readonly freedMemory: FreedMemory
  /** As `Ranks.interrupted`. */
  interrupted(executable: H['executable']): void
}

/** A run that native code starts, once. */
export interface RepeatedRun {
  /** An external value that holds a `TandemLauncher`, whose `seconds` are the run's. */
  readonly launcher: unknown
  /**
   * What `run` would reject with, from the `nativeCode` and `result` of the launcher's error. To be called
   * when the run fails.
   */
  readonly failed: (error: Error) => unknown
}
