export { type RecordReductionOptions, recordReduction } from './record-reduction.ts'
export {
  type LadderStep,
  ladderSteps,
  type ReduceOptions,
  type ReductionReport,
  reduce,
} from './reduce.ts'
export {
  type BestVariant,
  compileReduction,
  leafLength,
  type ReductionKernelName,
  type ReductionKernels,
  type ReductionOperation,
  type ReductionType,
  reductionKernelNames,
  reductionSources,
} from './reduction-kernels.ts'
