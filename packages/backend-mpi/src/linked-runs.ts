import { isGpuError } from '@tandem-gpu/core'
import type {
  AgreedRun,
  ExecutionOptions,
  ExecutionResult,
  KeyedMessage,
  LinkedRuntime,
  RepeatedOptions,
} from '@tandem-gpu/core/backend'
import type { MpiExecutable } from './mpi-executable.ts'
import { MpiRuns, type RunningRank, type Schedule } from './mpi-runs.ts'
import { settled } from './native-addon.ts'

/**
 * The repetitions of the parts of a run that can end early, as native code requests them (`Schedule::batch`).
 */
function partsOf(times: number): number[] {
  const parts: number[] = []
  for (let begun = 0; begun < times; begun += parts.at(-1)!)
    parts.push(Math.min(times - begun, Math.max(64, begun)))
  return parts
}

/**
 * Runs on devices that need no messages from the host: a program is one segment, which the ranks connect
 * before each run.
 */
export class LinkedRuns extends MpiRuns {
  protected readonly clock = 'device'
  protected readonly skipsWork = false
  protected readonly followsTransfers = false
  readonly #runtime: Pick<LinkedRuntime, 'connect' | 'repeat' | 'run'>
  readonly #break: () => void

  /** `breakOff` is called when waiting for other ranks would never succeed. */
  constructor(
    rank: RunningRank,
    runtime: Omit<LinkedRuntime, 'instantiate' | 'native'>,
    breakOff: () => void,
  ) {
    super(rank, runtime)
    this.#runtime = runtime
    this.#break = breakOff
  }

  override runAgreed(
    { alone, made }: MpiExecutable,
    options: RepeatedOptions,
    start: KeyedMessage,
    end: KeyedMessage,
  ): AgreedRun | undefined {
    if (!alone || !this.isIdle) return undefined
    const repeated = this.#runtime.repeat(made[0]!, options)
    if (repeated === undefined) return undefined
    const { session, group, label } = this.rank
    const native = session.addon.runAgreed(
      ...([group, start.key, start.message] as const),
      ...([end.key, end.message, repeated.launcher] as const),
    )
    session.noteGather(group, start.key, `${start.doing} in group "${label}"`, native.started)
    const begun = async () => {
      const said = await settled(native.started)
      // All ranks number runs alike, however they begin.
      if (said.length === 1) this.countRun()
      return said
    }
    const over = async () => {
      const outcome = await this.awake(settled(native.ended))
      if (outcome === undefined || 'said' in outcome) return outcome?.said
      throw this.#ended(repeated.failed(outcome.error))
    }
    const ended = over()
    this.followedBy(ended)
    return { started: begun(), ended }
  }

  protected override async repeat(
    executable: MpiExecutable,
    options: ExecutionOptions,
  ): Promise<ExecutionResult> {
    const { times, profile, timeoutSeconds } = options
    try {
      if (!(await this.#runtime.connect(executable.made[0]!, { times, profile, timeoutSeconds })))
        return { seconds: 0, clock: 'device' }
      return await super.repeat(executable, options)
    } catch (error) {
      throw this.#ended(error)
    }
  }

  protected override limitOf(_: ExecutionOptions): number | undefined {
    return undefined
  }

  protected override async begin(
    { made, nodes }: MpiExecutable,
    options: ExecutionOptions,
  ): Promise<Schedule> {
    const { times, profile, timeoutSeconds } = options
    // Ranks without a part come here too if the others run the program whole.
    const parts = this.endsEarly(options) ? partsOf(times) : undefined
    const takesPart = await this.#runtime.connect(made[0]!, { times, profile, timeoutSeconds }, parts)
    // A rank without a part in the plan gets no nodes: it would finish at once and run ahead of the others,
    // where an abort could no longer stop it.
    return { nodes: takesPart ? nodes : this.rank.session.addon.prepare([]), launchers: [] }
  }

  /** The devices have completed their part despite the error, unless they are lost. */
  protected override goesOn(error: unknown): boolean {
    return !isGpuError(error, 'device-lost')
  }

  protected override fail(_: MpiExecutable, _run: number, error: unknown): void {
    this.#break()
    this.rank.leave(error instanceof Error ? error.message : String(error))
  }

  /**
   * The error of a run. If the devices are lost, ends the group on all ranks, because other ranks' devices
   * may wait for this rank's.
   */
  #ended(error: unknown): unknown {
    if (!isGpuError(error, 'device-lost')) return error
    this.#break()
    if (this.peerLost === undefined) this.rank.leave(error.message)
    return this.peerLost ?? error
  }
}

/**
 * Runs on devices whose graphs contain the messages: the ranks enforce a time limit together, because all
 * must launch equally often.
 */
export class ConnectedRuns extends LinkedRuns {
  protected override limitOf({ timeoutSeconds }: ExecutionOptions): number | undefined {
    return timeoutSeconds
  }
}
