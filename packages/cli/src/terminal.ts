import { createColors } from 'picocolors'
import { type Progress, silentProgress } from './progress.ts'
import { lineProgress, terminalProgress } from './progress-display.ts'

type Colors = ReturnType<typeof createColors>

/** The terminal of a command, an interface so that commands run in tests as in a shell. */
export interface Terminal {
  /** Results. */
  out(text: string): void
  /** Errors and remarks. */
  error(text: string): void
  /** Whether standard output is a terminal. */
  readonly interactive: boolean
  readonly colors: Colors
  readonly progress: Progress
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal
}

/**
 * The terminal of this process. Colours follow NO_COLOR and FORCE_COLOR (https://no-color.org) and go to
 * terminals only. `launched` is true if an MPI launcher forwards the output. Open MPI's launcher gives its
 * processes a terminal, wherever its own output goes.
 */
export function processTerminal(signal: AbortSignal, launched = false): Terminal {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  const interactive = process.stdout.isTTY === true && !launched
  return {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    interactive,
    colors: createColors(!NO_COLOR && (FORCE_COLOR ? FORCE_COLOR !== '0' : interactive && TERM !== 'dumb')),
    progress: (launched ? lineProgress : terminalProgress)(process.stderr),
    signal,
  }
}

/**
 * Begins to hand over results. Throws if the command was interrupted before; from now on, an interruption
 * comes too late.
 */
export function beginHandover({ signal, progress }: Terminal): void {
  signal.throwIfAborted()
  progress.finish()
}

/** A terminal that records what has been printed on each stream so far. */
export interface RecordedTerminal extends Terminal {
  readonly stdout: string
  readonly stderr: string
}

/**
 * A terminal without colours, on which progress is not shown, for running commands in a test. `signal` aborts
 * them; by default, nothing does.
 */
export function recordedTerminal(
  signal: AbortSignal = new AbortController().signal,
  progress: Progress = silentProgress(),
): RecordedTerminal {
  const said = { stdout: '', stderr: '' }
  return {
    out(text) {
      said.stdout += text
    },
    error(text) {
      said.stderr += text
    },
    interactive: false,
    colors: createColors(false),
    progress,
    signal,
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
  }
}
