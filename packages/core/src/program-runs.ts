import { describedValue, isObject } from './described-value.ts'
import { GpuError, invalid, isGpuError } from './errors.ts'
import { abortedError, type ExecutionOptions, type ExecutionResult } from './execution.ts'
import { endedError, type GroupState } from './group-state.ts'
import type { Executable } from './handles.ts'
import { requireOptions } from './options.ts'
import { type Program, RecordedProgram } from './program.ts'
import type { ProgramSpan, RunOptions, RunProgress, RunResult } from './queue.ts'
import type { NumberedCall } from './rank-calls.ts'
import type { RankMessage } from './ranks.ts'
import type { Turns } from './turns.ts'
import { patchedUniformBlock } from './uniform-block.ts'
import { requireCount } from './view.ts'

/** Of a run over several ranks: that all are ready, and how it ends; then, for either, that memory is given back and how the second attempt goes. */
const runAgreements = 6
const readyAgain = { givenBack: 2, outcome: 3 }
const runAgain = { givenBack: 4, outcome: 5 }

/** Parts of a run that reports its progress. */
const progressParts = 20

/** How `Queue.run` runs programs: whole or in parts, in one process or on all ranks. */
export class ProgramRuns {
  readonly #group: GroupState
  readonly #turns: Turns

  constructor(group: GroupState, turns: Turns) {
    this.#group = group
    this.#turns = turns
  }

