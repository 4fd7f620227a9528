export type * from './algorithm-options.ts'
export {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  type ElementWriter,
  generatedElements,
  readElements,
} from './element-source.ts'
export { type CompiledFft, compileFft } from './fft/compile-fft.ts'
export { type FftOptions, type FftReport, fft } from './fft/fft.ts'
export {
  type FftDirection,
  type FftLimits,
  type FftNorm,
  type FftOrder,
  type FftPlan,
  type FftPlanOptions,
  fftLimits,
  fftShapes,
  planFft,
} from './fft/plan-fft.ts'
export { type RecordFftOptions, recordFft } from './fft/record-fft.ts'
export type { HistogramType } from './histogram/bin-edges.ts'
export { type HistogramOptions, type HistogramReport, histogram } from './histogram/histogram.ts'
export {
  type CompileHistogramOptions,
  compileHistogram,
  type HistogramKernels,
  type HistogramVariant,
} from './histogram/histogram-kernels.ts'
export { type RecordHistogramOptions, recordHistogram } from './histogram/record-histogram.ts'
export type { Decomposition } from './jacobi/decomposition.ts'
export { type JacobiOptions, type JacobiReport, jacobi, waveBoundary } from './jacobi/jacobi.ts'
export {
  type AllocateFieldOptions,
  allocateField,
  gatherState,
  type JacobiField,
  writeSource,
  writeState,
} from './jacobi/jacobi-field.ts'
export {
  compileJacobi,
  fusedSweeps,
  type HaloTransport,
  type JacobiKernels,
} from './jacobi/jacobi-kernels.ts'
export { type RecordSweepsOptions, recordSweeps } from './jacobi/record-jacobi.ts'
export { type ScaleJacobiOptions, type ScalingFigure, scaleJacobi } from './jacobi/scale-jacobi.ts'
export type { ChooseProductOptions } from './matmul/choose/choose-product.ts'
export type { MatmulModel, MatmulPrediction } from './matmul/choose/predict-matmul.ts'
export type { HalfMatmulOptions, HalfMatmulReport } from './matmul/half/half-matmul.ts'
export { type MatmulOptions, type MatmulReport, matmul } from './matmul/matmul.ts'
export type { MatmulShape, MatmulType } from './matmul/matmul-shape.ts'
export {
  type CandidateOptions,
  chooseBlocking,
  compileMatmul,
  type MatmulBlocking,
  type MatmulKernels,
} from './matmul/single/matmul-kernels.ts'
export {
  type RecordMatmulOptions,
  type RecordShardedOptions,
  recordMatmul,
  recordShardedMatmul,
} from './matmul/single/record-matmul.ts'
export type { StreamPlan } from './matmul/stream/plan-stream.ts'
export type { MatmulPrecision } from './matmul/tensor/split-kernels.ts'
export { type Measurement, type MeasureOptions, type MeasureProgress, measure } from './measure.ts'
export { type RecordReductionOptions, recordReduction } from './reduction/record-reduction.ts'
export { type ReduceOptions, type ReductionReport, reduce } from './reduction/reduce.ts'
export {
  compileReduction,
  leafLength,
  type ReductionKernelName,
  type ReductionKernels,
  type ReductionOperation,
  type ReductionType,
  reductionKernelNames,
} from './reduction/reduction-kernels.ts'
export * from './report.ts'
export {
  type CompareRingOptions,
  compareRing,
  measuredInSource,
  type RingComparison,
} from './ring/compare-ring.ts'
export { type RingScheme, ringSchemes } from './ring/record-ring.ts'
export { type RingMatmulOptions, type RingReport, ringMatmul } from './ring/ring-matmul.ts'
export {
  describeRun,
  type MeasuredRun,
  type RunMeasuredOptions,
  runMeasured,
} from './run-measured.ts'
export { type RecordScanOptions, recordScan } from './scan/record-scan.ts'
export { type ScanOptions, type ScanReport, scan } from './scan/scan.ts'
export {
  type CompileScanOptions,
  compileScan,
  type ScanKernels,
  type ScanOperation,
  type ScanType,
  type ScanVariant,
  scanTileLength,
} from './scan/scan-kernels.ts'
export {
  type AllocateShardedOptions,
  allocateSharded,
  gatherSharded,
  type MatrixSlice,
  type RowRange,
  readSharded,
  type ShardedMatrix,
  shardedFromViews,
  splitRows,
  writeSharded,
} from './sharded-matrix.ts'
export { type RecordSortOptions, recordSort } from './sort/record-sort.ts'
export { type SortOptions, type SortReport, sort } from './sort/sort.ts'
export {
  type CompileSortOptions,
  compileSort,
  type SortedValues,
  type SortKernels,
  type SortType,
  type SortVariant,
} from './sort/sort-kernels.ts'
export {
  type PeerTile,
  type RecordedTile,
  type RecordTransposeOptions,
  recordTranspose,
  type TileTransport,
} from './transpose/record-transpose.ts'
export { type TransposeOptions, type TransposeReport, transpose } from './transpose/transpose.ts'
export {
  type CompileTransposeOptions,
  compileTranspose,
  type TransposeKernel,
  type TransposeType,
  type TransposeVariant,
} from './transpose/transpose-kernels.ts'
export type * from './tuning/tuning-store.ts'
