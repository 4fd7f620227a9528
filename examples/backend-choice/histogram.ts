import { type Backend, isGpuError, OwnedResources, openGroup } from '@tandem-gpu/core'
import { histogram } from './histogram.wgsl.ts'

/** Counts how often each value from 0 to 255 occurs. */
export interface Histogram {
  /** Where it runs, for people. */
  readonly where: string
  count(values: Uint32Array): Promise<Uint32Array>
  close(): Promise<void>
}

/** On the first backend that has a device; without one, in JavaScript. The result is the same. */
export async function openHistogram(backends: readonly Backend[]): Promise<Histogram> {
  const group = await openGroup({ backends: [...backends], devices: 1 }).catch((error: unknown) => {
    // No driver and no device are what this program is prepared for. Everything else is an error.
    if (isGpuError(error, 'no-device') || isGpuError(error, 'no-driver')) return undefined
    throw error
  })
  if (group === undefined) return { where: 'JavaScript', count: countInJavaScript, async close() {} }
  const device = group.devices[0]!
  const kernel = await group.compile(histogram)
  return {
    where: `${device.info.name} through ${group.backend}`,
    async count(data) {
      const owned = new OwnedResources()
      try {
        const values = owned.keep(await device.allocate('u32', data.length))
        const counts = owned.keep(await device.allocate('u32', 256))
        const workgroups = Math.ceil(data.length / 64)
        const program = owned.keep(
          group.record((r) => r.dispatch(kernel, { workgroups, args: { values, counts } })),
        )
        await group.queue.write(values, data)
        await group.queue.run(program)
        return await group.queue.read(counts)
      } finally {
        owned.destroy()
      }
    },
    async close() {
      kernel.destroy()
      await group.destroy()
    },
  }
}

async function countInJavaScript(values: Uint32Array): Promise<Uint32Array> {
  const counts = new Uint32Array(256)
  for (const value of values) counts[value & 255]!++
  return counts
}
