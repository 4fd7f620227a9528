import { type Absence, type Adapter, type DeviceFeature, type DeviceLimits, GpuError } from '@tandem-gpu/core'
import { cudaSubgroupMatrixConfigs } from '@tandem-gpu/wgsl'
import { isNativeError, toGpuError } from './driver-error.ts'
import type { Libraries } from './libraries.ts'
import {
  addonAbsence,
  type NativeAddon,
  type NativeDevice,
  type NativeProbe,
  type NvmlDevice,
  type NvmlLinks,
} from './native-addon.ts'

/** Normalizes to the form `0000:1b:00.0`: CUDA writes upper case, NVML an eight-digit domain. */
export function normalPciBusId(text: string): string {
  const [domain = '', bus = '', device = ''] = text.toLowerCase().split(':')
  return `${domain.slice(-4).padStart(4, '0')}:${bus}:${device}`
}

/**
 * The device as CUDA and NVML identify it. CUDA's order and number of devices depend on CUDA_VISIBLE_DEVICES,
 * NVML's do not.
 */
export interface DeviceIdentity {
  readonly pciBusId: string
  /** In NVML's format (`GPU-…`, or `MIG-…` for a slice of a GPU), even if NVML is missing. */
  readonly uuid: string
  /** NVML's index of the GPU, or of the GPU that holds the MIG slice. */
  readonly nvmlIndex: number | undefined
}

/** Matches devices by UUID, then by PCI bus ID: a MIG slice has its own UUID but its GPU's bus ID. */
export function identify(
  device: Pick<NativeDevice, 'uuid' | 'pciBusId'>,
  nvml: readonly NvmlDevice[],
): DeviceIdentity {
  const pciBusId = normalPciBusId(device.pciBusId)
  const uuid = `GPU-${device.uuid}`
  const byUuid = nvml.find((candidate) => candidate.uuid.toLowerCase() === uuid.toLowerCase())
  if (byUuid !== undefined) return { pciBusId, uuid, nvmlIndex: byUuid.index }
  const byBus = nvml.find((candidate) => normalPciBusId(candidate.pciBusId) === pciBusId)
  if (byBus === undefined) return { pciBusId, uuid, nvmlIndex: undefined }
  return { pciBusId, uuid: `MIG-${device.uuid}`, nvmlIndex: byBus.index }
}

/** An adapter that this backend described. */
export interface CudaAdapter extends Adapter {
  readonly architecture: string
  readonly uuid: string
  readonly index: number
  /** Whether its NVLinks lead to an NVSwitch, through which all of them reach any one other device. */
  readonly isSwitched: boolean
}

/** The same adapters, if this backend described them; throws `validation` otherwise. */
export function cudaAdapters<A extends Adapter>(adapters: readonly A[]): readonly (A & CudaAdapter)[] {
  const isOurs = (adapter: A): adapter is A & CudaAdapter =>
    adapter.backend === 'cuda' &&
    adapter.index !== undefined &&
    adapter.architecture !== undefined &&
    adapter.uuid !== undefined
  return adapters.map((adapter) => {
    if (isOurs(adapter)) return adapter
    throw new GpuError('validation', `Adapter '${adapter.id}' does not come from the CUDA backend.`)
  })
}

export type FoundAdapters =
  | {
      readonly adapters: readonly CudaAdapter[]
      readonly notes?: readonly string[]
      readonly addon: NativeAddon
      readonly probe: NativeProbe
      readonly absence?: undefined
    }
  | {
      readonly adapters: readonly CudaAdapter[]
      readonly notes?: undefined
      readonly probe?: undefined
      readonly absence: Absence
    }

/**
 * Every CUDA device of this process. A missing driver results in an `absence`, a missing NVML in a note; a
 * broken installation throws (`addonAbsence`).
 */
export async function findAdapters(addon: NativeAddon | Error, libraries: Libraries): Promise<FoundAdapters> {
  if (addon instanceof Error) return { adapters: [], absence: addonAbsence(addon) }
  let probe: NativeProbe
  try {
    probe = await addon.probe(libraries.cuda)
  } catch (error) {
    if (!isNativeError(error)) throw error
    // The host is out of memory, which does not mean that the driver is missing.
    if (error.nativeCode === 'out-of-memory') throw toGpuError(error, 'Looking for CUDA devices')
    const code = error.nativeCode === 'no-device' ? 'no-device' : 'no-driver'
    return {
      adapters: [],
      absence: {
        code,
        reason: error.message,
        remedy:
          code === 'no-device'
            ? 'Check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES does not hide it.'
            : 'Install NVIDIA driver 525 or newer, or start the container with the NVIDIA runtime. The CUDA toolkit is not needed.',
      },
    }
  }
  if (probe.devices.length === 0) {
    return { adapters: [], absence: { code: 'no-device', reason: 'The NVIDIA driver found no CUDA device.' } }
  }
  const notes: string[] = []
  let nvmlDevices: readonly NvmlDevice[] | undefined
  let driver = `CUDA ${Math.floor(probe.driverVersion / 1000)}.${Math.floor((probe.driverVersion % 1000) / 10)}`
  try {
    const nvml = await addon.nvmlDevices(libraries.nvml)
    nvmlDevices = nvml.devices
    if (nvml.driverVersion !== '') driver = nvml.driverVersion
  } catch (error) {
    if (!isNativeError(error)) throw error
    notes.push(
      `${error.message} Utilization, power, temperature and links are not reported; everything else works. libnvidia-ml.so.1 comes with the driver.`,
    )
  }
  const adapters = await Promise.all(
    probe.devices.map(async (device) => {
      const identity = identify(device, nvmlDevices ?? [])
      const links = await nvLinksOf(addon, libraries, identity)
      const isSwitched = (links?.toSwitch ?? 0) > 0
      return describe(device, identity, driver, { isSwitched, ...sensorsOf(addon, libraries, identity) })
    }),
  )
  return { adapters, addon, probe, ...(notes.length > 0 ? { notes } : {}) }
}

