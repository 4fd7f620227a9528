import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An MPI that may be installed here. */
export interface MpiInstallation {
  readonly name: string
  /** Its launcher, as Debian names it. */
  readonly command: string
  /** Options for more ranks than cores, with which waiting ranks yield the cores to the others. */
  readonly options: readonly string[]
  readonly installed: boolean
}

export const openMpi: MpiInstallation = {
  name: 'Open MPI',
  command: 'mpirun.openmpi',
  options: ['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1'],
  installed: starts('mpirun.openmpi'),
}

export const mpich: MpiInstallation = {
  name: 'MPICH',
  command: 'mpirun.mpich',
  options: [],
  installed: starts('mpirun.mpich'),
}

/** For names of suites that are skipped if an MPI is missing. */
export function whereInstalled({ name, command, installed }: MpiInstallation): string {
  return installed ? name : `${name} (skipped: ${command} is not installed)`
}

export interface JobResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

export interface JobOptions {
  readonly ranks: number
  /** A file in `ranks/` next to this file; every rank runs it. */
  readonly program: string
  /** A folder of bundled programs, to run instead of their sources. */
  readonly bundled?: string
  readonly arguments?: readonly string[]
  /** Arguments for the launcher, before the program. */
  readonly launcherOptions?: readonly string[]
  /**
   * A command that starts the program given to it. The launcher starts and watches this command instead of
   * the program.
   */
  readonly starter?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Called with the launcher before it produces output. */
  readonly onStart?: (launcher: ChildProcess) => void
  /** Called with each line of standard output, while the job runs. `killLauncher` ends the launcher alone. */
  readonly onLine?: (line: string, killLauncher: () => void) => void
  /** Called with the whole standard error so far, when more arrives. */
  readonly onError?: (text: string) => void
}

const hooks = fileURLToPath(new URL('./source-hooks.ts', import.meta.url))
/** Every rank of every job compiles the same files, which takes two thirds of a process's start. */
const compiledSources = fileURLToPath(new URL('../../.cache/compiled', import.meta.url))

/**
 * Starts a job and waits for its end. The programs run in the main thread of a process, as MPI requires.
 * Without an MPI, runs the program without a launcher.
 */
export function runJob(mpi: MpiInstallation | undefined, options: JobOptions): Promise<JobResult> {
  const program =
    options.bundled === undefined
      ? [
          ...['--disable-warning=ExperimentalWarning', '--import', hooks],
          fileURLToPath(new URL(`./ranks/${options.program}`, import.meta.url)),
        ]
      : [join(options.bundled, options.program.replace(/\.ts$/, '.mjs'))]
  const launching = mpi
    ? [mpi.command, ...mpi.options, ...(options.launcherOptions ?? []), '-n', String(options.ranks)]
    : []
  launching.push(...(options.starter ?? []))
  const [command, ...before] = [...launching, process.execPath]
  const child = spawn(command!, [...before, ...program, ...(options.arguments ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      FORCE_COLOR: '0',
      NODE_COMPILE_CACHE: options.bundled === undefined ? compiledSources : join(options.bundled, 'compiled'),
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      ...options.environment,
    },
  })
  options.onStart?.(child)
  const start = performance.now()
  let killed = false
  const killLauncher = () => {
    killed = true
    child.kill('SIGKILL')
  }
  const texts = { stdout: '', stderr: '' }
  let partial = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text
    const lines = (partial + text).split('\n')
    partial = lines.pop()!
    for (const line of lines) options.onLine?.(line, killLauncher)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text
    options.onError?.(texts.stderr)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    const end = (exitCode: number | null) =>
      resolve({ exitCode, ...texts, seconds: (performance.now() - start) / 1000 })
    child.on('close', end)
    // Processes that a killed launcher leaves behind may keep its standard output and error open.
    child.on('exit', (exitCode) => {
      if (killed) end(exitCode)
    })
  })
}

function starts(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}
