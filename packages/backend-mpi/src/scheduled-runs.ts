import type { ExecutionOptions, NativeAccess } from '@tandem-gpu/core/backend'
import type { InnerRuntime } from './message-memory.ts'
import type { MpiExecutable } from './mpi-executable.ts'
import { MpiRuns, type RunningRank, type Schedule } from './mpi-runs.ts'

/** Runs on devices that exchange data with those of other ranks through messages of MPI. */
export class ScheduledRuns extends MpiRuns {
  protected readonly clock = 'host'
  protected readonly skipsWork = true
  protected readonly followsTransfers: boolean = false
  readonly #native: NativeAccess | undefined

  constructor(rank: RunningRank, inner: InnerRuntime, native: NativeAccess | undefined) {
    super(rank, inner)
    this.#native = native
  }

  protected override limitOf({ timeoutSeconds }: ExecutionOptions): number | undefined {
    return timeoutSeconds
  }

  protected override async begin(
    executable: MpiExecutable,
    { profile, uniformBlock, timeoutSeconds }: ExecutionOptions,
  ): Promise<Schedule> {
    const { alone, nodes, segments } = executable
    const native = this.#native
    if (profile || alone || timeoutSeconds !== undefined || native === undefined)
      return { nodes, launchers: [] }
    try {
      const launchers = segments.map((segment) => native.launcher(segment.executable, uniformBlock))
      return { nodes, launchers: await Promise.all(launchers) }
    } catch (error) {
      this.rank.leave(error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  protected override goesOn(_: unknown): boolean {
    return false
  }

  protected override fail({ alone }: MpiExecutable, run: number, error: unknown): void {
    const { session, group, leave } = this.rank
    if (alone) session.addon.endRun(group, run)
    else leave(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Runs with an MPI that accesses device memory itself. Its messages are not ordered after reads and writes of
 * the inner backend, so runs must wait for these.
 */
export class AddressedRuns extends ScheduledRuns {
  protected override readonly followsTransfers = true
}
