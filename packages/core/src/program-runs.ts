import { describedValue, isObject } from './described-value.ts'
import { GpuError, invalid, isGpuError } from './errors.ts'
import { abortedError, type ExecutionOptions, type ExecutionResult } from './execution.ts'
import type { GroupState } from './group-state.ts'
import type { Executable } from './handles.ts'
import { requireOptions } from './options.ts'
import { type Program, RecordedProgram } from './program.ts'
import type { ProgramSpan, RunOptions, RunProgress, RunResult } from './queue.ts'
import type { NumberedCall } from './rank-calls.ts'
import type { RankMessage } from './ranks.ts'
import type { Turns } from './turns.ts'
import { patchedUniformBlock } from './uniform-block.ts'
import { requireCount } from './view.ts'

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
    { profile, ...options }: RunOptions,
  ): Promise<RunResult> {
    const parts = Math.min(times, progressParts)
    const end = (part: number) => Math.round((part * times) / parts)
    const runs = Array.from({ length: parts }, (_, part) => {
      const last = part === parts - 1
      return handled(
        this.#run(program, end(part + 1) - end(part), { ...options, ...(last && profile && { profile }) }),
      )
    })
    let seconds = 0
    let clock: RunResult['clock'] = 'device'
    let spans: RunResult['spans']
    try {
      for (const [part, run] of runs.entries()) {
        const result = await run.catch((error: unknown) => {
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
    const { signal, profile, parameters, timeoutSeconds } = options
    if (timeoutSeconds !== undefined) group.requireTimeLimit(timeoutSeconds, program.label)
    const { commands, uniformBlock } = program.plan
    requireHostMemory(program, group.rank)
    const patched =
      parameters === undefined
        ? undefined
        : patchedUniformBlock(uniformBlock, program.parameters, parameters, program.label)
    const call = group.calls?.number(runText(program.label, times, options), times === 0 ? 0 : 2)
    // Over several ranks, all ranks learn of an abort before they run, and a rank without commands takes part too.
    if (signal?.aborted && call === undefined) throw abortedError(signal, 0, times)
    if (times === 0 || (commands.length === 0 && call === undefined))
      return { seconds: 0, clock: 'host', repetitions: times }
    const execution: ExecutionOptions = { times, signal, profile, uniformBlock: patched }
    const result =
      call === undefined
        ? await this.#runHere(program, execution, timeoutSeconds)
        : await this.#runOnAllRanks(program, execution, call)
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
      const running = this.#group.runtime.run(executable, execution)
      if (timeoutSeconds === undefined) return running
      return this.#group.withinSeconds(running, timeoutSeconds, earlier, program.label)
    })
  }

  /** No rank starts before all are ready, and the result is the same on all. */
  async #runOnAllRanks(
    program: RecordedProgram,
    execution: ExecutionOptions,
    call: NumberedCall,
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
    const agreed = async (turn?: Promise<void>): Promise<ReadyRun> => {
      await turn
      const own: { error?: unknown; executable?: Executable } = await preparation.then(
        (executable) => (signal?.aborted ? { error: abortedError(signal, 0, times) } : { executable }),
        (caught: unknown) => ({ error: caught }),
      )
      const outcome = { error: own.error, messages, abortable: signal !== undefined }
      const { executable } = own
      // Where nothing but the ranks' agreement is missing, the run begins and ends without JavaScript.
      const native =
        executable === undefined || messages !== undefined || signal !== undefined || profile
          ? undefined
          : calls.runAgreed(call, (begin, end) =>
              ranks.runAgreed?.(executable, { times, uniformBlock }, begin, end),
            )
      const running = native && handled(native.ended)
      const begun = native && handled(native.started)
      const { abortable, alike } = await group.guard(async () =>
        begun === undefined ? calls.agree(call, outcome) : calls.heard(call, 0, await begun),
      )
      return { executable: executable!, abortable, running: alike ? running : undefined }
    }
    const start = async ({ executable, abortable, running }: ReadyRun): Promise<void> => {
      started = true
      if (running !== undefined) said = await running
      else result = await group.runtime.run(executable, { ...execution, abortable })
    }
    const ended = async (run: () => Promise<void>): Promise<ExecutionResult> => {
      try {
        await run()
      } catch (caught) {
        if (!started) throw caught
        error = caught
        // Other ranks may wait for messages that never come. Where memory is shared, the runtime knows, and says `device-lost`.
        const goesOn =
          isGpuError(error, 'aborted') || (group.sharesMemory && !isGpuError(error, 'device-lost'))
        if (!goesOn && program.concernsOtherRanks) {
          group.abandon(error)
          throw error
        }
      }
      const { seconds, clock } = await group.guard(() =>
        said === undefined
          ? calls.agree(call, { error, seconds: result?.seconds, clock: result?.clock }, 1)
          : calls.heard(call, 1, said),
      )
      return { ...result, seconds, clock }
    }
    if (!group.sharesMemory) return ended(() => this.#turns.enqueueReady([program], agreed, start))
    return this.#turns.enqueueAlone([program], () =>
      ended(async () => {
        const ready = await agreed()
        return group.guard(() => start(ready))
      }),
    )
  }
}

/** A run that all ranks are ready for. */
interface ReadyRun {
  readonly executable: Executable
  readonly abortable: boolean
  /** Where it is under way: what the ranks say at its end. */
  readonly running: Promise<readonly RankMessage[] | undefined> | undefined
}

/** Awaited later: a rejection meanwhile is not "unhandled". */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {})
  return promise
}

function runText(label: string, times: number, { parameters, profile }: RunOptions): string {
  const text = `runs "${label}" ${times} times`
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
  timeoutSeconds: 'number',
  profile: 'boolean',
  parameters: 'object',
} as const

function requireSignal(signal: unknown): void {
  if (signal === undefined || (isObject(signal) && 'aborted' in signal && 'addEventListener' in signal))
    return
  throw invalid(`The option signal of run is ${describedValue(signal)}; it must be an AbortSignal.`)
}
