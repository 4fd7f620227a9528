/**
 * Stores measured choices; a `Map` is sufficient. A key describes the measurement (algorithm, devices,
 * driver, type, shape class); a value is the name of the fastest candidate. Neither is parsed: if the value
 * is not the name of a candidate, the candidates are measured again.
 */
export interface TuningStore {
  get(key: string): string | undefined
  set(key: string, value: string): void
}

/**
 * Without a store, or with `false`, algorithms use the shipped choices. The results have the same bits in
 * either case. Over several processes, whose stores may differ, the shipped choices are used.
 */
export interface TuningOptions {
  readonly tuning?: TuningStore | false | undefined
}
