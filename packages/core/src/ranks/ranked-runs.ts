import { abortedError, type ExecutionOptions, type ExecutionResult } from '../backend/execution.ts'
import type { Executable } from '../backend/handles.ts'
import { GpuError, isGpuError } from '../errors.ts'
import { endedError, type GroupState } from '../group/group-state.ts'
import { handled } from '../group/turns.ts'
import type { ProgramRun, RunMode } from '../running/local-runs.ts'
import type { RecordedProgram } from '../running/program.ts'
import type { MessageList } from './message-list.ts'
import type { NumberedCall, RankCalls } from './rank-calls.ts'
import type { RankMessage } from './ranks.ts'

/**
 * The agreements of a run: that all ranks are ready, and the outcome; then, for each of the two, giving back
 * memory and the second attempt.
 */
const runAgreements = 6
const readyAgain = { givenBack: 2, outcome: 3 }
const runAgain = { givenBack: 4, outcome: 5 }

/**
 * Runs the programs of a group over several ranks. All ranks agree before they run whether the run has
 * already been aborted, and a rank without commands takes part too.
 */
export class RankedRuns implements RunMode {
  readonly #group: GroupState
  readonly #calls: RankCalls

  constructor(group: GroupState, calls: RankCalls) {
    this.#group = group
    this.#calls = calls
  }

