export { type Decomposition, decompose, type JacobiBlock, type ProcessGrid } from './decomposition.ts'
export { type JacobiOptions, type JacobiReport, jacobi, waveBoundary } from './jacobi.ts'
export {
  allocateField,
  type FieldBlock,
  gatherState,
  type JacobiField,
  stateReader,
  writeSource,
  writeState,
} from './jacobi-field.ts'
export { type IterateOptions, type IterateResult, JacobiIteration } from './jacobi-iteration.ts'
export {
  compileJacobi,
  fusedSweeps,
  type HaloTransport,
  type JacobiKernels,
  jacobiSources,
} from './jacobi-kernels.ts'
export { type RecordSweepsOptions, recordSweeps } from './record-jacobi.ts'
export { type JacobiProblem, referenceJacobi, referenceJacobiF32 } from './reference-jacobi.ts'
export { type ScaleJacobiOptions, type ScalingFigure, scaleJacobi } from './scale-jacobi.ts'
export { verifyJacobi } from './verify-jacobi.ts'
