import { GpuError, type Plan } from '@tandem-gpu/core'
import type {
  ByteRegion,
  Executable,
  Handles,
  HostAllocation,
  PlanCopy,
  PlanDispatch,
} from '@tandem-gpu/core/backend'
import { bindingOffsetAlignment, bufferUsage } from './constants.ts'
import { type GpuStep, GpuStepBuilder } from './gpu-step.ts'
import type { KernelPipelines } from './kernel.ts'
import { Pacing } from './pacing.ts'
import { type DeviceAllocation, type DeviceRegion, denseRegion, padTo4 } from './padded-buffer.ts'
import type { PhysicalDevice } from './physical-device.ts'
import type { RegionKernels } from './region-kernels.ts'
import {
  chunkByteLength,
  type DownloadChunk,
  type HostRegion,
  prepareDownload,
  prepareUpload,
  type UploadChunk,
} from './transfer.ts'

/**
 * A command with its GPU objects created. `bounce` copies through host memory between GPUs that share no
 * memory.
 */
export type PreparedCommand = {
  readonly index: number
  /** The virtual device. */
  readonly device: number
  readonly physical: PhysicalDevice
} & (
  | { readonly kind: 'steps'; readonly steps: readonly GpuStep[] }
  | { readonly kind: 'upload'; readonly chunks: readonly UploadChunk[] }
  | { readonly kind: 'download'; readonly chunks: readonly DownloadChunk[] }
  | { readonly kind: 'host'; readonly from: HostRegion; readonly to: HostRegion }
  | {
      readonly kind: 'bounce'
      readonly source: PhysicalDevice
      readonly chunks: readonly { readonly download: DownloadChunk; readonly upload: UploadChunk }[]
    }
)

/** A plan ready to encode any number of times, in recorded order. */
export interface PreparedPlan extends Executable {
  readonly commands: readonly PreparedCommand[]
  readonly physicals: readonly PhysicalDevice[]
  readonly uniformBlock: Uint8Array<ArrayBuffer>
  readonly uniforms: ReadonlyMap<PhysicalDevice, GPUBuffer>
  /** True if the host must act between commands. */
  readonly hasTransfers: boolean
  readonly pacing: Pacing
  /** GPU memory to destroy with the plan. */
  readonly owned: readonly GPUBuffer[]
}

/** The handles that the runtime gives to core. */
export interface WebGpuHandles extends Handles {
  readonly allocation: DeviceAllocation
  readonly hostAllocation: HostAllocation
  readonly kernel: KernelPipelines
  readonly executable: PreparedPlan
}

type WebGpuPlan = Plan<WebGpuHandles>

export interface PlanContext {
  /** By virtual device. */
  readonly physicals: readonly PhysicalDevice[]
  readonly regionKernels: (physical: PhysicalDevice) => RegionKernels
}

export async function preparePlan(plan: WebGpuPlan, context: PlanContext): Promise<PreparedPlan> {
  const physicals = [...new Set(plan.commands.map(({ device }) => context.physicals[device]!))]
  const builders = new Map<PhysicalDevice, GpuStepBuilder>()
  const builderOf = (physical: PhysicalDevice) => {
    let builder = builders.get(physical)
    if (builder === undefined) {
      builder = new GpuStepBuilder(physical, context.regionKernels(physical))
      builders.set(physical, builder)
    }
    return builder
  }
  const owned: GPUBuffer[] = []
  try {
    const uniforms = await uniformBuffers(plan, physicals, owned)
    const commands: PreparedCommand[] = []
    const checks: Promise<void>[] = []
    for (const physical of physicals) {
      // One scope for all bind groups of a device: thousands of dispatches are common.
      const dispatches = plan.commands.filter(
        (command): command is PlanDispatch =>
          command.kind === 'dispatch' && context.physicals[command.device] === physical,
      )
      const { value, checked } = physical.scoped(`bind the arguments of "${plan.label}"`, () =>
        dispatches.map((command) => prepareDispatch(plan, command, physical, uniforms.get(physical))),
      )
      checks.push(checked)
      dispatches.forEach((command, i) => {
        commands[command.index] = {
          kind: 'steps',
          index: command.index,
          device: command.device,
          physical,
          steps: [value[i]!],
        }
      })
    }
    for (const command of plan.commands) {
      if (command.kind === 'dispatch') continue
      const { index, device } = command
      const physical = context.physicals[device]!
      const base = { index, device, physical }
      if (command.kind === 'fill') {
        const { pattern, patternByteLength } = command
        const steps = builderOf(physical).fill(deviceRegion(plan, command.target), pattern, patternByteLength)
        commands[index] = { ...base, kind: 'steps', steps }
      } else {
        commands[index] = { ...base, ...prepareCopy(plan, command, builderOf) }
      }
    }
    for (const builder of builders.values()) owned.push(...(await builder.build()))
    await Promise.all(checks)
    return {
      label: plan.label,
      commands,
      physicals,
      uniformBlock: plan.uniformBlock,
      uniforms,
      hasTransfers: commands.some(({ kind }) => kind !== 'steps'),
      pacing: new Pacing(),
      owned,
    }
  } catch (error) {
    for (const buffer of owned) buffer.destroy()
    throw error
  }
}

