export { type ConformanceOptions, describeBackend } from './describe-backend.ts'
export { type PlanEdge, removableEdges, type WeakenedPlan, withoutEdge } from './plan-edges.ts'
export { type ReferenceBackend, type ReferenceBackendOptions, referenceBackend } from './reference-backend.ts'
export { type KernelTestResult, runKernelTest } from './run-kernel-test.ts'
