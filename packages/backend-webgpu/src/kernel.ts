import { GpuError, isGpuError } from '@tandem-gpu/core'
import type { KernelHandle, KernelSource } from '@tandem-gpu/core/backend'
import { computeStage } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'

/** The pipeline of a kernel on one device. `layouts` has one entry per group up to the last that is used. */
export interface KernelPipeline {
  readonly pipeline: GPUComputePipeline
  readonly layouts: readonly GPUBindGroupLayout[]
}

/** A kernel compiled for every device of a runtime. */
export interface KernelPipelines extends KernelHandle {
  readonly pipelines: ReadonlyMap<PhysicalDevice, KernelPipeline>
}

/** Compiles `source` for each of `devices`. Rejects with `compilation` (line and column) or `unsupported`. */
export async function compileKernel(
  source: KernelSource,
  devices: readonly PhysicalDevice[],
): Promise<KernelPipelines> {
  if (source.bounds === 'trap') {
    throw new GpuError(
      'unsupported',
      `Kernel "${source.label}" requests bounds "trap", but WebGPU cannot report out-of-bounds accesses; use "clamp".`,
    )
  }
  const compiled = await Promise.all(
    devices.map(async (device) => [device, await compileFor(device, source)] as const),
  )
  return { label: source.label, pipelines: new Map(compiled) }
}

async function compileFor(physical: PhysicalDevice, source: KernelSource): Promise<KernelPipeline> {
  const { gpu } = physical
  const { label, entryPoint } = source
  for (const feature of source.module.features) {
    if (!gpu.features.has(feature)) {
      throw new GpuError(
        'unsupported',
        `Kernel "${label}" needs the feature "${feature}", which the device "${physical.name}" does not support.`,
      )
    }
  }
  // The messages come from getCompilationInfo, so the scope only keeps them from being reported twice.
  physical.check()
  gpu.pushErrorScope('validation')
  const constants = pipelineConstants(source)
  const module = gpu.createShaderModule({ label, code: distinguishingZeros(source.wgsl, constants) })
  const scope = gpu.popErrorScope()
  const [info] = await physical.orLost(Promise.all([module.getCompilationInfo(), scope]))
  const error = info.messages.find((message) => message.type === 'error')
  if (error !== undefined) {
    const { lineNum: line, linePos: column } = error
    const at = line > 0 ? ` (line ${line}, column ${column})` : ''
    throw new GpuError(
      'compilation',
      `Kernel "${label}" failed to compile${at}: ${error.message.trim()}`,
      line > 0 ? { line, column } : {},
    )
  }
  const { value, checked } = physical.scoped(`lay out kernel "${label}"`, () => {
    const layouts = bindGroupLayouts(gpu, source)
    return { layouts, layout: gpu.createPipelineLayout({ label, bindGroupLayouts: [...layouts] }) }
  })
  await checked
  try {
    const pipeline = await physical.orLost(
      gpu.createComputePipelineAsync({
        label,
        layout: value.layout,
        compute: { module, entryPoint, constants },
      }),
    )
    return { pipeline, layouts: value.layouts }
  } catch (cause) {
    if (isGpuError(cause)) throw cause
    throw pipelineError(physical, source, cause)
  }
}

function bindGroupLayouts(gpu: GPUDevice, source: KernelSource): readonly GPUBindGroupLayout[] {
  const groups: GPUBindGroupLayoutEntry[][] = []
  for (const { binding, space, access } of source.module.variables) {
    if (binding === undefined) continue
    while (groups.length <= binding.group) groups.push([])
    const type = space === 'uniform' ? 'uniform' : access === 'read' ? 'read-only-storage' : 'storage'
    groups[binding.group]!.push({ binding: binding.binding, visibility: computeStage, buffer: { type } })
  }
  return groups.map((entries, group) =>
    gpu.createBindGroupLayout({ label: `${source.label}, group ${group}`, entries }),
  )
}

/** WebGPU expects numbers, keyed by the `@id` of an override if it has one. */
function pipelineConstants(source: KernelSource): Record<string, number> {
  const constants: Record<string, number> = {}
  for (const [name, value] of Object.entries(source.constants)) {
    const override = source.module.overrides.find((candidate) => candidate.name === name)
    constants[override?.id === undefined ? name : String(override.id)] = Number(value)
  }
  return constants
}

/**
 * Dawn treats two pipelines of one module as the same if their constants differ only in 0 and -0. A comment
 * in the source that lists the constants that are -0 keeps them apart.
 */
function distinguishingZeros(wgsl: string, constants: Readonly<Record<string, number>>): string {
  const negative = Object.keys(constants).filter((name) => Object.is(constants[name], -0))
  return negative.length === 0 ? wgsl : `${wgsl}\n// -0: ${negative.join(' ')}`
}

/**
 * The error for a valid module whose pipeline is invalid, usually because overrides or workgroup memory
 * exceed a device limit.
 */
function pipelineError(physical: PhysicalDevice, source: KernelSource, cause: unknown): GpuError {
  const [x, y, z] = source.module.workgroupSize
  const limit = physical.gpu.limits.maxComputeInvocationsPerWorkgroup
  const message = (cause instanceof Error ? cause.message : String(cause)).trim()
  if (x * y * z > limit) {
    return new GpuError(
      'unsupported',
      `Kernel "${source.label}" has ${x} × ${y} × ${z} = ${x * y * z} invocations per workgroup; the device "${physical.name}" allows ${limit}.`,
      { cause },
    )
  }
  if (/workgroup|limit|exceed/i.test(message)) {
    return new GpuError(
      'unsupported',
      `The device "${physical.name}" cannot run kernel "${source.label}": ${message}`,
      {
        cause,
      },
    )
  }
  return new GpuError('compilation', `Kernel "${source.label}" failed to compile: ${message}`, { cause })
}
