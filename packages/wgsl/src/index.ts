export { findInvocationAccesses, type InvocationAccess } from './analysis/invocation-accesses.ts'
export { type BuiltinFunction, builtinFunctions } from './builtin-functions.ts'
export { emitCuda } from './cuda/emit-cuda.ts'
export type { CudaBounds, CudaKernel, CudaOptions, CudaParameter, CudaParts } from './cuda/kernel.ts'
export {
  type EntryPointSummary,
  type LowerOptions,
  lower,
  parseWgsl,
  type WgslModule,
} from './frontend/lower.ts'
export { languageFeatures } from './frontend/parser.ts'
export type { Stage } from './frontend/stages.ts'
export { halfBits } from './half-float.ts'
export type * from './ir.ts'
export { alignOf, roundUp, sizeOf } from './layout.ts'
export { moduleUrl } from './module-url.ts'
export {
  automaticSuffixes,
  type Binding,
  type ReflectedMember,
  type ReflectedScalar,
  type ReflectedType,
  type Reflection,
  reflect,
} from './reflect.ts'
export {
  cudaSubgroupMatrixConfigs,
  describeSubgroupMatrixUse,
  type SubgroupMatrixConfig,
  type SubgroupMatrixUse,
  unsupportedSubgroupMatrix,
} from './subgroup-matrices.ts'
export * from './types.ts'
export {
  type PlaceUse,
  rootOf,
  type Visitor,
  walk,
} from './walk.ts'
export { WgslError, type WgslErrorPlace, type WgslWarning } from './wgsl-error.ts'
