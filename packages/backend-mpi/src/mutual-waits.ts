/** A call that this rank has made and that others have yet to make. */
export interface Wait {
  readonly group: number
  readonly key: number
  /** The predicate of a sentence about the call, to follow "rank 1 (process 4711 on host)". */
  readonly what: string
}

/** The report that a rank sends to the others when it has waited too long. */
export interface WaitReport {
  readonly waits: readonly Wait[]
  /** For each group, the last key of a call. */
  readonly called: readonly (readonly [group: number, key: number])[]
}

interface TimedWait extends Wait {
  readonly since: number
}

/**
 * Detects two ranks that wait for each other: each has made a call, for a group or an opening, that the other
 * has not made. Within a group, the calls of ranks are compared. Between groups they cannot be compared,
 * since programs may use several groups at once, so such a wait is detected only when both ranks have waited
 * for the given time.
 */
export class MutualWaits {
  readonly #milliseconds: number
  readonly #now: () => number
  readonly #called = new Map<number, number>()
  readonly #waits = new Set<TimedWait>()
  /** The number of runs of each group that have not ended here. */
  readonly #runs = new Map<number, number>()

  constructor(milliseconds: number, now = () => performance.now()) {
    this.#milliseconds = milliseconds
    this.#now = now
  }

  /** Records a call, whose promise settles once all ranks have made it. */
  call<T>(group: number, key: number, what: string, answer: Promise<T>): Promise<T> {
    this.#called.set(group, Math.max(key, this.#called.get(group) ?? key))
    const wait: TimedWait = { group, key, what, since: this.#now() }
    this.#waits.add(wait)
    const over = () => this.#waits.delete(wait)
    answer.then(over, over)
    return answer
  }

  /**
   * Records that this rank is busy until `run` ends, so that it does not count as late for any call of the
   * group.
   */
  works(group: number, run: Promise<unknown>): void {
    this.#runs.set(group, (this.#runs.get(group) ?? 0) + 1)
    const over = () => {
      const left = this.#runs.get(group)! - 1
      if (left > 0) this.#runs.set(group, left)
      else this.#runs.delete(group)
    }
    run.then(over, over)
  }

  /** Forgets a group that makes no more calls. */
  forget(group: number): void {
    this.#called.delete(group)
  }

  /** The report for the other ranks; undefined if no wait of this rank is too long. */
  report(): WaitReport | undefined {
    const waits = this.#long().map(({ group, key, what }): Wait => ({ group, key, what }))
    return waits.length === 0 ? undefined : { waits, called: [...this.#made()] }
  }

  /**
   * A pair of calls: one of this rank that the reporting rank has not made, and one of the reporting rank
   * that this rank has not made. Undefined if both ranks may still continue.
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

  /** For each group, the last key for which others need not wait for this rank. */
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
