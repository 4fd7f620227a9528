/**
 * Stores measured choices; a `Map` is sufficient. A key says what was measured (algorithm, devices, driver, type, shape class); a value names the
 * fastest candidate. Neither is parsed: if the value is not the name of a candidate, the candidates are measured again.
 */
export interface TuningStore {
  get(key: string): string | undefined
  set(key: string, value: string): void
}

/**
 * Without a store, or with `false`, algorithms use the shipped choices. Results have the same
 * bits either way. Over several processes, whose stores may differ, the shipped choices are used. */
export interface TuningOptions {
  readonly tuning?: TuningStore | false | undefined
}
