import { type SpawnOptions, spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'
import { testBackend } from './tandem.ts'

export interface ProcessResult {
  readonly exit: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  /** Standard error without lines of progress. */
  readonly stderr: string
}

export interface StartedProcess {
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  /** Resolves once one of the streams contains `text`, or the process has ended. */
  says(text: string): Promise<void>
  readonly ended: Promise<ProcessResult>
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundled command. */
    programs: string
  }
}

const bin = `${inject('programs')}/bin.mjs`
/** Every process compiles the same files, which takes half of its start-up time. */
const compiled = `${inject('programs')}/compiled`

/**
 * Starts `tandem` as a process of its own, on the backend under test. `shell` is a line of bash that ends in
 * `"$@"`, the command itself.
 */
export function startTandem(
  args: readonly string[],
  { shell = 'exec "$@"', ...options }: SpawnOptions & { shell?: string } = {},
): StartedProcess {
  const command = [process.execPath, bin, ...args]
  return startProcess('bash', ['-c', shell, 'bash', ...command], {
    ...options,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, TANDEM_BACKEND: testBackend, ...options.env },
  })
}

/** Lines of progress, which a command prints only if the machine is slow. */
const progressLines = /^tandem: [^\n:]+( …|: (\d+ % {2})?\d+ (s|min)(, about [^\n]+ left)?)\n/gm

export function startProcess(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): StartedProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  const ended = new Promise<ProcessResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exit, signal) =>
      resolve({ exit, signal, stdout: said.stdout, stderr: said.stderr.replace(progressLines, '') }),
    )
  })
  return {
    pid: child.pid!,
    kill: (signal) => void child.kill(signal),
    async says(text) {
      while (
        !(said.stdout + said.stderr).includes(text) &&
        child.exitCode === null &&
        child.signalCode === null
      )
        await setTimeout(20)
    },
    ended,
  }
}
