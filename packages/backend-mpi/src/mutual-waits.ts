/** A call that this rank has made and that others have yet to make. */
export interface Wait {
  readonly group: number
  readonly key: number
  /** What the call does, after "rank 1 (process 4711 on host)". */
  readonly what: string
}

/** What a rank that has waited too long tells the others. */
export interface WaitReport {
  readonly waits: readonly Wait[]
  /** Of each group, the last key of a call. */
  readonly called: readonly (readonly [group: number, key: number])[]
}

interface TimedWait extends Wait {
  readonly since: number
}

/**
 * Notices ranks that wait for each other: one has made a call, of a group or of an opening, that the other
 * has not made, and the other way round, and neither comes. Within a group such calls are compared; between
 * groups there is nothing to compare, since programs may work in several at once, so only a timeout detects
 * them, once both ranks have waited that long.
 */
export class MutualWaits {
  readonly #milliseconds: number
  readonly #now: () => number
  readonly #called = new Map<number, number>()
  readonly #waits = new Set<TimedWait>()
  /** How many runs of each group have not ended here. */
  readonly #runs = new Map<number, number>()

  constructor(milliseconds: number, now = () => performance.now()) {
    this.#milliseconds = milliseconds
    this.#now = now
  }

  /** Notes a call, whose promise settles once all ranks have made it. */
  call<T>(group: number, key: number, what: string, answer: Promise<T>): Promise<T> {
    this.#called.set(group, Math.max(key, this.#called.get(group) ?? key))
    const wait: TimedWait = { group, key, what, since: this.#now() }
    this.#waits.add(wait)
    const over = () => this.#waits.delete(wait)
    answer.then(over, over)
    return answer
  }

  /** Until `run` ends, this rank is late for no call of the group: it works. */
  works(group: number, run: Promise<unknown>): void {
    this.#runs.set(group, (this.#runs.get(group) ?? 0) + 1)
    const over = () => {
      const left = this.#runs.get(group)! - 1
      if (left > 0) this.#runs.set(group, left)
      else this.#runs.delete(group)
    }
    run.then(over, over)
  }

  /** The group makes no more calls. */
  forget(group: number): void {
    this.#called.delete(group)
  }

  /** For the other ranks; undefined where this rank has waited for nothing too long. */
  report(): WaitReport | undefined {
    const waits = this.#long().map(({ group, key, what }): Wait => ({ group, key, what }))
    return waits.length === 0 ? undefined : { waits, called: [...this.#made()] }
  }

  /**
   * A call that the rank of the report has not made, with one of its own that this rank has not made;
   * undefined where both may yet go on.
   */
  conflict(report: WaitReport): { readonly own: Wait; readonly other: Wait } | undefined {
    const calledThere = new Map(report.called)
    const missing = (called: ReadonlyMap<number, number>, { group, key }: Wait) =>
      (called.get(group) ?? -1) < key
    const own = this.#long().find((wait) => missing(calledThere, wait))
    const calledHere = this.#made()
    const other = report.waits.find((wait) => missing(calledHere, wait))
    return own && other && { own, other }
  }

  /** The last key of each group that others may expect of this rank. */
  #made(): Map<number, number> {
    const made = new Map(this.#called)
    for (const group of this.#runs.keys()) made.set(group, Number.MAX_SAFE_INTEGER)
    return made
  }

  #long(): TimedWait[] {
    const latest = this.#now() - this.#milliseconds
    return [...this.#waits].filter(({ since }) => since <= latest)
  }
}
