import { spawnSync } from 'node:child_process'
import { type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { afterEach, describe, expect, it } from 'vitest'
import { cuda } from './cuda.ts'

const { absence } = await cuda().adapters()
const reason = absence === undefined ? '' : ` (skipped: ${absence.reason})`

const scaleWgsl = `
struct Scalars { factor: f32, source_base: u32, target_base: u32, length: u32 }
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> target_: array<f32>;
@group(0) @binding(2) var<uniform> scalars: Scalars;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < scalars.length) { target_[id.x] = target_[id.x] + scalars.factor * source[id.x]; }
}`

describe.skipIf(absence !== undefined)(`real CUDA devices${reason}`, () => {
  const groups: DeviceGroup[] = []
  const open = async (devices: number, options: Parameters<typeof cuda>[0] = {}) => {
    const group = await openGroup({ backends: [cuda(options)], devices, virtual: true })
    groups.push(group)
    return group
  }
  afterEach(async () => {
    for (const group of groups.splice(0)) await group.destroy()
  })

  it('uploads, computes, copies between devices and downloads', async () => {
    const group = await open(2)
    const kernel = await group.compile({ label: 'scale', wgsl: scaleWgsl })
    const length = 1000
    const a = await group.devices[0]!.allocate('f32', length)
    const sum = await group.devices[0]!.allocate('f32', length)
    const far = await group.devices[1]!.allocate('f32', [20, 64])
    const input = group.allocateHost('f32', length)
    const output = group.allocateHost('f32', 20 * 64)
    for (let index = 0; index < length; index += 1) input.array[index] = index
    const program = group.record((r) => {
      r.upload(input, a)
      r.dispatch(kernel, {
        workgroups: Math.ceil(length / 64),
        args: { source: a, target_: sum, factor: 2, source_base: 0, target_base: 0, length },
      })
      r.copy(sum.reshape(20, 50), far.block(0, 7, 20, 50))
      r.download(far, output)
    })
    const { seconds, clock } = await group.queue.run(program, 3)
    expect(clock).toBe('device')
    expect(seconds).toBeGreaterThan(0)
    for (let index = 0; index < length; index += 1) {
      expect(output.array[Math.floor(index / 50) * 64 + 7 + (index % 50)]).toBe(6 * index)
    }
    expect(output.array[6]).toBe(0)
    program.destroy()
    kernel.destroy()
    for (const resource of [a, sum, far, input, output]) resource.destroy()
    expect(await group.destroy()).toEqual({ leaks: [] })
    groups.length = 0
  })

  it('reports accesses outside a declared view in trap mode', async () => {
    const group = await open(1)
    const kernel = await group.compile({ label: 'scale', wgsl: scaleWgsl, bounds: 'trap' })
    const a = await group.devices[0]!.allocate('f32', 256)
    const b = await group.devices[0]!.allocate('f32', 256)
    const program = group.record((r) => {
      r.dispatch(kernel, {
        workgroups: 4,
        args: { source: a.slice(0, 100), target_: b, factor: 2, source_base: 0, target_base: 0, length: 256 },
      })
    })
    const error = await group.queue.run(program).catch((e: unknown) => e)
    expect(isGpuError(error, 'validation')).toBe(true)
    expect(String(error)).toMatch(/'scale' reaches element 1\d\d of 'source'/)
  })

  it('gives spans for kernels and copies', async () => {
    const group = await open(2)
    const kernel = await group.compile({ label: 'scale', wgsl: scaleWgsl })
    const length = 1 << 24
    const a = await group.devices[0]!.allocate('f32', length)
    const b = await group.devices[1]!.allocate('f32', length)
    const program = group.record((r) => {
      r.dispatch(kernel, {
        workgroups: 65_535,
        args: {
          source: a.slice(0, 1 << 22),
          target_: a.slice(1 << 23, 1 << 22),
          factor: 2,
          source_base: 0,
          target_base: 0,
          length: 1 << 22,
        },
      })
      r.copy(a, b)
    })
    const { spans } = await group.queue.run(program, 2, { profile: true })
    console.log(spans)
    expect(spans).toHaveLength(2)
    for (const span of spans!) expect(span.endSeconds).toBeGreaterThan(span.startSeconds)
    expect(spans![1]!.startSeconds).toBeGreaterThanOrEqual(spans![0]!.endSeconds - 2e-6)
  })

  it('says what was asked and what is free when memory runs out', async () => {
    const group = await open(1)
    const error = await group.devices[0]!.allocate('f32', 2 ** 37, { zero: false }).catch((e: unknown) => e)
    expect(isGpuError(error, 'out-of-memory') || isGpuError(error, 'too-large')).toBe(true)
    console.log(String(error))
  })

  it('moves more than 4 GiB from page-locked memory', async () => {
    const group = await open(1)
    const length = 2 ** 30 + 1024
    const host = group.allocateHost('u32', length)
    host.array[length - 1] = 77
    host.array[2 ** 30 - 1] = 78
    const buffer = await group.devices[0]!.allocate('u32', length, { zero: false })
    const program = group.record((r) => r.upload(host, buffer))
    const { seconds } = await group.queue.run(program)
    console.log(`upload: ${(length * 4) / seconds / 1e9} GB/s`)
    expect([...(await group.queue.read(buffer.slice(length - 1, 1)))]).toEqual([77])
    expect([...(await group.queue.read(buffer.slice(2 ** 30 - 1, 1)))]).toEqual([78])
    host.destroy()
  })

  it('loses every group of the process at an illegal access, and says that a new process is needed', () => {
    const script = `
      import { openGroup } from '@tandem-gpu/core'
      import { cuda } from '@tandem-gpu/backend-cuda'
      const open = () => openGroup({ backends: [cuda()], devices: 1 })
      const [group, other] = [await open(), await open()]
      const kernel = await group.compile({ label: 'wild', bounds: 'unchecked', wgsl: \`
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1) fn main() { var i = data[0]; data[i * 4000000000u] = 1u; data[i * 3000000000u] = 2u; }\` })
      const data = await group.devices[0].allocate('u32', 4)
      await group.queue.write(data, Uint32Array.of(1, 0, 0, 0))
      const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { data } }))
      const error = await group.queue.run(program).catch((e) => e)
      const after = await other.devices[0].allocate('u32', 4).catch((e) => e)
      const [first, second] = await Promise.all([group.lost, other.lost])
      const reopened = await open().catch((e) => e)
      console.log(JSON.stringify({ error: error.code, message: error.message, after: after.code, first, second, reopened: reopened.code }))
      await group.destroy(); await other.destroy()`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    })
    console.log(stdout, stderr)
    const result = JSON.parse(stdout)
    expect(result).toMatchObject({ error: 'device-lost', after: 'device-lost', reopened: 'device-lost' })
    expect(result.message).toMatch(/start a new process/)
    expect(result.first.reason).toBe('unknown')
  })
})
