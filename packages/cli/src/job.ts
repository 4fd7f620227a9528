import type { TransportName } from '@tandem-gpu/backend-mpi'
import { type Backend, isGpuError } from '@tandem-gpu/core'
import { allOrNone, type RankMessage, type Runtime } from '@tandem-gpu/core/backend'
import { failureOf, UsageError } from './exit-code.ts'
import { isNotInstalled, notInstalled } from './not-installed.ts'
import { silentProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/**
 * The processes that mpirun started with this one. Every one runs the same command; the first prints and
 * writes files.
 */
export interface Job {
  readonly rank: number
  readonly size: number
  /**
   * The devices of all processes, through this backend in each. `virtual`: processes share a GPU where there
   * are too few. `transport`: how data moves between processes; default: the quickest way that works.
   */
  around(inner: Backend<Runtime>, virtual: boolean, transport?: TransportName): Backend
  /**
   * Why this process has not joined the others, which then do not speak for it; undefined where it has, or
   * has not tried to.
   */
  joinFailure(): Promise<unknown>
  /** What each process says, each text once. */
  gather(message: string): Promise<readonly RankMessage[]>
}

/** The transports of @tandem-gpu/backend-mpi, which is loaded in a job only: the compiler compares them. */
export const rankTransports = Object.keys({
  auto: 1,
  ipc: 1,
  nccl: 1,
  'gpu-aware': 1,
  staged: 1,
} satisfies Record<TransportName, 1>)

/** Variables such as those of `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>

/** How many processes a launcher of MPI has started with this one; undefined where none has. */
export function launchedProcesses(environment: Environment): string | undefined {
  return environment.OMPI_COMM_WORLD_SIZE ?? environment.PMI_SIZE
}

/**
 * Whether this process is the one that prints: the first of those that a launcher has started, or one that
 * none has started.
 */
export function printsForAll(environment: Environment): boolean {
  return Number(environment.OMPI_COMM_WORLD_RANK ?? environment.PMI_RANK ?? 0) === 0
}

/**
 * Undefined where no launcher of MPI has started this process. MPI itself is started by the first use of the
 * job.
 */
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
 * What every process but the first prints: nothing. All of them come to the same results and the same errors.
 */
export function terminalOf(job: Job | undefined, terminal: Terminal): Terminal {
  if (job === undefined || job.rank === 0) return terminal
  return { ...terminal, out() {}, error() {}, interactive: false, progress: silentProgress() }
}

/**
 * Does what may fail in one process alone, such as opening a file: a failure in one is one in all, before
 * anything runs.
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
    // Another process's failure is no driver's.
    throw isGpuError(error, 'driver') ? new UsageError(error.message, 'bad-input') : error
  }
  return prepared
}
