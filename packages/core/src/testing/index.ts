export type * from '../kernels/ambient-types.ts'
export {
  type ConformanceOptions,
  describeBackend,
  describeKernels,
  describeLink,
  describeRanks,
} from './describe-backend.ts'
export { type EdgesMatterOptions, expectEveryEdgeToMatter } from './edges-matter.ts'
export { imaginedRanks } from './imagined-ranks.ts'
export { type SimulatedProcesses, simulateProcesses } from './links/simulated-processes.ts'
export { observeRuntimes } from './observe-runtimes.ts'
export { type OpenRanks, openRanks } from './open-ranks.ts'
export { openedOnce } from './opened-once.ts'
export { type PlanEdge, removableEdges, type WeakenedPlan, withoutEdge } from './plan-edges.ts'
export { seededRandom } from './random.ts'
export { type ReferenceBackend, type ReferenceBackendOptions, referenceBackend } from './reference-backend.ts'
export { accumulated, recordAccumulate, recordIncrement } from './repeated-work.ts'
export { type KernelTestResult, runKernelTest } from './run-kernel-test.ts'
export type { MessageRule } from './simulated-messages.ts'
export { type SimulatedRanks, type SimulatedRanksOptions, simulateRanks } from './simulated-ranks.ts'
export type { SimulatedNetwork } from './simulated-run.ts'
