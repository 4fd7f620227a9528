export type { Decomposition, JacobiBlock, ProcessGrid } from './decomposition.ts'
export { type JacobiOptions, type JacobiReport, jacobi, waveBoundary } from './jacobi.ts'
export {
  type AllocateFieldOptions,
  allocateField,
  type FieldBlock,
  gatherState,
  type JacobiField,
  writeSource,
  writeState,
} from './jacobi-field.ts'
export {
  compileJacobi,
  fusedSweeps,
  type HaloTransport,
  type JacobiKernels,
  jacobiSources,
} from './jacobi-kernels.ts'
export { type RecordSweepsOptions, recordSweeps } from './record-jacobi.ts'
export { ResidualTree } from './residual-tree.ts'
export { type ScaleJacobiOptions, type ScalingFigure, scaleJacobi } from './scale-jacobi.ts'
