import cliProgress from 'cli-progress'
import { formatDuration } from './quantity.ts'

/** What a command is doing, and how far it has come. */
export interface Work {
  /** As in `Reading a.npy`. */
  readonly label: string
  /** Absent where the end is not known. */
  readonly total?: number | undefined
  /** What is counted, in the plural, as in `sweeps`; absent where the count says nothing to people. */
  readonly unit?: string | undefined
  readonly done: number
  /** In milliseconds, by `performance.now`. */
  readonly startedAt: number
}

/** Shows the progress of long work, and knows what an interruption would stop. */
export interface Progress {
  /** Begins work of the command, and ends the work before. */
  start(label: string, total?: number, unit?: string): void
  /** Advances the work that `start` began. */
  step(amount: number): void
  /** Sets how much of the work that `start` began is done. */
  reach(done: number): void
  /** Work in between, such as reading a file; the work of `start` goes on when it ends. */
  begin(label: string, total: number): Part
  /** Ends all work, and what is shown of it. It may be called when there is none. */
  stop(): void
  /** From here on the results are handed over, and an interruption comes too late. */
  finish(): void
  readonly finishing: boolean
  /**
   * For a sentence: ` after 500 of 20,000 sweeps`, ` while reading a.npy`, or nothing before the work begins.
   */
  readonly whereabouts: string
}

export interface Part {
  step(amount: number): void
  end(): void
}

/** Where progress is shown. `show` is called when the work changes, and not when it advances. */
interface Display {
  show(current: () => Work | undefined): void
  hide(): void
}

type MutableWork = { -readonly [K in keyof Work]: Work[K] }

class TrackedProgress implements Progress {
  finishing = false
  readonly #display: Display | undefined
  #work: MutableWork | undefined
  readonly #parts: MutableWork[] = []

  constructor(display?: Display) {
    this.#display = display
  }

  get #current(): Work | undefined {
    return this.#parts.at(-1) ?? this.#work
  }

  get whereabouts(): string {
    const work = this.#current
    if (work === undefined) return ''
    const { label, total, unit, done } = work
    if (total !== undefined && unit !== undefined && done > 0)
      return ` after ${counted(done)} of ${counted(total)} ${unit}`
    return ` while ${label[0]!.toLowerCase()}${label.slice(1)}`
  }

  start(label: string, total?: number, unit?: string): void {
    this.#parts.length = 0
    this.#work = { label, total, unit, done: 0, startedAt: performance.now() }
    this.#show()
  }

  step(amount: number): void {
    if (this.#work) this.#work.done += amount
  }

  reach(done: number): void {
    if (this.#work) this.#work.done = done
  }

  begin(label: string, total: number): Part {
    const part: MutableWork = { label, total, done: 0, startedAt: performance.now() }
    this.#parts.push(part)
    this.#show()
    return {
      step(amount) {
        part.done += amount
      },
      end: () => {
        const at = this.#parts.indexOf(part)
        if (at === -1) return
        this.#parts.splice(at, 1)
        this.#show()
      },
    }
  }

  stop(): void {
    this.#parts.length = 0
    this.#work = undefined
    this.#display?.hide()
  }

  finish(): void {
    this.stop()
    this.finishing = true
  }

  #show(): void {
    if (this.#current) this.#display?.show(() => this.#current)
    else this.#display?.hide()
  }
}

/** Progress that nobody sees. */
export const silentProgress = (): Progress => new TrackedProgress()

/** A bar on standard error where it is a terminal; elsewhere one line, after five seconds. */
export function terminalProgress(stream: NodeJS.WriteStream): Progress {
  return new TrackedProgress(stream.isTTY ? bars(stream) : lines((text) => void stream.write(text), [5_000]))
}

/** Lines on standard error at growing intervals, for launchers that pass on what a process prints. */
export function lineProgress(stream: NodeJS.WriteStream): Progress {
  return new TrackedProgress(
    lines((text) => void stream.write(text), [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000]),
  )
}

const counted = (value: number) => value.toLocaleString('en')

/**
 * How much is done, how long it has taken, and how long the rest will take, where that can be told: `37 % 12
 * s, about 20 s left`.
 */
export function progressText({ total, done, startedAt }: Work, now: number): string {
  const seconds = (now - startedAt) / 1e3
  const elapsed = formatDuration(seconds)
  if (total === undefined) return elapsed
  const share = total > 0 ? Math.min(1, done / total) : 1
  const percent = `${Math.floor(share * 100)} %`
  // What the first second says about the rest is worth nothing.
  if (share === 0 || share === 1 || seconds < 1) return `${percent}  ${elapsed}`
  return `${percent}  ${elapsed}, about ${formatDuration((seconds / share) * (1 - share))} left`
}

function bars(stream: NodeJS.WriteStream): Display {
  let bar: cliProgress.SingleBar | undefined
  const hide = () => {
    bar?.stop()
    bar = undefined
  }
  return {
    show(current) {
      hide()
      let work = current()!
      bar = new cliProgress.SingleBar({
        stream,
        format: (options) => {
          // The library draws once more when the work has ended.
          work = current() ?? work
          const { label, total, done } = work
          const drawn =
            total === undefined
              ? ''
              : ` [${cliProgress.Format.BarFormat(total > 0 ? Math.min(1, done / total) : 1, options)}]`
          return `${label}${drawn} ${progressText(work, performance.now())}`
        },
        barCompleteChar: '=',
        barIncompleteChar: ' ',
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
        gracefulExit: false,
        fps: 10,
      })
      bar.start(1, 0)
    },
    hide,
  }
}

/**
 * `after`: milliseconds since the first work to the first line, from that to the second, and so on; the last
 * again and again where there are several.
 */
function lines(write: (text: string) => void, after: readonly number[]): Display {
  let work: (() => Work | undefined) | undefined
  let printed = 0
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    const delay = after[printed] ?? (after.length > 1 ? after.at(-1) : undefined)
    if (delay === undefined) return
    timer = setTimeout(() => {
      const current = work?.()
      if (current === undefined) {
        timer = undefined
        return
      }
      write(`tandem: ${current.label}: ${progressText(current, performance.now())}\n`)
      printed++
      next()
    }, delay)
    timer.unref()
  }
  return {
    show(current) {
      work = current
      if (timer === undefined) next()
    },
    hide() {
      work = undefined
    },
  }
}
