import { type ErrorFilter, type GPUError, makeError } from './errors.ts'

/** One scope; what is reported late goes to the scopes that were open when its cause was called. */
export interface ErrorScope {
  readonly filter: ErrorFilter
  error: GPUError | undefined
}

/** The scopes that are open at some call, innermost first. */
export interface OpenScopes {
  readonly scope: ErrorScope
  readonly outer: OpenScopes | undefined
}

/** The error scope stack of a device, with the outcomes that its scopes still wait for. */
export class ErrorScopes {
  #open: OpenScopes | undefined
  readonly #uncaptured: (error: GPUError) => void
  /** What later tells of errors of calls that were made already. */
  #pending: Promise<unknown> | undefined

  constructor(uncaptured: (error: GPUError) => void) {
    this.#uncaptured = uncaptured
  }

  /** The scopes that are open now: to be kept by what may fail later. */
  get open(): OpenScopes | undefined {
    return this.#open
  }

  push(filter: ErrorFilter): void {
    this.#open = { scope: { filter, error: undefined }, outer: this.#open }
  }

  /** Undefined where no scope is open. */
  pop(): ErrorScope | undefined {
    const popped = this.#open
    this.#open = popped?.outer
    return popped?.scope
  }

  /** Errors of calls so far are reported when `outcome` settles. */
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

  /** Settles when every call so far has reported its errors; undefined where all have. */
  get pending(): Promise<unknown> | undefined {
    return this.#pending
  }

  /** Gives an error to the innermost of `scopes` that takes its kind, or to the device. */
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
