import { abortedError, type ExecutionOptions, type ExecutionResult } from '../backend/execution.ts'
import { GpuError } from '../errors.ts'
import type { GroupState } from '../group/group-state.ts'
import { handled } from '../group/turns.ts'
import type { RecordedProgram } from './program.ts'

/** A checked call of `Queue.run`. */
export interface ProgramRun {
  readonly program: RecordedProgram
  readonly execution: ExecutionOptions
  /** A description of the call, which ranks compare. */
  readonly text: string
  readonly timeoutSeconds: number | undefined
}

/** How the programs of a group run: `LocalRuns` in one process, `RankedRuns` over several. */
export interface RunMode {
  run(run: ProgramRun): Promise<ExecutionResult>
}

/** Runs the programs of a group of one process. */
export class LocalRuns implements RunMode {
  readonly #group: GroupState

  constructor(group: GroupState) {
    this.#group = group
  }

  async run({ program, execution, timeoutSeconds }: ProgramRun): Promise<ExecutionResult> {
    const { signal, times, stopsKernels } = execution
    if (signal?.aborted) throw abortedError(signal, 0, times)
    if (times === 0 || program.plan.commands.length === 0) return { seconds: 0, clock: 'host' }
    const { turns } = this.#group
    const earlier = turns.pending
    // Preparation may run before the turn: it only allocates, and changes nothing that earlier work accesses.
    const preparation = handled(program.prepared())
    const ready = (turn: Promise<void>) => turn.then(() => preparation)
    return turns.enqueueReady([program], ready, (executable) => {
      if (signal?.aborted) throw abortedError(signal, 0, times)
      if (stopsKernels && !executable.stoppable)
        throw new GpuError(
          'unsupported',
          `Program "${program.label}" has kernels that cannot be stopped, which stopKernels requires.`,
        )
      const limit = executable.stoppable ? timeoutSeconds : undefined
      const running = this.#group.runtime.run(executable, { ...execution, timeoutSeconds: limit })
      if (timeoutSeconds === undefined) return running
      return this.#group.withinSeconds(running, timeoutSeconds, earlier, program.label, limit !== undefined)
    })
  }
}