  async run(program: Program, times = 1, options: RunOptions = {}): Promise<RunResult> {
    requireOptions(options, 'run', runOptions)
    const { onProgress, ...rest } = options
    if (onProgress === undefined) return this.#run(program, times, rest)
    if (this.#group.calls === undefined && Number.isSafeInteger(times) && times > 1)
      return this.#runInParts(program, times, onProgress, rest)
    const result = await this.#run(program, times, rest)
    onProgress({ done: times, times })
    return result
  }

  /** All parts are issued at once, so that the devices never wait and no other call comes between them. */
  async #runInParts(
    program: Program,
    times: number,
    onProgress: (progress: RunProgress) => void,
    { profile, signal, ...options }: RunOptions,
  ): Promise<RunResult> {
    requireSignal(signal)
    // A part that takes too long ends those behind it.
    const ended = new AbortController()
    const onAbort = () => ended.abort(signal?.reason)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    const parts = Math.min(times, progressParts)
    const end = (part: number) => Math.round((part * times) / parts)
    const runs = Array.from({ length: parts }, (_, part) => {
      const last = part === parts - 1
      return handled(
        this.#run(program, end(part + 1) - end(part), {
          ...{ ...options, signal: ended.signal },
          ...(last && profile && { profile }),
        }),
      )
    })
    let seconds = 0
    let clock: RunResult['clock'] = 'device'
    let spans: RunResult['spans']
    try {
      for (const [part, run] of runs.entries()) {
        const result = await run.catch((error: unknown) => {
          if (isGpuError(error, 'timeout')) ended.abort()
          if (!isGpuError(error, 'aborted')) throw error
          throw new GpuError(
            'aborted',
            `The run is aborted after ${end(part)} to ${end(part + 1)} of ${times} repetitions.`,
            { cause: error.cause },
          )
        })
        seconds += result.seconds
        if (result.clock === 'host') clock = 'host'
        spans = result.spans
        onProgress({ done: end(part + 1), times })
      }
    } finally {
      await Promise.allSettled(runs)
      signal?.removeEventListener('abort', onAbort)
    }
    return { seconds, clock, repetitions: times, ...(spans && { spans }) }
  }

  async #run(program: Program, times: number, options: RunOptions): Promise<RunResult> {
    const group = this.#group
    group.requireAlive()
    if (!(program instanceof RecordedProgram))
      throw invalid(
        `What run takes is ${describedValue(program)}; it must be a program, which record returns.`,
      )
    if (program.group !== group)
      throw invalid(`A program of another group cannot run in group "${group.label}".`)
    requireSignal(options.signal)
    requireCount(times, `The repetition count of program "${program.label}"`)
    if (program.destroyed) throw invalid(`Program "${program.label}" is destroyed.`)
    const { signal, stopKernels, profile, parameters, timeoutSeconds } = options
    if (timeoutSeconds !== undefined) group.requireTimeLimit(timeoutSeconds, program.label)
    if (stopKernels && group.calls !== undefined)
      throw new GpuError('unsupported', 'A signal acts between repetitions over several processes.')
    const { commands, uniformBlock } = program.plan
    requireHostMemory(program, group.rank)
    const patched =
      parameters === undefined
        ? undefined
        : patchedUniformBlock(uniformBlock, program.parameters, parameters, program.label)
    const call = group.calls?.number(runText(program.label, times, options), times === 0 ? 0 : runAgreements)
    // Over several ranks, all ranks learn of an abort before they run, and a rank without commands takes part too.
    if (signal?.aborted && call === undefined) throw abortedError(signal, 0, times)
    if (times === 0 || (commands.length === 0 && call === undefined))
      return { seconds: 0, clock: 'host', repetitions: times }
    const stopsKernels = stopKernels && signal !== undefined ? true : undefined
    const execution: ExecutionOptions = { times, signal, stopsKernels, profile, uniformBlock: patched }
    const result =
      call === undefined
        ? await this.#runHere(program, execution, timeoutSeconds)
        : await this.#runOnAllRanks(program, execution, call, timeoutSeconds)
    const { seconds, clock, spans } = result
    if (spans === undefined) return { seconds, clock, repetitions: times }
    const named = spans.map((span): ProgramSpan => {
      const { label, kind } = commands[span.command]!
      return { ...span, label, kind }
    })
    return { seconds, clock, repetitions: times, spans: named }
  }

  #runHere(
    program: RecordedProgram,
    execution: ExecutionOptions,
    timeoutSeconds: number | undefined,
  ): Promise<ExecutionResult> {
    const earlier = this.#turns.pending
    // Preparation may run ahead of the turn: it allocates, and changes nothing that earlier work sees.
    const preparation = handled(program.prepared())
    const ready = (turn: Promise<void>) => turn.then(() => preparation)
    return this.#turns.enqueueReady([program], ready, (executable) => {
      if (execution.signal?.aborted) throw abortedError(execution.signal, 0, execution.times)
      if (execution.stopsKernels && !executable.stoppable)
        throw new GpuError(
          'unsupported',
          `Program "${program.label}" has kernels that cannot be ended, which stopKernels asks for.`,
        )
      const limit = executable.stoppable ? timeoutSeconds : undefined
      const running = this.#group.runtime.run(executable, { ...execution, timeoutSeconds: limit })
      if (timeoutSeconds === undefined) return running
      return this.#group.withinSeconds(running, timeoutSeconds, earlier, program.label, limit !== undefined)
    })
  }

  /** No rank starts before all are ready, and the result is the same on all. */
  async #runOnAllRanks(
    program: RecordedProgram,
    execution: ExecutionOptions,
    call: NumberedCall,
    timeoutSeconds: number | undefined,
  ): Promise<ExecutionResult> {
    const group = this.#group
    const calls = group.calls!
    const { ranks } = calls
    const messages = program.takeMessages()
    const preparation = handled(program.prepared())
    const { signal, times, profile, uniformBlock } = execution
    let started = false
    let result: ExecutionResult | undefined
    let said: readonly RankMessage[] | undefined
    let error: unknown
    let interrupt = () => {}
    const agreed = async (turn?: Promise<void>): Promise<ReadyRun> => {
      await turn
      try {
        return await ready(preparation, 0)
      } catch (caught) {
        // All calls before are complete where this can help.
        if (!(await group.memoryComesBack(call, caught, readyAgain.givenBack, []))) throw caught
      }
      return ready(handled(program.prepared()), readyAgain.outcome)
    }
    const ready = async (prepared: Promise<Executable>, agreement: number): Promise<ReadyRun> => {
      const own: { error?: unknown; executable?: Executable } = await prepared.then(
        (executable) => {
          if (signal?.aborted) return { error: abortedError(signal, 0, times) }
          if (timeoutSeconds === undefined || executable.stoppable) return { executable }
          return { error: endlessError(program.label) }
        },
        (caught: unknown) => ({ error: caught }),
      )
      const outcome = { error: own.error, messages, abortable: signal !== undefined }
      const { executable } = own
      // Where nothing but the ranks' agreement is missing, the run begins and ends without JavaScript.
      const native =
        executable === undefined ||
        messages !== undefined ||
        signal !== undefined ||
        profile ||
        timeoutSeconds !== undefined ||
        agreement > 0
          ? undefined
          : calls.runAgreed(call, (begin, end) =>
              ranks.runAgreed?.(executable, { times, uniformBlock }, begin, end),
            )
      const running = native && handled(native.ended)
      const begun = native && handled(native.started)
      const { abortable, alike } = await group.guard(async () =>
        begun === undefined ? calls.agree(call, outcome, agreement) : calls.heard(call, 0, await begun),
      )
      return { executable: executable!, abortable, running: alike ? running : undefined }
    }
    const start = async ({ executable, abortable, running }: ReadyRun): Promise<void> => {
      // All ranks find this alike, before any begins.
      if (timeoutSeconds !== undefined && abortable)
        throw new GpuError(
          'unsupported',
          `The run of "${program.label}" over several processes has a time limit, and a signal on one of them: it can have one of the two.`,
        )
      started = true
      interrupt = () => group.runtime.interrupted?.(executable)
      if (running !== undefined) said = await running
      else result = await group.runtime.run(executable, { ...execution, abortable, timeoutSeconds })
    }
    const ended = async (run: () => Promise<void>, agreement = 1): Promise<ExecutionResult> => {
      error = undefined
      try {
        await run()
      } catch (caught) {
        if (!started) throw caught
        const isTooLong = timeoutSeconds !== undefined && isGpuError(caught, 'timeout')
        error = isTooLong ? endedError(program.label, timeoutSeconds, caught) : caught
        // Other ranks may wait for messages that never come, unless the runtime knows better, and says `device-lost`.
        const goesOn =
          isTooLong ||
          isGpuError(error, 'aborted') ||
          (ranks.survivesFailures === true && !isGpuError(error, 'device-lost'))
        if (!goesOn && program.concernsOtherRanks) {
          group.abandon(error)
          throw error
        }
      }
      const { seconds, clock } = await group
        .guard(() =>
          said === undefined
            ? calls.agree(call, { error, seconds: result?.seconds, clock: result?.clock }, agreement)
            : calls.heard(call, 1, said),
        )
        .catch((failure: unknown) => {
          if (isGpuError(failure, 'timeout')) interrupt()
          throw failure
        })
      return { ...result, seconds, clock }
    }
    if (!group.sharesMemory) return ended(() => this.#turns.enqueueReady([program], agreed, start))
    return this.#turns.enqueueAlone([program], async () => {
      let begun: ReadyRun | undefined
      try {
        return await ended(async () => {
          const own = await agreed()
          begun = own
          return group.guard(() => start(own))
        })
      } catch (caught) {
        // What a run needs of other ranks is made when it begins, and may fail for want of memory on all alike.
        if (begun === undefined || !(await group.memoryComesBack(call, caught, runAgain.givenBack, [])))
          throw caught
      }
      const { executable, abortable } = begun
      return ended(
        () => group.guard(() => start({ executable, abortable, running: undefined })),
        runAgain.outcome,
      )
    })
  }
}

