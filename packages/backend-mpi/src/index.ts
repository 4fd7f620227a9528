export type { Launch, MpiFamily } from './launcher.ts'
export { type MpiOptions, mpi } from './mpi.ts'
export type { MpiLibrary } from './native-addon.ts'
export { findMpi } from './session.ts'
