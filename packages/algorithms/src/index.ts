export type * from './algorithm-options.ts'
export {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  type ElementWriter,
  generatedElements,
  readElements,
} from './element-source.ts'
export * from './fft/index.ts'
export * from './histogram/index.ts'
export * from './jacobi/index.ts'
export * from './matmul/index.ts'
export { type Measurement, type MeasureOptions, type MeasureProgress, measure } from './measure.ts'
export * from './reduction/index.ts'
export * from './report.ts'
export * from './ring/index.ts'
export {
  describeRun,
  type MeasuredRun,
  type RunMeasuredOptions,
  runMeasured,
} from './run-measured.ts'
export * from './scan/index.ts'
export * from './sharded-matrix.ts'
export * from './sort/index.ts'
export * from './transpose/index.ts'
export type * from './tuning/tuning-store.ts'
