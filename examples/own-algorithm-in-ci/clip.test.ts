import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type Backend, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordClip } from './clip.ts'
import { clip } from './clip.wgsl.ts'

// The same tests on the CPU executor, which checks every access and runs commands in a random order, and on
// the software adapter, held to WebGPU's default limits. On a machine with a GPU, add cuda() or webgpu().
const backends: Record<string, () => Backend> = {
  'the reference backend': () => referenceBackend({ limits: { maxStorageBindingByteLength: 1024 } }),
  'the software adapter': () => webgpu({ software: 'prefer' }),
}

describe.each(Object.keys(backends))('clip on %s', (name) => {
  let group: DeviceGroup

  beforeAll(async () => {
    group = await openGroup({
      backends: [backends[name]!()],
      devices: 2,
      virtual: true,
      portableLimits: true,
    })
  })
  afterAll(async () => {
    expect(await group.destroy()).toEqual({ leaks: [] })
  })

  it.each([0, 1, 63, 64, 65, 1000])('is right for %i elements on each device', async (length) => {
    const kernel = await group.compile(clip)
    const parts = await Promise.all(group.devices.map((device) => device.allocate('f32', length)))
    const data = Float32Array.from({ length }, (_, i) => Math.sin(i) * 10)
    for (const part of parts) await group.queue.write(part, data)
    const program = group.record((r) => recordClip(r, kernel, parts, -2, 3))
    await group.queue.run(program)
    for (const part of parts)
      expect(await group.queue.read(part)).toEqual(data.map((value) => Math.min(3, Math.max(-2, value))))
    for (const resource of [program, kernel, ...parts]) resource.destroy()
  })
})
