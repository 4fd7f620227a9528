export {
  type CompareRingOptions,
  compareRing,
  measuredInSource,
  type RingComparison,
  type RingFigure,
} from './compare-ring.ts'
export {
  type RecordRingOptions,
  type RingPhase,
  type RingScheme,
  recordRing,
  ringSchemes,
} from './record-ring.ts'
export { ringBound, type StepSeconds } from './ring-bound.ts'
export { type RingMatmulOptions, type RingReport, ringMatmul } from './ring-matmul.ts'
export { allocateRing, fillRing, type Ring, type RingNode } from './ring-memory.ts'
