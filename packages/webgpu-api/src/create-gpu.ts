import {
  type Device,
  type DeviceGroup,
  type LeakReport,
  openGroup,
  requireOptions,
  type SelectionOptions,
} from '@tandem-gpu/core'
import { openDeviceCommands } from '@tandem-gpu/core/backend'
import { GPU as ApiGpu } from './gpu.ts'
import { creation } from './interfaces.ts'

/** Options of `createGPU` for a device of a group. */
export interface GpuOptions {
  /** A submit that takes longer loses its own GPUDevice, and no other. Above 0 and at most 2147483; default 10. */
  readonly timeoutSeconds?: number | undefined
}

/** Options of `createGPU` that open a device. */
export interface CreateGpuOptions extends GpuOptions, Omit<SelectionOptions, 'devices' | 'virtual'> {}

/** The groups that `createGPU` has opened. */
const groups = new WeakMap<object, DeviceGroup>()

const defaultTimeoutSeconds = 10

/**
 * Creates the `GPU` object of one device: either a given device of a group, or the first device that
 * `backends` offer, which stays open until `destroyGPU`. Rejects with `unsupported` if the backend has no
 * command queues, and with the errors of `openGroup`.
 */
export async function createGPU(of: Device | CreateGpuOptions, options: GpuOptions = {}): Promise<GPU> {
  if ('allocate' in of) return makeGpu(of, options)
  const { timeoutSeconds, ...selection } = of
  const group = await openGroup({ ...selection, devices: 1, label: 'WebGPU' })
  try {
    const gpu = makeGpu(group.devices[0]!, { timeoutSeconds })
    groups.set(gpu, group)
    return gpu
  } catch (error) {
    await group.destroy()
    throw error
  }
}

/**
 * Closes the group that `createGPU` opened for this `GPU`, whose GPUDevices are then lost. Resolves to
 * undefined if `createGPU` opened none.
 */
export async function destroyGPU(gpu: GPU): Promise<LeakReport | undefined> {
  return groups.get(gpu)?.destroy()
}

function makeGpu(device: Device, options: GpuOptions): GPU {
  requireOptions(options, 'createGPU', { timeoutSeconds: 'number' })
  const { timeoutSeconds = defaultTimeoutSeconds } = options
  // Fail now, rather than at the first requestDevice, if the backend has no command queues or the limit is none.
  const probe = openDeviceCommands(device, {
    label: 'WebGPU',
    timeoutSeconds,
    onMessage: () => {},
    flush: () => {},
  })
  void probe.close()
  return new ApiGpu(creation, device, timeoutSeconds) as unknown as GPU
}
