import { type Adapter, type DeviceFeature, type DeviceLimits, GpuError } from '@tandem-gpu/core'
import { bindingOffsetAlignment } from './constants.ts'
import { type GpuSource, isSoftware } from './platform.ts'

/** The origin of an adapter's device. */
export type AdapterOrigin = { readonly source: GpuSource } | { readonly device: GPUDevice }

const matrixFeature = 'chromium-experimental-subgroup-matrix'

/** WebGPU's names of the features to request for a device, if the adapter supports them. */
const requestedFeatures: readonly GPUFeatureName[] = [
  ...(['timestamp-query', 'subgroups', 'shader-f16'] as const),
  // Requires the toggle allow_unsafe_apis; the WebGPU types do not include it.
  matrixFeature as GPUFeatureName,
]

/** Describes what `source` opens, or undefined when its adapter is gone. */
export async function describeSource(source: GpuSource, id: string): Promise<Adapter | undefined> {
  const adapter = await source.gpu.requestAdapter(source.request)
  return adapter === null ? undefined : describe(id, adapter.info, adapter.limits, adapter.features)
}

/** Describes the caller's own device. */
export function describeDevice(device: GPUDevice, id: string): Adapter {
  return describe(id, device.adapterInfo, device.limits, device.features, device.label)
}

function describe(
  id: string,
  info: GPUAdapterInfo | undefined,
  limits: GPUSupportedLimits,
  features: ReadonlySet<string>,
  label = '',
): Adapter {
  const has: DeviceFeature[] = []
  if (features.has('shader-f16')) has.push('shader-f16')
  if (features.has('subgroups')) has.push('subgroups')
  const matrices = (info as { subgroupMatrixConfigs?: Adapter['subgroupMatrixConfigs'] } | undefined)
    ?.subgroupMatrixConfigs
  if (features.has(matrixFeature)) has.push(matrixFeature)
  if (features.has('timestamp-query')) has.push('timestamps')
  const { name, driver } = names(info)
  return {
    backend: 'webgpu',
    id,
    name: name || label || 'WebGPU device',
    vendor: info?.vendor || 'unknown',
    ...(info?.architecture ? { architecture: info.architecture } : {}),
    ...(driver ? { driver } : {}),
    software: info !== undefined && isSoftware(info),
    limits: deviceLimits(limits),
    features: new Set(has),
    ...(has.includes('subgroups') && info?.subgroupMinSize !== undefined
      ? { subgroupMinSize: info.subgroupMinSize, subgroupMaxSize: info.subgroupMaxSize }
      : {}),
    ...(has.includes(matrixFeature) && matrices !== undefined
      ? { subgroupMatrixConfigs: [...matrices] }
      : {}),
  }
}

/**
 * Dawn in Node reports the GPU's name as `device` and the driver's as `description`. Chromium reports a PCI
 * id or nothing as `device`, and the GPU's name or nothing as `description`.
 */
function names(info: GPUAdapterInfo | undefined): { name: string; driver: string } {
  if (info === undefined) return { name: '', driver: '' }
  const { architecture, device, description, vendor } = info
  const dawn = device !== '' && !device.startsWith('0x')
  const driver = dawn ? description : ''
  if (architecture === 'swiftshader') return { name: 'SwiftShader', driver }
  const name = dawn ? device : description
  return { name: name || [vendor, architecture].filter(Boolean).join(' '), driver }
}

function deviceLimits(limits: GPUSupportedLimits): DeviceLimits {
  return {
    maxBufferByteLength: limits.maxBufferSize,
    maxStorageBindingByteLength: limits.maxStorageBufferBindingSize,
    maxStorageBuffersPerDispatch: limits.maxStorageBuffersPerShaderStage,
    maxUniformBindingByteLength: limits.maxUniformBufferBindingSize,
    bindingOffsetAlignment,
    maxWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
    maxWorkgroupInvocations: limits.maxComputeInvocationsPerWorkgroup,
    maxWorkgroupSize: [
      limits.maxComputeWorkgroupSizeX,
      limits.maxComputeWorkgroupSizeY,
      limits.maxComputeWorkgroupSizeZ,
    ],
    maxWorkgroupMemoryByteLength: limits.maxComputeWorkgroupStorageSize,
  }
}

/**
 * Calls on a Dawn device may hang once its adapter is garbage-collected, so each device keeps a reference to
 * its adapter.
 */
const adapterOf = new WeakMap<GPUDevice, GPUAdapter>()

/** Opens a `GPUDevice` with everything that its adapter can do. Rejects with `no-device` or `driver`. */
export async function openDevice(source: GpuSource, name: string, label: string): Promise<GPUDevice> {
  const adapter = await source.gpu.requestAdapter(source.request)
  if (adapter === null) throw new GpuError('no-device', `The adapter "${name}" is no longer available.`)
  const requiredLimits: Record<string, number> = {}
  for (const key in adapter.limits) {
    const value = adapter.limits[key as keyof GPUSupportedLimits]
    if (typeof value === 'number') requiredLimits[key] = value
  }
  try {
    const device = await adapter.requestDevice({
      label,
      requiredFeatures: requestedFeatures.filter((feature) => adapter.features.has(feature)),
      requiredLimits,
    })
    adapterOf.set(device, adapter)
    return device
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new GpuError('driver', `The adapter "${name}" cannot be opened: ${message}`, { cause })
  }
}
