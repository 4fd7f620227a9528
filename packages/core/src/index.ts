export * from './adapter.ts'
export type * from './ambient-types.ts'
export type * from './backend.ts'
export {
  type CommandQueue,
  type CommandQueueOptions,
  commandWords,
  type KernelForm,
  type QueueMessage,
} from './command-queue.ts'
export { type CompiledKernels, compileAll } from './compile-all.ts'
export { describedValue } from './described-value.ts'
export type * from './device.ts'
export {
  type AdoptedRange,
  DeviceCommands,
  type DeviceCommandsOptions,
  openDeviceCommands,
} from './device-commands.ts'
export * from './dispatch-blocks.ts'
export * from './element-type.ts'
export { GpuError, type GpuErrorCode, type GpuErrorDetails, isGpuError } from './errors.ts'
export type { ExecutionOptions, ExecutionResult, RepeatedOptions, Span } from './execution.ts'
export {
  type AllocateHostOptions,
  type DeviceGroup,
  type LeakReport,
  type OpenGroupOptions,
  openGroup,
  type RecordOptions,
} from './group.ts'
export type * from './handles.ts'
export type { HostBuffer, HostView } from './host-buffer.ts'
export { keepAwake } from './keep-awake.ts'
export type { CompileOptions, Kernel } from './kernel.ts'
export type * from './kernel-source.ts'
export type * from './links.ts'
export type { SelectBy } from './load.ts'
export { type OptionType, requireOptions } from './options.ts'
export { type Destroyable, OwnedResources } from './owned-resources.ts'
export type { Parameter, ParameterType, ParameterValue } from './parameter.ts'
export * from './plan.ts'
export { printPlan } from './print-plan.ts'
export type { Program } from './program.ts'
export type * from './queue.ts'
export { type AllOrNoneOptions, allOrNone } from './ranks/all-or-none.ts'
export type * from './ranks/ranks.ts'
export type * from './recorder.ts'
export type { Leak } from './resource.ts'
export type * from './runtime.ts'
export { type RankedAdapter, type Selection, type SelectionOptions, selectAdapters } from './selection.ts'
export { type Region, requireCount, type View } from './view.ts'