/** A run that all ranks are ready for. */
interface ReadyRun {
  readonly executable: Executable
  readonly abortable: boolean
  /** Where it is under way: what the ranks say at its end. */
  readonly running: Promise<readonly RankMessage[] | undefined> | undefined
}

function endlessError(label: string): GpuError {
  return new GpuError(
    'unsupported',
    `Program "${label}" has kernels that cannot be ended, which a time limit over several processes needs.`,
  )
}

/** Awaited later: a rejection meanwhile is not "unhandled". */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {})
  return promise
}

function runText(label: string, times: number, { parameters, profile, timeoutSeconds }: RunOptions): string {
  const limit = timeoutSeconds === undefined ? '' : ` within ${timeoutSeconds} s`
  const text = `runs "${label}" ${times} times${limit}`
  if (parameters === undefined && !profile) return text
  const values = Object.entries(parameters ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const given = values.map(([name, value]) => ` ${name} = ${value}`).join()
  return `${text}${given === '' ? '' : ` with${given}`}${profile ? ', profiled' : ''}`
}

function requireHostMemory({ label, plan }: Program, rank: number): void {
  for (const buffer of plan.buffers)
    if (
      buffer.kind === 'host' &&
      (buffer.rank ?? rank) === rank &&
      buffer.allocation.arrayBuffer.byteLength !== buffer.byteLength
    )
      throw invalid(
        `The memory of host buffer "${buffer.label}", which program "${label}" uses, is detached: it was transferred elsewhere.`,
      )
}

const runOptions = {
  onProgress: 'function',
  signal: 'object',
  stopKernels: 'boolean',
  timeoutSeconds: 'number',
  profile: 'boolean',
  parameters: 'object',
} as const

function requireSignal(signal: unknown): void {
  if (signal === undefined || (isObject(signal) && 'aborted' in signal && 'addEventListener' in signal))
    return
  throw invalid(`The option signal of run is ${describedValue(signal)}; it must be an AbortSignal.`)
}
