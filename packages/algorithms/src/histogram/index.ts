export type { BinEdges, BinGuess, HistogramType } from './bin-edges.ts'
export { type HistogramOptions, type HistogramReport, histogram } from './histogram.ts'
export {
  type CompileHistogramOptions,
  compileHistogram,
  type HistogramKernels,
  type HistogramVariant,
  histogramSources,
} from './histogram-kernels.ts'
export { type RecordHistogramOptions, recordHistogram } from './record-histogram.ts'