/** The fields of an adapter whose GPU NVML has found. */
type Sensors = Pick<Adapter, 'nvmlIndex' | 'telemetry'>

/** The NVLinks of a device; undefined if NVML does not report them. */
export async function nvLinksOf(
  addon: NativeAddon,
  libraries: Libraries,
  { nvmlIndex, uuid }: { readonly uuid: string; readonly nvmlIndex?: number | undefined },
): Promise<NvmlLinks | undefined> {
  return nvmlIndex === undefined ? undefined : answerOf(addon.nvmlLinks(libraries.nvml, uuid))
}

/** NVML's result; undefined if the call fails. */
export async function answerOf<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call
  } catch (error) {
    if (isNativeError(error)) return undefined
    throw error
  }
}

function sensorsOf(addon: NativeAddon, libraries: Libraries, { nvmlIndex, uuid }: DeviceIdentity): Sensors {
  if (nvmlIndex === undefined) return {}
  const telemetry = async () => {
    try {
      return await addon.nvmlRead(libraries.nvml, uuid)
    } catch (error) {
      throw toGpuError(error, `Reading the sensors of ${uuid}`)
    }
  }
  return { nvmlIndex, telemetry }
}

function describe(
  device: NativeDevice,
  { uuid, pciBusId }: DeviceIdentity,
  driver: string,
  nvml: Sensors & Pick<CudaAdapter, 'isSwitched'>,
): CudaAdapter {
  return {
    backend: 'cuda',
    id: `cuda:${uuid}`,
    name: device.name,
    vendor: 'nvidia',
    architecture: architectureOf(device),
    driver,
    software: false,
    memoryByteLength: device.totalByteLength,
    pciBusId,
    uuid,
    index: device.ordinal,
    ...nvml,
    limits: limitsOf(device),
    features: featuresOf(device),
    subgroupMinSize: device.warpSize,
    subgroupMaxSize: device.warpSize,
    ...(hasTensorCores(device) ? { subgroupMatrixConfigs: cudaSubgroupMatrixConfigs } : {}),
  }
}

/** Returns `sm_90` for compute capability 9.0. */
function architectureOf(
  device: Pick<NativeDevice, 'computeCapabilityMajor' | 'computeCapabilityMinor'>,
): string {
  return `sm_${device.computeCapabilityMajor}${device.computeCapabilityMinor}`
}

/** 4 KiB of kernel parameters hold 85 bindings of the six words that `trap` passes for each binding. */
const maxStorageBuffersPerDispatch = 80

function limitsOf(device: NativeDevice): DeviceLimits {
  return {
    maxBufferByteLength: device.totalByteLength,
    maxStorageBindingByteLength: device.totalByteLength,
    maxStorageBuffersPerDispatch,
    maxUniformBindingByteLength: 65_536,
    bindingOffsetAlignment: 256,
    // CUDA allows more in x; all backends use the same limit, so that a program means the same everywhere.
    maxWorkgroupsPerDimension: 65_535,
    maxWorkgroupInvocations: device.maxThreadsPerBlock,
    maxWorkgroupSize: [device.maxBlockDimX, device.maxBlockDimY, device.maxBlockDimZ],
    maxWorkgroupMemoryByteLength: device.maxSharedMemoryPerBlockOptin,
  }
}

/** Whether the device has the matrix instructions that translated kernels use. */
function hasTensorCores(device: NativeDevice): boolean {
  return device.computeCapabilityMajor >= 8
}

function featuresOf(device: NativeDevice): ReadonlySet<DeviceFeature> {
  const features: DeviceFeature[] = ['subgroups', 'timestamps', 'trap']
  if (device.computeCapabilityMajor * 10 + device.computeCapabilityMinor >= 53) features.push('shader-f16')
  if (hasTensorCores(device)) features.push('chromium-experimental-subgroup-matrix')
  return new Set(features)
}