  async run(run: ProgramRun): Promise<ExecutionResult> {
    const none = run.execution.times === 0
    const call = this.#calls.number(run.text, none ? 0 : runAgreements)
    if (none) return { seconds: 0, clock: 'host' }
    const agreed = new AgreedProgramRun(this.#group, this.#calls, call, run)
    try {
      return await (this.#group.sharesMemory ? agreed.alone() : agreed.inTurn())
    } finally {
      this.#calls.runEnded(call)
    }
  }
}

/** A run that all ranks are ready for. */
interface ReadyRun {
  readonly executable: Executable
  readonly abortable: boolean
  /** If native code has started the run: the messages of the ranks at its end. */
  readonly running: Promise<readonly RankMessage[] | undefined> | undefined
}

/** A successful run on this rank, with the ranks' messages if native code has gathered them. */
interface Finished {
  readonly result?: ExecutionResult
  readonly said?: readonly RankMessage[] | undefined
}

/** One run: no rank starts before all are ready, and the result is the same on all. */
class AgreedProgramRun {
  readonly #group: GroupState
  readonly #calls: RankCalls
  readonly #call: NumberedCall
  readonly #program: RecordedProgram
  readonly #execution: ExecutionOptions
  readonly #timeoutSeconds: number | undefined
  readonly #messages: MessageList | undefined
  readonly #preparation: Promise<Executable>
  /** The executable that has started to run here. */
  #started: Executable | undefined

  constructor(group: GroupState, calls: RankCalls, call: NumberedCall, run: ProgramRun) {
    this.#group = group
    this.#calls = calls
    this.#call = call
    this.#program = run.program
    this.#execution = run.execution
    this.#timeoutSeconds = run.timeoutSeconds
    this.#messages = run.program.takeMessages()
    this.#preparation = handled(run.program.prepared())
  }

  inTurn(): Promise<ExecutionResult> {
    const ready = async (turn: Promise<void>) => {
      await turn
      return this.#agreed()
    }
    return this.#ended(() =>
      this.#group.turns.enqueueReady([this.#program], ready, (run) => this.#start(run)),
    )
  }

  /** Runs when all earlier calls are complete: for ranks that share memory. */
  alone(): Promise<ExecutionResult> {
    const group = this.#group
    return group.turns.enqueueAlone([this.#program], async () => {
      let begun: ReadyRun | undefined
      try {
        return await this.#ended(async () => {
          const own = await this.#agreed()
          begun = own
          return group.guard(() => this.#start(own))
        })
      } catch (caught) {
        // What a run needs from other ranks is created when it begins. If one rank runs out of memory for it,
        // the run fails on all.
        if (begun === undefined || !(await group.memoryComesBack(this.#call, caught, runAgain.givenBack, [])))
          throw caught
      }
      const again = { ...begun, running: undefined }
      return this.#ended(() => group.guard(() => this.#start(again)), runAgain.outcome)
    })
  }

  async #agreed(): Promise<ReadyRun> {
    try {
      return await this.#ready(this.#preparation, 0)
    } catch (caught) {
      // A retry can help only with shared memory, and there all earlier calls are complete.
      if (!(await this.#group.memoryComesBack(this.#call, caught, readyAgain.givenBack, []))) throw caught
    }
    return this.#ready(handled(this.#program.prepared()), readyAgain.outcome)
  }

  async #ready(prepared: Promise<Executable>, agreement: number): Promise<ReadyRun> {
    const { signal, times, profile, uniformBlock } = this.#execution
    const [calls, call, messages] = [this.#calls, this.#call, this.#messages]
    const own: { error?: unknown; executable?: Executable } = await prepared.then(
      (executable) => {
        if (signal?.aborted) return { error: abortedError(signal, 0, times) }
        if (this.#timeoutSeconds === undefined || executable.stoppable) return { executable }
        return { error: endlessError(this.#program.label) }
      },
      (caught: unknown) => ({ error: caught }),
    )
    const outcome = { error: own.error, messages, abortable: signal !== undefined }
    const { executable } = own
    // If only the ranks' agreement is missing, the run begins and ends without JavaScript.
    const native =
      executable === undefined ||
      messages !== undefined ||
      signal !== undefined ||
      profile ||
      this.#timeoutSeconds !== undefined ||
      agreement > 0
        ? undefined
        : calls.runAgreed(call, (begin, end) =>
            calls.ranks.runAgreed?.(executable, { times, uniformBlock }, begin, end),
          )
    const running = native && handled(native.ended)
    const begun = native && handled(native.started)
    const { abortable, alike } = await this.#group.guard(async () =>
      begun === undefined
        ? calls.agree(call, outcome, agreement, agreement === 0)
        : calls.heard(call, 0, await begun),
    )
    return { executable: executable!, abortable, running: alike ? running : undefined }
  }

  async #start({ executable, abortable, running }: ReadyRun): Promise<Finished> {
    const { label } = this.#program
    const timeoutSeconds = this.#timeoutSeconds
    // All ranks detect this alike, before any begins.
    if (timeoutSeconds !== undefined && abortable)
      throw new GpuError(
        'unsupported',
        `The run of "${label}" over several processes has a time limit, and a signal on one of them; it can have only one of the two.`,
      )
    this.#started = executable
    if (running !== undefined) return { said: await running }
    const execution = { ...this.#execution, abortable, timeoutSeconds }
    return { result: await this.#group.runtime.run(executable, execution) }
  }

  /** Runs, and agrees on the outcome. */
  async #ended(run: () => Promise<Finished>, agreement = 1): Promise<ExecutionResult> {
    const [group, calls, call] = [this.#group, this.#calls, this.#call]
    let error: unknown
    let finished: Finished = {}
    try {
      finished = await run()
    } catch (caught) {
      if (this.#started === undefined) throw caught
      error = this.#failure(caught)
      if (!this.#goesOn(error)) {
        group.abandon(error)
        throw error
      }
    }
    const { result, said } = finished
    const { seconds, clock } = await group
      .guard(() =>
        said === undefined
          ? calls.agree(call, { error, seconds: result?.seconds, clock: result?.clock }, agreement)
          : calls.heard(call, 1, said),
      )
      .catch((failure: unknown) => {
        if (isGpuError(failure, 'timeout') && this.#started !== undefined)
          calls.ranks.interrupted(this.#started)
        throw failure
      })
    return { ...result, seconds, clock }
  }

  #failure(caught: unknown): unknown {
    if (this.#timeoutSeconds === undefined || !isGpuError(caught, 'timeout')) return caught
    return endedError(this.#program.label, this.#timeoutSeconds, caught)
  }

  /**
   * Whether the group survives the error. If not, other ranks may wait for messages that never come. A
   * runtime with `survivesFailures` prevents that, unless it rejects with `device-lost`.
   */
  #goesOn(error: unknown): boolean {
    if (!this.#program.concernsOtherRanks || isGpuError(error, 'aborted') || isGpuError(error, 'timeout'))
      return true
    return this.#calls.ranks.survivesFailures === true && !isGpuError(error, 'device-lost')
  }
}

function endlessError(label: string): GpuError {
  return new GpuError(
    'unsupported',
    `Program "${label}" has kernels that cannot be stopped, which a time limit over several processes requires.`,
  )
}
