import type { GroupState } from './group-state.ts'
import type { Resource } from './resource.ts'

/** The order of a group's calls: each reaches the runtime after those before it, and completes on its own. */
export class Turns {
  readonly #group: GroupState
  /** Settles when every call so far has reached the runtime. */
  #issued: Promise<void> = Promise.resolve()
  readonly #active = new Set<Promise<unknown>>()

  constructor(group: GroupState) {
    this.#group = group
  }

  /** The calls that are not complete. */
  get pending(): readonly Promise<unknown>[] {
    return [...this.#active]
  }

  /** Resolves when nothing is pending. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
  }

  /** Retains, waits for its turn, calls the runtime; the next call's turn comes right after that call is made. */
  enqueue<R>(resources: readonly Resource[], call: () => Promise<R>): Promise<R> {
    return this.enqueueReady(resources, (turn) => turn, call)
  }

  /** The same for a call that needs what `ready` resolves to, which it does when the call may be made: not before the turn. */
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

  /** As `enqueue`, for what begins when all calls before it are complete; the next call's turn comes when it is complete itself. */
  enqueueAlone<R>(resources: readonly Resource[], call: () => Promise<R>): Promise<R> {
    const earlier = this.pending
    return this.#inTurn(resources, async (turn) => {
      await turn
      if (earlier.length > 0) await Promise.allSettled(earlier)
      return call()
    })
  }

  /** Does `work`, whose turn comes when `turn` resolves; the next call's comes when it calls `passTurn`, at the latest when it ends. */
  #inTurn<R>(
    resources: readonly Resource[],
    work: (turn: Promise<void>, passTurn: () => void) => Promise<R>,
  ): Promise<R> {
    this.#group.requireAlive()
    for (const resource of resources) resource.retain()
    const turn = this.#issued
    let passTurn = () => {}
    this.#issued = new Promise((resolve) => {
      passTurn = resolve
    })
    const finished = async () => {
      try {
        return await work(turn, passTurn)
      } finally {
        passTurn()
        for (const resource of resources) resource.release()
      }
    }
    const active = finished()
    this.#active.add(active)
    const forget = () => this.#active.delete(active)
    active.then(forget, forget)
    return active
  }
}