async function uniformBuffers(
  plan: WebGpuPlan,
  physicals: readonly PhysicalDevice[],
  owned: GPUBuffer[],
): Promise<Map<PhysicalDevice, GPUBuffer>> {
  const uniforms = new Map<PhysicalDevice, GPUBuffer>()
  if (plan.uniformBlock.byteLength === 0) return uniforms
  // Round up to whole slots, because a binding may extend past the end of the last block to the alignment.
  const size = Math.ceil(plan.uniformBlock.byteLength / bindingOffsetAlignment) * bindingOffsetAlignment
  for (const physical of physicals) {
    const { value, checked } = physical.scoped(`allocate ${size} bytes of uniforms for "${plan.label}"`, () =>
      physical.gpu.createBuffer({
        label: `${plan.label} uniforms`,
        size,
        usage: bufferUsage.uniform | bufferUsage.copyTarget,
      }),
    )
    owned.push(value)
    await checked
    uniforms.set(physical, value)
  }
  return uniforms
}

function prepareDispatch(
  plan: WebGpuPlan,
  command: PlanDispatch,
  physical: PhysicalDevice,
  uniforms: GPUBuffer | undefined,
): GpuStep {
  const kernel = plan.kernels[command.kernel]!
  const { pipeline, layouts } = kernel.pipelines.get(physical)!
  const entries: GPUBindGroupEntry[][] = layouts.map(() => [])
  for (const binding of command.bindings) {
    const resource: GPUBufferBinding =
      binding.kind === 'uniform'
        ? { buffer: uniforms!, offset: binding.byteOffset, size: Math.ceil(binding.byteLength / 16) * 16 }
        : {
            buffer: deviceAllocation(plan, binding.buffer).gpu,
            offset: binding.byteOffset,
            size: padTo4(binding.byteLength),
          }
    entries[binding.group]!.push({ binding: binding.binding, resource })
  }
  const bindGroups = layouts.map((layout, group) =>
    physical.gpu.createBindGroup({ label: command.label, layout, entries: entries[group]! }),
  )
  return { kind: 'dispatch', pipeline, bindGroups, workgroups: command.workgroups }
}

type PreparedCopy =
  | Pick<Extract<PreparedCommand, { kind: 'steps' }>, 'kind' | 'steps'>
  | Pick<Extract<PreparedCommand, { kind: 'upload' }>, 'kind' | 'chunks'>
  | Pick<Extract<PreparedCommand, { kind: 'download' }>, 'kind' | 'chunks'>
  | Pick<Extract<PreparedCommand, { kind: 'host' }>, 'kind' | 'from' | 'to'>
  | Pick<Extract<PreparedCommand, { kind: 'bounce' }>, 'kind' | 'source' | 'chunks'>

