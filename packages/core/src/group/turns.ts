import type { Resource } from './resource.ts'

/** The part of a group that `Turns` uses. */
export interface CallingGroup {
  /** Whether it accepts new work. */
  readonly alive: boolean
  /** Throws if the group does not accept new work. */
  requireAlive(): void
  /** Calls the runtime; rejects as soon as the devices are lost. */
  guard<R>(call: () => Promise<R>): Promise<R>
}

/**
 * The order of a group's calls: each reaches the runtime after those before it, and completes independently.
 */
export class Turns {
  readonly #group: CallingGroup
  /** Settles when every call so far has reached the runtime. */
  #issued: Promise<void> = Promise.resolve()
  /** How many calls have not reached the runtime. */
  #waiting = 0
  readonly #active = new Set<Promise<unknown>>()
  readonly #gatherers = new Set<() => void>()

  constructor(group: CallingGroup) {
    this.#group = group
  }

  /** The calls that are not complete. */
  get pending(): readonly Promise<unknown>[] {
    return [...this.#active]
  }

  /** Whether a call made now would reach the runtime immediately. */
  get free(): boolean {
    return this.#waiting === 0
  }

  /**
   * Registers `flush`, which makes deferred calls: it is called before any other call takes its turn. Returns
   * a function that removes it.
   */
  gather(flush: () => void): () => void {
    this.#gatherers.add(flush)
    return () => this.#gatherers.delete(flush)
  }

  /**
   * Makes a call whose completion nobody awaits: immediately if no call waits for its turn and `needs` is
   * empty, otherwise in its turn, when `needs` have settled. Once the group has ended, `call` is dropped.
   */
  pass(needs: readonly Promise<unknown>[], call: () => void): void {
    if (!this.#group.alive) return
    this.#flush()
    if (this.#waiting === 0 && needs.length === 0) {
      call()
      return
    }
    const ready = (turn: Promise<void>) => turn.then(() => Promise.allSettled(needs))
    // Rejects only if the group has ended, which every other call reports.
    this.enqueueReady([], ready, async () => call()).catch(() => {})
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
  }

  /**
   * Retains the resources, waits for its turn and calls the runtime; the next call's turn comes as soon as
   * this call is made.
   */
  enqueue<R>(resources: readonly Resource[], call: () => Promise<R>): Promise<R> {
    return this.enqueueReady(resources, (turn) => turn, call)
  }

  /** As `enqueue`, for a call without resources; it is made immediately if no call waits for its turn. */
  request<R>(call: () => Promise<R>): Promise<R> {
    this.#group.requireAlive()
    this.#flush()
    if (this.#waiting > 0) return this.enqueue([], call)
    return this.#activate(this.#group.guard(call))
  }

  /**
   * As `enqueue`, for a call that needs the result of `ready`. `ready` resolves when the call may be made,
   * not before `turn` resolves.
   */
  enqueueReady<P, R>(
    resources: readonly Resource[],
    ready: (turn: Promise<void>) => Promise<P>,
    call: (prepared: P) => Promise<R>,
  ): Promise<R> {
    return this.#inTurn(resources, async (turn, passTurn) => {
      const prepared = await ready(turn)
      const completion = this.#group.guard(() => call(prepared))
      passTurn()
      return completion
    })
  }

  /**
   * As `enqueue`, for a call that begins when all earlier calls are complete; the next call's turn comes when
   * this one is complete.
   */
  enqueueAlone<R>(resources: readonly Resource[], call: () => Promise<R>): Promise<R> {
    const earlier = this.pending
    return this.#inTurn(resources, async (turn) => {
      await turn
      if (earlier.length > 0) await Promise.allSettled(earlier)
      return call()
    })
  }

  /**
   * Does `work`, whose turn comes when `turn` resolves; the next call's turn comes when `work` calls
   * `passTurn`, or at the latest when it settles.
   */
  #inTurn<R>(
    resources: readonly Resource[],
    work: (turn: Promise<void>, passTurn: () => void) => Promise<R>,
  ): Promise<R> {
    this.#group.requireAlive()
    this.#flush()
    for (const resource of resources) resource.retain()
    const turn = this.#issued
    let passed = () => {}
    this.#issued = new Promise((resolve) => {
      passed = resolve
    })
    this.#waiting++
    let waits = true
    const passTurn = () => {
      if (waits) this.#waiting--
      waits = false
      passed()
    }
    const finished = async () => {
      try {
        return await work(turn, passTurn)
      } finally {
        passTurn()
        for (const resource of resources) resource.release()
      }
    }
    return this.#activate(finished())
  }

  /** Registers a call as pending until `active` settles. */
  #activate<R>(active: Promise<R>): Promise<R> {
    this.#active.add(active)
    const forget = () => this.#active.delete(active)
    active.then(forget, forget)
    return active
  }

  #flush(): void {
    for (const flush of this.#gatherers) flush()
  }
}

/** Returns the promise, which is awaited later: a rejection before that does not count as unhandled. */
export function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {})
  return promise
}
