import type { Executable, ExecutionOptions, ExecutionResult, Runtime, Span } from './backend.ts'
import { GpuError } from './errors.ts'
import type { SegmentedPlan } from './host-segments.ts'

/**
 * Runs a plan that holds exchanges: a loop on the host over its segments. An exchange starts when what it waits for is done,
 * while other segments keep running; a repetition starts when all of the one before it is done.
 */
export async function runSegments(
  runtime: Runtime,
  { segments, exchanges }: SegmentedPlan,
  executables: readonly Executable[],
  options: ExecutionOptions,
): Promise<ExecutionResult> {
  const { times, signal, profile = false, uniformBlock } = options
  const start = performance.now()
  let spans: Span[] | undefined
  for (let repetition = 0; repetition < times; repetition++) {
    if (signal?.aborted) throw abortedError(signal, repetition, times)
    const segmentRuns: Promise<void>[] = []
    const exchangeRuns: Promise<void>[] = []
    const profiled = profile && repetition === times - 1
    if (profiled) spans = []
    const issue = async (segment: number) => {
      const offsetSeconds = (performance.now() - start) / 1000
      const result = await runtime.run(executables[segment]!, {
        times: 1,
        ...(profiled && { profile }),
        ...(uniformBlock && { uniformBlock }),
      })
      for (const span of result.spans ?? [])
        spans!.push({
          ...span,
          command: segments[segment]!.originalIndex[span.command]!,
          repetition,
          startSeconds: span.startSeconds + offsetSeconds,
          endSeconds: span.endSeconds + offsetSeconds,
        })
    }
    const perform = async (position: number) => {
      const { command, segments: needed, exchanges: earlier } = exchanges[position]!
      await Promise.all([...needed.map((i) => segmentRuns[i]), ...earlier.map((i) => exchangeRuns[i])])
      const startSeconds = (performance.now() - start) / 1000
      await command.perform(repetition)
      if (!profiled) return
      const endSeconds = (performance.now() - start) / 1000
      spans!.push({ command: command.index, repetition, device: command.device, startSeconds, endSeconds })
    }
    let segment = 0
    try {
      for (let gate = -1; gate < exchanges.length; gate++) {
        if (gate >= 0) await exchangeRuns[gate]
        for (; segments[segment]?.gate === gate; segment++) segmentRuns.push(handled(issue(segment)))
        // All segments an exchange depends on have gates below its own position.
        if (gate + 1 < exchanges.length) exchangeRuns.push(handled(perform(gate + 1)))
      }
    } finally {
      await Promise.allSettled([...segmentRuns, ...exchangeRuns])
    }
    await Promise.all([...segmentRuns, ...exchangeRuns])
  }
  return { seconds: (performance.now() - start) / 1000, clock: 'host', ...(spans && { spans }) }
}

/** Awaited later: a rejection meanwhile is not "unhandled". */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {})
  return promise
}

export function abortedError(signal: AbortSignal, completed: number, times: number): GpuError {
  return new GpuError('aborted', `The run is aborted after ${completed} of ${times} repetitions.`, {
    cause: signal.reason,
  })
}
