export type { ChooseProductOptions } from './choose/choose-product.ts'
export type { MatmulModel, MatmulPrediction } from './choose/predict-matmul.ts'
export { type HalfBody, halfSources } from './half/half-kernels.ts'
export type { HalfMatmulOptions, HalfMatmulReport } from './half/half-matmul.ts'
export { type MatmulOptions, type MatmulReport, matmul } from './matmul.ts'
export type { MatmulShape, MatmulType } from './matmul-shape.ts'
export {
  type CandidateOptions,
  chooseBlocking,
  compileMatmul,
  type MatmulBlocking,
  type MatmulKernels,
  matmulSources,
} from './single/matmul-kernels.ts'
export {
  type RecordMatmulOptions,
  type RecordShardedOptions,
  recordMatmul,
  recordShardedMatmul,
} from './single/record-matmul.ts'
export type { StreamPlan } from './stream/plan-stream.ts'
export {
  compileSplit,
  hasSplitProducts,
  type MatmulPrecision,
  type SplitKernels,
  splitSources,
} from './tensor/split-kernels.ts'
