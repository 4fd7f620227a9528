import { GpuError } from '@tandem-gpu/core'

/** What the launcher of the job tells the processes that it starts, through their environment. */
export interface Launch {
  /** For messages: "mpirun of Open MPI". */
  readonly startedBy: string
  /** The MPI that the launcher belongs to, if any. */
  readonly family?: MpiFamily
  readonly size: number
  readonly rank: number
}

export type MpiFamily = 'Open MPI' | 'MPICH' | 'the MPI 5 ABI'

// Slurm comes last, because it sets its variables in all tasks, even if mpirun starts other processes from a
// task.
const launchers: readonly {
  readonly startedBy: string
  readonly family?: MpiFamily
  readonly size: string
  readonly rank: string
}[] = [
  {
    startedBy: 'mpirun of Open MPI',
    family: 'Open MPI',
    size: 'OMPI_COMM_WORLD_SIZE',
    rank: 'OMPI_COMM_WORLD_RANK',
  },
  { startedBy: 'mpiexec of MPICH (Hydra)', family: 'MPICH', size: 'PMI_SIZE', rank: 'PMI_RANK' },
  { startedBy: 'srun of Slurm', size: 'SLURM_STEP_NUM_TASKS', rank: 'SLURM_PROCID' },
]

/**
 * Undefined if no launcher started this process, which is then a job of one rank. Throws `validation` if the
 * launcher's variables do not contain a valid rank and number of ranks.
 */
export function detectLaunch(environment: Readonly<Record<string, string | undefined>>): Launch | undefined {
  for (const { startedBy, family, size, rank } of launchers) {
    const [count, own] = [environment[size], environment[rank]]
    if (count === undefined && own === undefined) continue
    // Slurm sets the rank outside of steps too.
    if (count === undefined && family === undefined) continue
    const launch = { startedBy, ...(family && { family }), size: wholeNumber(count), rank: wholeNumber(own) }
    if (launch.rank < launch.size) return launch
    const shown = (name: string, value: string | undefined) =>
      value === undefined ? `${name} is not set` : `${name} is ${JSON.stringify(value)}`
    throw new GpuError(
      'validation',
      `The environment does not give this process a valid rank and number of ranks: ${shown(size, count)}, and ${shown(rank, own)}. Start the job with ${startedBy.split(' ')[0]}, or unset both variables.`,
    )
  }
  return undefined
}

/** NaN for anything but decimal digits. */
function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
}