function prepareCopy(
  plan: WebGpuPlan,
  command: PlanCopy,
  builderOf: (physical: PhysicalDevice) => GpuStepBuilder,
): PreparedCopy {
  if (command.kind === 'upload') {
    const target = deviceRegion(plan, command.target)
    const host = hostRegion(plan, command.source)
    return { kind: 'upload', chunks: prepareUpload(host, target, builderOf(target.buffer.physical)) }
  }
  if (command.kind === 'copy' && plan.buffers[command.source.buffer]!.kind === 'host') {
    return { kind: 'host', from: hostRegion(plan, command.source), to: hostRegion(plan, command.target) }
  }
  const source = deviceRegion(plan, command.source)
  const from = source.buffer.physical
  if (command.kind === 'download') {
    return {
      kind: 'download',
      chunks: prepareDownload(source, hostRegion(plan, command.target), builderOf(from)),
    }
  }
  const target = deviceRegion(plan, command.target)
  const to = target.buffer.physical
  if (from !== to) return bounce(source, target, builderOf)
  const builder = builderOf(to)
  if (source.buffer.gpu !== target.buffer.gpu) return { kind: 'steps', steps: builder.copy(source, target) }
  // WebGPU does not allow a copy within one buffer, nor binding one buffer for both reading and writing.
  const scratch = denseRegion(builder.scratch(source.rows * source.rowByteLength), source)
  const steps: GpuStep[] = []
  builder.copy(source, scratch, steps)
  builder.copy(scratch, target, steps)
  return { kind: 'steps', steps }
}

/**
 * Copies through one chunk of host memory, a group of rows at a time, so that both sides have equal pieces.
 */
function bounce(
  source: DeviceRegion,
  target: DeviceRegion,
  builderOf: (physical: PhysicalDevice) => GpuStepBuilder,
): PreparedCopy {
  const { rows, rowByteLength } = source
  const chunks: { download: DownloadChunk; upload: UploadChunk }[] = []
  const rowsAPiece = Math.max(1, Math.floor(chunkByteLength / rowByteLength))
  const arrayBuffer = new ArrayBuffer(Math.min(chunkByteLength, rows * rowByteLength))
  for (let row = 0; row < rows; row += rowsAPiece) {
    for (let start = 0; start < rowByteLength; start += chunkByteLength) {
      const size = {
        rows: Math.min(rowsAPiece, rows - row),
        rowByteLength: Math.min(chunkByteLength, rowByteLength - start),
      }
      const host: HostRegion = {
        ...size,
        arrayBuffer,
        byteOffset: 0,
        rowByteStride: size.rowByteLength,
      }
      const piece = (region: DeviceRegion): DeviceRegion => ({
        ...region,
        ...size,
        byteOffset: region.byteOffset + row * region.rowByteStride + start,
      })
      const [download] = prepareDownload(piece(source), host, builderOf(source.buffer.physical))
      const [upload] = prepareUpload(host, piece(target), builderOf(target.buffer.physical))
      chunks.push({ download: download!, upload: upload! })
    }
  }
  return { kind: 'bounce', source: source.buffer.physical, chunks }
}

function deviceAllocation(plan: WebGpuPlan, buffer: number): DeviceAllocation {
  const { kind, label, allocation } = plan.buffers[buffer]!
  if (kind === 'device') return allocation
  throw new GpuError('validation', `Buffer "${label}" of "${plan.label}" is not device memory.`)
}

function deviceRegion(plan: WebGpuPlan, region: ByteRegion): DeviceRegion {
  return { ...region, buffer: deviceAllocation(plan, region.buffer) }
}

function hostRegion(plan: WebGpuPlan, region: ByteRegion): HostRegion {
  const buffer = plan.buffers[region.buffer]!
  if (buffer.kind !== 'host') {
    throw new GpuError('validation', `Buffer "${buffer.label}" of "${plan.label}" is not host memory.`)
  }
  const { byteOffset, rowByteLength, rows, rowByteStride } = region
  return { arrayBuffer: buffer.allocation.arrayBuffer, byteOffset, rowByteLength, rows, rowByteStride }
}
