export { type CompiledFft, type CompiledPass, type CompiledStep, compileFft } from './compile-fft.ts'
export { type FftOptions, type FftReport, fft } from './fft.ts'
export { fftSources } from './fft-sources.ts'
export {
  type ChirpMethod,
  type ComplexMethod,
  type FftDirection,
  type FftLimits,
  type FftLineKind,
  type FftMethod,
  type FftNorm,
  type FftOrder,
  type FftPass,
  type FftPlan,
  type FftPlanOptions,
  fftLimits,
  fftShapes,
  type LineMethod,
  type PackedMethod,
  planFft,
  type SquareMethod,
  type StagesMethod,
} from './plan-fft.ts'
export { printFftPlan } from './print-fft-plan.ts'
export { type RecordFftOptions, recordFft } from './record-fft.ts'
