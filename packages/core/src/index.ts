export * from './backend/adapter.ts'
export type { Backend } from './backend/backend.ts'
export type { Bounds } from './backend/kernel-source.ts'
export type { LiveHandles, LostInfo } from './backend/runtime.ts'
export * from './buffers/element-type.ts'
export type { HostBuffer, HostView } from './buffers/host-buffer.ts'
export { type Region, requireCount, type View } from './buffers/view.ts'
export { arrayName, counted, describedValue, isObject } from './described-value.ts'
export { GpuError, type GpuErrorCode, type GpuErrorDetails, isGpuError } from './errors.ts'
export type * from './group/device.ts'
export {
  type AllocateHostOptions,
  type DeviceGroup,
  type LeakReport,
  type OpenGroupOptions,
  openGroup,
  type RecordOptions,
} from './group/group.ts'
export { type SelectBy, selectBy } from './group/load.ts'
export { type Destroyable, OwnedResources } from './group/owned-resources.ts'
export type * from './group/queue.ts'
export type { Leak } from './group/resource.ts'
export {
  type RankedAdapter,
  type Selection,
  type SelectionOptions,
  selectAdapters,
} from './group/selection.ts'
export type * from './kernels/ambient-types.ts'
export { type CompiledKernels, compileAll } from './kernels/compile-all.ts'
export type { CompileOptions, Kernel } from './kernels/kernel.ts'
export type { Parameter, ParameterType, ParameterValue } from './kernels/parameter.ts'
export { type OptionType, requireOptions } from './options.ts'
export type { Plan, Schedule } from './plan/plan.ts'
export { printPlan } from './plan/print-plan.ts'
export type { Transport } from './ranks/ranks.ts'
export * from './recording/dispatch-blocks.ts'
export type * from './recording/recorder.ts'
export type { Program } from './running/program.ts'
