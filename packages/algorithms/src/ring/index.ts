export {
  type CompareRingOptions,
  compareRing,
  measuredInSource,
  type RingComparison,
  type RingFigure,
} from './compare-ring.ts'
export { type RingPhase, type RingScheme, ringSchemes } from './record-ring.ts'
export type { StepSeconds } from './ring-bound.ts'
export { type RingMatmulOptions, type RingReport, ringMatmul } from './ring-matmul.ts'
