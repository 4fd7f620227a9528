/* Runs and disturbs jobs of several ranks, and checks that nothing is left once they have ended. */
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { transportNames } from '../transport.ts'
import { type MpiInstallation, openMpi, runJob } from './launchers.ts'

const named = spawnSync('mpirun', ['--version'], { encoding: 'utf8' }).stdout ?? ''
/** The first in PATH if that is Open MPI's, otherwise Debian's name. Allows more ranks than cores. */
const launcher: MpiInstallation = {
  ...openMpi,
  command: named.includes('Open MPI') ? 'mpirun' : openMpi.command,
  options: [...openMpi.options, '--bind-to', 'none'],
}

/** The transports that the argument names, separated by commas; by default, those that work here. */
export async function transportsOf(
  argument: string | undefined,
  inner: string,
  ranks: number,
): Promise<readonly string[]> {
  if (argument) return argument.split(',')
  const transports: string[] = []
  for (const transport of transportNames.filter((name) => name !== 'auto')) {
    const { text } = await runRankJob({ inner, ranks, transport, seed: 1, role: 'work', rounds: 1 })
    if (!/^rank \d+ ends: unsupported: /m.test(text)) transports.push(transport)
  }
  return transports
}

/**
 * Software GPUs share their CPU with whatever else runs there, so they may be slower than expected by this
 * factor.
 */
export const patienceWith = (inner: string) => (inner === 'cuda' ? 1 : 30)
/** A job that takes longer is killed and counts as a problem. */
const mostSeconds = 120

export interface RankJob {
  /** A backend of inner-backend.ts. */
  readonly inner: string
  readonly transport: string
  readonly ranks: number
  readonly seed: number
  /** A role of ranks/work.ts. */
  readonly role: string
  readonly rounds?: number
  readonly environment?: Readonly<Record<string, string>>
  /**
   * Called with each line while the job runs. `processes` contains the ranks that have reported theirs.
   */
  readonly onLine?: (line: string, job: Disturbance) => void
}

export interface Disturbance {
  readonly processes: ReadonlyMap<number, number>
  /**
   * Kills the process of a rank from outside, without warning. The time that the job takes to end is measured
   * from here.
   */
  kill(rank: number): void
  /** Ends the job as a user would. */
  interrupt(): void
}

export interface RankJobResult {
  readonly exitCode: number | null
  /** What the ranks and the launcher have printed. */
  readonly text: string
  /** From the disturbance, or the start if there is none, to the end of the launcher. */
  readonly seconds: number
  readonly disturbed: boolean
  readonly problems: string[]
}

/** Runs a job to its end; no process of it is left afterwards. */
export async function runRankJob(job: RankJob): Promise<RankJobResult> {
  const processes = new Map<number, number>()
  const problems: string[] = []
  let from = performance.now()
  let disturbed = false
  let interrupt = () => {}
  let killLauncher = () => {}
  const disturb = (act: () => void) => {
    from = performance.now()
    disturbed = true
    act()
  }
  const control: Disturbance = {
    processes,
    kill: (rank) => disturb(() => signal(processes.get(rank)!, 'SIGKILL')),
    interrupt: () => disturb(() => interrupt()),
  }
  const onLine = (line: string) => {
    const [, rank, process] = /^rank (\d+) is process (\d+)$/.exec(line) ?? []
    if (process !== undefined) processes.set(Number(rank), Number(process))
    job.onLine?.(line, control)
  }
  const patience = patienceWith(job.inner)
  const guard = setTimeout(
    () => {
      problems.push(`the job has not ended after ${mostSeconds * patience} s`)
      killLauncher()
      for (const process of processes.values()) signal(process, 'SIGKILL')
    },
    mostSeconds * patience * 1000,
  )
  const { exitCode, stdout, stderr } = await runJob(launcher, {
    ranks: job.ranks,
    program: 'work.ts',
    arguments: [job.inner, job.transport, String(job.seed), job.role, String(job.rounds ?? 3)],
    environment: {
      // A GPU for each rank, as ipc and nccl ask for, on a machine with more.
      ...(job.inner === 'cuda' && { CUDA_VISIBLE_DEVICES: [...Array(job.ranks).keys()].join() }),
      ...job.environment,
    },
    onStart(child) {
      interrupt = () => void child.kill('SIGINT')
      killLauncher = () => void child.kill('SIGKILL')
    },
    onLine,
    // Tandem reports what it waits for on standard error.
    onError: (text) => onLine(text.split('\n').at(-2) ?? ''),
  })
  const seconds = (performance.now() - from) / 1000
  clearTimeout(guard)
  // The launcher may end before the processes that it has killed.
  for (let waited = 0; [...processes.values()].some(isAlive); waited++) {
    if (waited === 100 * patience) {
      const left = [...processes].filter(([, process]) => isAlive(process))
      problems.push(
        `still there ${10 * patience} s after the job: ${left.map(([rank]) => `rank ${rank}`).join(', ')}`,
      )
      for (const [, process] of left) signal(process, 'SIGKILL')
      break
    }
    await sleep(100)
  }
  return { exitCode, text: `${stdout}${stderr}`, seconds, disturbed, problems }
}

function signal(process_: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(process_, name)
  } catch {
    return false
  }
}

const isAlive = (process_: number) => signal(process_, 0)

/** The line of a job's text that names the rank that ended it; undefined if there is none. */
export function lineNaming(rank: number, text: string): string | undefined {
  return text
    .split('\n')
    .find((line) => new RegExp(`\\brank ${rank}\\b`).test(line) && !/^rank \d+( is|:)/.test(line))
}

/**
 * The memory in use on each GPU, in MiB, and the processes that compute there; undefined without NVIDIA's
 * tools.
 */
export interface GpuUse {
  readonly mebibytes: readonly number[]
  readonly processes: readonly string[]
}

export function gpuUse(): GpuUse | undefined {
  // Other programs may use the GPUs that are not visible here.
  const visible = process.env.CUDA_VISIBLE_DEVICES
  const gpus = visible ? [`--id=${visible}`] : []
  const query = (what: string) => {
    const { status, stdout } = spawnSync('nvidia-smi', [what, '--format=csv,noheader,nounits', ...gpus], {
      encoding: 'utf8',
    })
    return status === 0 ? stdout.split('\n').filter(Boolean) : undefined
  }
  const mebibytes = query('--query-gpu=memory.used')?.map(Number)
  const processes = query('--query-compute-apps=gpu_uuid,pid')
  return mebibytes && processes && { mebibytes, processes }
}

/**
 * What GPUs hold that they did not hold `before`. The driver has 15 s to free what killed processes held.
 */
export async function heldSince(before: GpuUse | undefined): Promise<string[]> {
  if (before === undefined) return []
  for (let waited = 0; ; waited++) {
    const after = gpuUse()!
    const held = after.mebibytes.flatMap((used, i) =>
      // The memory that the driver itself uses may change by this much between two readings.
      used - before.mebibytes[i]! > 16 ? `GPU ${i} holds ${used - before.mebibytes[i]!} MiB more` : [],
    )
    const busy = after.processes.filter((process) => !before.processes.includes(process))
    if (busy.length > 0) held.push(`processes are left on GPUs: ${busy.join('; ')}`)
    if (held.length === 0 || waited === 30) return held
    await sleep(500)
  }
}
