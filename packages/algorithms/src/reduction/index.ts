export { type RecordReductionOptions, recordReduction } from './record-reduction.ts'
export { type ReduceOptions, type ReductionReport, reduce } from './reduce.ts'
export {
  type BestVariant,
  type BlockKernel,
  compileReduction,
  leafLength,
  type ReductionKernelName,
  type ReductionKernels,
  type ReductionOperation,
  type ReductionType,
  reductionKernelNames,
  reductionSources,
} from './reduction-kernels.ts'
