import { measure } from '@tandem-gpu/algorithms'
import { type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import type { BenchResult } from './document.ts'

/**
 * The rates of the devices if they only copy, all at once: `copy` within their own memory, where every byte
 * is read and written, and `peer-copy` from each of several devices to the next, in bytes per second that
 * arrive on one device.
 */
export async function copyLimits(
  group: DeviceGroup,
  options: { readonly samples: number; readonly signal: AbortSignal },
): Promise<BenchResult[]> {
  const devices = group.devices.length
  const elements = group.software ? 2 ** 20 : 2 ** 27
  const owned = new OwnedResources()
  try {
    const allocate = () =>
      owned.keepAll(group.devices.map((device) => device.allocate('f32', elements, { zero: false })))
    const [sources, targets] = [await allocate(), await allocate()]
    const seconds = async (distance: number) => {
      const program = owned.keep(
        group.record((recorder) => {
          for (const [i, source] of sources.entries())
            recorder.copy(source, targets[(i + distance) % devices]!)
        }),
      )
      return (await measure(group, program, { ...options, warmup: 2 })).seconds
    }
    const result = (work: string, time: number, byteLength: number): BenchResult => ({
      work,
      variant: `tandem ${group.backend}`,
      devices,
      shape: { elements },
      seconds: time,
      rate: byteLength / time,
      unit: 'B/s',
      verified: true,
    })
    const own = result('copy', await seconds(0), 8 * elements * devices)
    return devices === 1 ? [own] : [own, result('peer-copy', await seconds(1), 4 * elements)]
  } finally {
    owned.destroy()
  }
}
