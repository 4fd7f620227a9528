/**
 * What backends need besides `@tandem-gpu/core`: their contract with it, and the interfaces for several
 * processes and native code.
 */
export { keepAwake } from '../group/keep-awake.ts'
export { constantsKey, kernelKey } from '../kernels/compile-kernel.ts'
export { isContiguous } from '../plan/byte-region.ts'
export {
  type ByteRegion,
  type Extent,
  isMessage,
  type PlanBinding,
  type PlanBuffer,
  type PlanCommand,
  type PlanCopy,
  type PlanDispatch,
  type PlanFill,
  type PlanMessage,
  type PlanPart,
} from '../plan/plan.ts'
export { type AllOrNoneOptions, allOrNone } from '../ranks/all-or-none.ts'
export type { AgreedRun, FreedMemory, KeyedMessage, RankMessage, Ranks } from '../ranks/ranks.ts'
export {
  type AdoptedRange,
  DeviceCommands,
  type DeviceCommandsOptions,
  openDeviceCommands,
} from '../running/device-commands.ts'
export {
  type CommandQueue,
  type CommandQueueOptions,
  commandWords,
  type KernelForm,
  type QueueMessage,
} from './command-queue.ts'
export type { ExecutionOptions, ExecutionResult, RepeatedOptions, Span } from './execution.ts'
export type { FrontEndCache } from './front-end-cache.ts'
export type * from './handles.ts'
export type { KernelSource } from './kernel-source.ts'
export type * from './links.ts'
export type {
  AllocationOptions,
  AllocationRegion,
  NativeAccess,
  OpenedRuntime,
  OpenOptions,
  RankedRuntime,
  Runtime,
} from './runtime.ts'
