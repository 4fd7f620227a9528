/** The current work of a command, and how much of it is done. */
export interface Work {
  /** For example `Reading a.npy`. */
  readonly label: string
  /** Absent if the amount is not known. */
  readonly total?: number | undefined
  /** The unit of the count, in the plural, such as `sweeps`; absent if the count means nothing to users. */
  readonly unit?: string | undefined
  readonly done: number
  /** In milliseconds, by `performance.now`. */
  readonly startedAt: number
}

/** Shows the progress of long work, and describes the work that an interruption would stop. */
export interface Progress {
  /** Begins work of the command, and ends the previous work. */
  start(label: string, total?: number, unit?: string): void
  /** Advances the work that `start` began. */
  step(amount: number): void
  /** Sets how much of the work that `start` began is done. */
  reach(done: number): void
  /** Begins a part of the work, such as reading a file. The work of `start` continues when the part ends. */
  begin(label: string, total: number): Part
  /** Ends all work and its display. May be called when there is none. */
  stop(): void
  /**
   * Ends all work for good: nothing is displayed any more. The results are handed over, so an interruption
   * comes too late, or the command was interrupted.
   */
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

/**
 * A display of progress. `show` is called when the work changes, not when it advances; `current` returns the
 * work as it is then, or undefined once it has ended.
 */
export interface Display {
  show(work: Work, current: () => Work | undefined): void
  hide(): void
}

type MutableWork = { -readonly [K in keyof Work]: Work[K] }

export class TrackedProgress implements Progress {
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
      return ` after ${grouped(done)} of ${grouped(total)} ${unit}`
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
    if (this.#current && !this.finishing) this.#display?.show(this.#current, () => this.#current)
    else this.#display?.hide()
  }
}

/** Progress that is not displayed. */
export const silentProgress = (): Progress => new TrackedProgress()

const grouped = (value: number) => value.toLocaleString('en')
