import { abortedError, type ExecutionOptions, type ExecutionResult, type Span } from '../backend/execution.ts'
import { GpuError } from '../errors.ts'
import type { PlanCommand } from '../plan/plan.ts'
import { seededRandom } from './random.ts'
import { RandomOrder } from './random-order.ts'
import { executeCommand, type PlanMemory } from './reference-command.ts'

/** Kernels hold the thread at most about this long before pending events get a turn. */
export const sliceMilliseconds = 20

/** Runs a plan of one process command by command, in a random order that its edges allow. */
export async function executeInRandomOrder(
  memory: PlanMemory,
  options: ExecutionOptions,
  seed: number,
): Promise<ExecutionResult> {
  const { plan } = memory
  const { times, signal, profile = false, timeoutSeconds = Number.POSITIVE_INFINITY } = options
  const spans: Span[] = []
  const start = performance.now()
  // Kernels hold JavaScript's thread, so that no timer ends them.
  const look = () => {
    if (performance.now() - start > timeoutSeconds * 1000)
      throw new GpuError('timeout', `The run took longer than ${timeoutSeconds} s.`)
  }
  let sliceEnd = start + sliceMilliseconds
  const order = new RandomOrder(plan, times, seededRandom(seed))
  for (let next = order.take(); next !== undefined; next = order.take()) {
    const command = plan.commands[next.command]!
    const began = performance.now()
    look()
    executeCommand(memory, command as PlanCommand, look)
    if (profile && next.repetition === times - 1)
      spans.push({
        command: next.command,
        repetition: next.repetition,
        device: command.device,
        startSeconds: (began - start) / 1000,
        endSeconds: (performance.now() - start) / 1000,
      })
    if (performance.now() > sliceEnd) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      sliceEnd = performance.now() + sliceMilliseconds
    }
    if (signal?.aborted) order.stop()
  }
  if (signal?.aborted && order.completed < times) throw abortedError(signal, order.completed, times)
  const seconds = (performance.now() - start) / 1000
  return { seconds, clock: 'host', ...(profile && { spans }) }
}
