export { type Candidate, timeProgram, tune } from './tune.ts'
export { type TuningSubject, tuningKey } from './tuning-key.ts'
export type { TuningOptions, TuningStore } from './tuning-store.ts'
