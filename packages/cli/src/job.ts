import type { TransportName } from '@tandem-gpu/backend-mpi'
import { type Backend, isGpuError } from '@tandem-gpu/core'
import { allOrNone, type RankMessage, type Runtime } from '@tandem-gpu/core/backend'
import { failureOf, UsageError } from './exit-code.ts'
import { isNotInstalled, notInstalled } from './not-installed.ts'
import { silentProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/**
 * The processes that mpirun started with this one. Each runs the same command; the first one prints and
 * writes files.
 */
export interface Job {
  readonly rank: number
  readonly size: number
  /**
   * The devices of all processes, through this backend in each. With `virtual`, processes share a GPU if
   * there are too few. `transport` is how data moves between processes; by default, the fastest way that
   * works.
   */
  around(inner: Backend<Runtime>, virtual: boolean, transport?: TransportName): Backend
  /**
   * The reason why this process has not joined the others, so that they do not print for it; undefined if it
   * has joined or has not tried to.
   */
  joinFailure(): Promise<unknown>
  /** The texts of all processes, without duplicates. */
  gather(message: string): Promise<readonly RankMessage[]>
}

/**
 * The transports of @tandem-gpu/backend-mpi, which is loaded only in a job. The compiler checks that this
 * list agrees with it.
 */
export const rankTransports = Object.keys({
  auto: 1,
  ipc: 1,
  nccl: 1,
  'gpu-aware': 1,
  staged: 1,
} satisfies Record<TransportName, 1>)

/** Variables such as those of `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>

/**
 * The number of processes that an MPI launcher has started, including this one; undefined without a launcher.
 */
export function launchedProcesses(environment: Environment): string | undefined {
  return environment.OMPI_COMM_WORLD_SIZE ?? environment.PMI_SIZE
}

/**
 * Whether this process prints: it is the first of those that a launcher has started, or was not started by a
 * launcher.
 */
export function printsForAll(environment: Environment): boolean {
  return Number(environment.OMPI_COMM_WORLD_RANK ?? environment.PMI_RANK ?? 0) === 0
}

/** Undefined if no MPI launcher has started this process. The first use of the job initializes MPI. */
export async function openJob(
  environment: Environment,
  load = () => import('@tandem-gpu/backend-mpi'),
): Promise<Job | undefined> {
  const launched = launchedProcesses(environment)
  if (launched === undefined) return undefined
  const { detectLaunch, joinFailure, mpi, mpiSession } = await load().catch((error) => {
    if (!isNotInstalled(error, '@tandem-gpu/backend-mpi')) throw error
    const { remedy } = notInstalled('@tandem-gpu/backend-mpi')
    throw new UsageError(
      `mpirun started ${launched} processes, but the package @tandem-gpu/backend-mpi, which connects them, is not installed next to the tandem command. ${remedy}`,
    )
  })
  const { rank, size } = detectLaunch(environment)!
  return {
    rank,
    size,
    around: (inner, virtual, transport) => mpi(inner, { virtual, transport }),
    joinFailure,
    gather: async (message) => (await mpiSession()).gather(message),
  }
}

/**
 * The terminal of every process but the first, which prints nothing: all processes have the same results and
 * errors.
 */
export function terminalOf(job: Job | undefined, terminal: Terminal): Terminal {
  if (job === undefined || job.rank === 0) return terminal
  return { ...terminal, out() {}, error() {}, interactive: false, progress: silentProgress() }
}

/**
 * Runs an action that may fail in only one process, such as opening a file. A failure in one process is a
 * failure in all, before anything runs.
 */
export async function prepareOnAllRanks<T>(job: Job | undefined, prepare: () => Promise<T>): Promise<T> {
  if (job === undefined) return prepare()
  const prepared = prepare()
  const said = prepared.then(
    () => null,
    (error: unknown) => {
      throw new Error(failureOf(error).message)
    },
  )
  try {
    await allOrNone(() => said, { say: (message) => job.gather(message) })
  } catch (error) {
    await prepared
    // A failure of another process is not a driver error.
    throw isGpuError(error, 'driver') ? new UsageError(error.message, 'bad-input') : error
  }
  return prepared
}
