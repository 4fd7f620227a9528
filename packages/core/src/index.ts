export * from './adapter.ts'
export type * from './backend.ts'
export type { AllocateOptions, Device } from './device.ts'
export type { DeviceBuffer } from './device-buffer.ts'
export * from './element-type.ts'
export * from './errors.ts'
export {
  type DeviceGroup,
  type Leak,
  type LeakReport,
  type OpenGroupOptions,
  openGroup,
  type RecordOptions,
} from './group.ts'
export type { HostBuffer } from './host-buffer.ts'
export type { CompileOptions, Kernel } from './kernel.ts'
export type { Parameter, ParameterType } from './parameter.ts'
export type * from './plan.ts'
export { printPlan } from './print-plan.ts'
export type { Program } from './program.ts'
export type { ProgramSpan, Queue, ReadOptions, RunOptions, RunResult } from './queue.ts'
export type {
  CommandOptions,
  DispatchArgument,
  DispatchOptions,
  ExchangeOptions,
  Recorder,
} from './recorder.ts'
export { type RankedAdapter, type SelectBy, type Selection, selectAdapters } from './selection.ts'
export type { BufferView, HostView, Region } from './view.ts'
