import {
  type Adapter,
  type AdapterReport,
  type Backend,
  describedValue,
  GpuError,
  requireOptions,
} from '@tandem-gpu/core'
import type { OpenOptions, Runtime } from '@tandem-gpu/core/backend'
import { type AdapterOrigin, describeDevice, describeSource, openDevice } from './adapters.ts'
import type { WebGpuOptions } from './options.ts'
import { PhysicalDevice } from './physical-device.ts'
import type { Platform } from './platform.ts'
import { WebGpuRuntime } from './runtime.ts'

const webGpuOptions = {
  device: 'object',
  gpu: 'object',
  software: ['prefer', 'allow', 'never'],
  peerAccess: 'boolean',
  toggles: 'object',
} as const

/** The backend over any platform that finds `GPU` objects. */
export function createBackend(options: WebGpuOptions, platform: Platform): Backend<Runtime> {
  requireOptions(options, 'webgpu', webGpuOptions)
  const { toggles = [] } = options
  if (!(Array.isArray(toggles) && toggles.every((toggle) => typeof toggle === 'string')))
    throw new GpuError('validation', 'The option toggles of webgpu must be an array of names.')
  for (const [name, method] of [
    ['gpu', 'requestAdapter'],
    ['device', 'createBuffer'],
  ] as const) {
    const given = options[name]
    if (given !== undefined && !(method in given))
      throw new GpuError(
        'validation',
        `The option ${name} of webgpu is ${describedValue(given)}, which has no ${method}.`,
      )
  }
  const origins = new Map<string, AdapterOrigin>()

  async function adapters(): Promise<AdapterReport> {
    if (options.device !== undefined) {
      const adapter = describeDevice(options.device, 'webgpu:device')
      origins.set(adapter.id, { device: options.device })
      return { adapters: [adapter] }
    }
    const { sources, absence, notes } = await platform(options)
    const found: Adapter[] = []
    for (const source of sources) {
      const adapter = await describeSource(source, `webgpu:${found.length}`)
      if (adapter === undefined) continue
      origins.set(adapter.id, { source })
      found.push(adapter)
    }
    if (found.length > 0) return { adapters: found, ...(notes.length > 0 ? { notes } : {}) }
    return {
      adapters: [],
      absence: absence ?? {
        code: 'no-device',
        reason: 'The adapter disappeared while it was being examined.',
      },
    }
  }

  async function open(wanted: readonly Adapter[], openOptions: OpenOptions = {}): Promise<Runtime> {
    if (wanted.length === 0)
      throw new GpuError('validation', 'open needs at least one adapter, but the list is empty.')
    const physical = new Map<string, PhysicalDevice>()
    try {
      for (const { id, name, software } of wanted) {
        if (physical.has(id)) continue
        const origin = origins.get(id)
        if (origin === undefined) {
          throw new GpuError('validation', `The adapter "${id}" (${name}) was not reported by this backend.`)
        }
        const device =
          'device' in origin
            ? origin.device
            : await openDevice(origin.source, name, openOptions.label ?? name)
        physical.set(id, new PhysicalDevice(device, { name, software, owned: !('device' in origin) }))
      }
    } catch (error) {
      for (const device of physical.values()) device.close()
      throw error
    }
    return new WebGpuRuntime(
      wanted,
      wanted.map(({ id }) => physical.get(id)!),
      options.peerAccess ?? true,
    )
  }

  return { name: 'webgpu', adapters, open }
}
