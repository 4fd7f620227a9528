import type { DeviceGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'

/**
 * Values that go round the devices of a group, by one device with each repetition of `program`, in which all
 * ranks have a part. Device i begins with `start + i`.
 */
export async function valueRing(group: DeviceGroup, start = 0) {
  const { devices, queue } = group
  const count = devices.length
  const [values, next] = await Promise.all(
    [0, 1].map(() => Promise.all(devices.map((device) => device.allocate('u32', 8)))),
  )
  for (const [i, buffer] of values!.entries()) await queue.write(buffer, new Uint32Array(8).fill(start + i))
  const program = group.record((r) => {
    for (let i = 0; i < count; i++) r.copy(values![i]!, next![(i + 1) % count]!)
    for (let i = 0; i < count; i++) r.copy(next![i]!, values![i]!)
  })
  return {
    program,
    owned: [program, ...values!, ...next!],
    async expectTurns(turns: number) {
      for (const [i, buffer] of values!.entries())
        expect([...new Set(await queue.read(buffer))]).toEqual([
          start + ((((i - turns) % count) + count) % count),
        ])
    },
  }
}
