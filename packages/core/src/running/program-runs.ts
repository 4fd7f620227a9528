import type { ExecutionOptions } from '../backend/execution.ts'
import { requireCount } from '../buffers/view.ts'
import { describedValue, isObject } from '../described-value.ts'
import { GpuError, invalid, isGpuError } from '../errors.ts'
import type { GroupState } from '../group/group-state.ts'
import type { ProgramSpan, RunOptions, RunProgress, RunResult } from '../group/queue.ts'
import { handled } from '../group/turns.ts'
import { patchedUniformBlock } from '../kernels/uniform-block.ts'
import { requireOptions } from '../options.ts'
import { RankedRuns } from '../ranks/ranked-runs.ts'
import { LocalRuns, type RunMode } from './local-runs.ts'
import { type Program, RecordedProgram } from './program.ts'

/** Parts of a run that reports its progress. */
const progressParts = 20

/** How `Queue.run` runs programs: whole or in parts, in one process or on all ranks. */
export class ProgramRuns {
  readonly #group: GroupState
  readonly #mode: RunMode

  constructor(group: GroupState) {
    this.#group = group
    this.#mode = group.calls === undefined ? new LocalRuns(group) : new RankedRuns(group, group.calls)
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

  /** Issues all parts at once, so that the devices never wait and no other call comes between them. */
  async #runInParts(
    program: Program,
    times: number,
    onProgress: (progress: RunProgress) => void,
    { profile, signal, ...options }: RunOptions,
  ): Promise<RunResult> {
    requireSignal(signal)
    // A part that takes too long ends those after it.
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
          ...options,
          signal: ended.signal,
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
            `The run was aborted after ${end(part)} to ${end(part + 1)} of ${times} repetitions.`,
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
        `The program of run is ${describedValue(program)}; it must be a program that record returned.`,
      )
    if (program.group !== group)
      throw invalid(`A program of another group cannot run in group "${group.label}".`)
    requireSignal(options.signal)
    requireCount(times, `The repetition count of program "${program.label}"`)
    if (program.destroyed) throw invalid(`Program "${program.label}" is destroyed.`)
    const { signal, stopKernels, profile, parameters, timeoutSeconds } = options
    if (timeoutSeconds !== undefined) group.requireTimeLimit(timeoutSeconds, program.label)
    if (stopKernels && group.calls !== undefined)
      throw new GpuError(
        'unsupported',
        'Over several processes a signal takes effect only between repetitions, so stopKernels cannot be used.',
      )
    const { commands, uniformBlock } = program.plan
    requireHostMemory(program, group.rank)
    const execution: ExecutionOptions = {
      times,
      signal,
      stopsKernels: stopKernels && signal !== undefined ? true : undefined,
      profile,
      uniformBlock:
        parameters === undefined
          ? undefined
          : patchedUniformBlock(uniformBlock, program.parameters, parameters, program.label),
    }
    const text = runText(program.label, times, options)
    const { seconds, clock, spans } = await this.#mode.run({ program, execution, text, timeoutSeconds })
    if (spans === undefined) return { seconds, clock, repetitions: times }
    const named = spans.map((span): ProgramSpan => {
      const { label, kind } = commands[span.command]!
      return { ...span, label, kind }
    })
    return { seconds, clock, repetitions: times, spans: named }
  }
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
        `The memory of host buffer "${buffer.label}", which program "${label}" uses, is detached: its ArrayBuffer was transferred.`,
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
