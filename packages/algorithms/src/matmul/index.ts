export { type ChooseProductOptions, chooseProduct, type ProductChoice } from './choose-product.ts'
export { type MatmulOptions, type MatmulReport, matmul } from './matmul.ts'
export * from './matmul-kernels.ts'
export { measureMatmulModel } from './measure-model.ts'
export { planStream, type StreamPlan } from './plan-stream.ts'
export * from './predict-matmul.ts'
export {
  type RecordMatmulOptions,
  type RecordShardedOptions,
  recordMatmul,
  recordShardedMatmul,
} from './record-matmul.ts'
export { type HostMatrices, recordStreamedMatmul } from './record-stream.ts'
export { type MatmulVerifier, matmulVerifier, referenceMatmul } from './verify-matmul.ts'
