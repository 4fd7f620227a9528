import { type ErrorFilter, type GPUError, makeError } from './errors.ts'

/**
 * One scope. An error that is reported late goes to the scopes that were open when the failing call was made.
 */
export interface ErrorScope {
  readonly filter: ErrorFilter
  error: GPUError | undefined
}

/** The scopes that are open at one call, innermost first. */
export interface OpenScopes {
  readonly scope: ErrorScope
  readonly outer: OpenScopes | undefined
}

/** The error scope stack of a device, with the outcomes that its scopes still wait for. */
export class ErrorScopes {
  #open: OpenScopes | undefined
  readonly #uncaptured: (error: GPUError) => void
  /** Settles when earlier calls have reported all their errors. */
  #pending: Promise<unknown> | undefined

  constructor(uncaptured: (error: GPUError) => void) {
    this.#uncaptured = uncaptured
  }

  /** The scopes that are open now, for calls that may fail later. */
  get open(): OpenScopes | undefined {
    return this.#open
  }

  push(filter: ErrorFilter): void {
    this.#open = { scope: { filter, error: undefined }, outer: this.#open }
  }

  /** Returns undefined if no scope is open. */
  pop(): ErrorScope | undefined {
    const popped = this.#open
    this.#open = popped?.outer
    return popped?.scope
  }

  /** Delays `pending` until `outcome` settles: by then the calls so far have reported their errors. */
  await(outcome: Promise<unknown>): void {
    const all = this.#pending === undefined ? outcome : Promise.allSettled([this.#pending, outcome])
    const settled: Promise<unknown> = all.then(
      () => {},
      () => {},
    )
    this.#pending = settled
    void settled.then(() => {
      if (this.#pending === settled) this.#pending = undefined
    })
  }

  /** Settles when every call so far has reported its errors; undefined if all have. */
  get pending(): Promise<unknown> | undefined {
    return this.#pending
  }

  /** Passes an error to the innermost of `scopes` that catches its kind, or to the device if none does. */
  report(filter: ErrorFilter, message: string, scopes = this.#open): void {
    const error = makeError(filter, message)
    for (let open = scopes; open !== undefined; open = open.outer)
      if (open.scope.filter === filter) {
        open.scope.error ??= error
        return
      }
    this.#uncaptured(error)
  }
}
