/**
 * Where measured choices are kept; a `Map` is one. Keys say what was measured (algorithm, devices, driver, type, shape class), values name the
 * candidate that was fastest. Neither is ever parsed: a value that names no candidate is measured again.
 */
export interface TuningStore {
  get(key: string): string | undefined
  set(key: string, value: string): void
}

/** Without a store, or with `false`, algorithms use the choices that they are shipped with. Results have the same bits either way. */
export interface TuningOptions {
  readonly tuning?: TuningStore | false
}
