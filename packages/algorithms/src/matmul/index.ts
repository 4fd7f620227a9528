export type { ChooseProductOptions } from './choose-product.ts'
export { type HalfBody, halfSources } from './half-kernels.ts'
export type { HalfMatmulOptions, HalfMatmulReport } from './half-matmul.ts'
export { type MatmulOptions, type MatmulReport, matmul } from './matmul.ts'
export {
  type CandidateOptions,
  chooseBlocking,
  compileMatmul,
  type MatmulBlocking,
  type MatmulKernels,
  matmulSources,
} from './matmul-kernels.ts'
export type { MatmulShape, MatmulType } from './matmul-shape.ts'
export type { StreamPlan } from './plan-stream.ts'
export type { MatmulModel, MatmulPrediction } from './predict-matmul.ts'
export {
  type RecordMatmulOptions,
  type RecordShardedOptions,
  recordMatmul,
  recordShardedMatmul,
} from './record-matmul.ts'
export {
  compileSplit,
  hasSplitProducts,
  type MatmulPrecision,
  type SplitKernels,
  splitSources,
} from './split-kernels.ts'
