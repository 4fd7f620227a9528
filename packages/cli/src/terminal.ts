import { createColors } from 'picocolors'
import { type Progress, silentProgress } from './progress.ts'
import { lineProgress, terminalProgress } from './progress-display.ts'

type Colors = ReturnType<typeof createColors>

/** Where a command prints, so that commands run in tests as they run in a shell. */
export interface Terminal {
  /** Results. */
  out(text: string): void
  /** Errors and remarks. */
  error(text: string): void
  /** True where standard output is a terminal. */
  readonly interactive: boolean
  readonly colors: Colors
  readonly progress: Progress
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal
}

/**
 * The terminal of this process. Colours follow NO_COLOR and FORCE_COLOR (https://no-color.org) and go to
 * terminals only. `launched`: a launcher of MPI passes on what is printed. Open MPI's gives its processes a
 * terminal of its own, whatever its own output goes to.
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
 * Begins to hand over results: throws where the command was interrupted before, and from here on an
 * interruption comes too late.
 */
export function beginHandover({ signal, progress }: Terminal): void {
  signal.throwIfAborted()
  progress.finish()
}

/** A terminal that records what is printed: so far, on each stream. */
export interface RecordedTerminal extends Terminal {
  readonly stdout: string
  readonly stderr: string
}

/**
 * A terminal without colours, on which progress is not shown, for running commands in a test. `signal` aborts
 * them. Default: one that never does.
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
