import { spawnSync } from 'node:child_process'
import { type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { afterEach, describe, expect, it } from 'vitest'
import { findAdapters } from './adapters.ts'
import { cuda } from './cuda.ts'
import { KernelCompiler } from './kernel-compiler.ts'
import { defaultLibraries } from './libraries.ts'
import { LocalRuntime } from './local-runtime.ts'
import { type NativeAddon, nativeAddon } from './native-addon.ts'
import { dispatch, plan, region } from './testing/plan-text.ts'
import { randomProgramDifferences } from './testing/random-program.ts'
import { testKernelSource, translateTestKernel } from './testing/test-kernels.ts'

const { adapters, absence } = await cuda().adapters()
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
      r.download(far, output.reshape(20, 64))
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
    // Whichever invocation reports first.
    expect(String(error)).toMatch(/'scale' accesses element (?:1\d\d|2[0-5]\d) of 'source'/)
  })

  it('gives spans for kernels and copies', async () => {
    const group = await open(2)
    const kernel = await group.compile({ label: 'scale', wgsl: scaleWgsl })
    const length = 1 << 24
    const a = await group.devices[0]!.allocate('f32', length)
    const c = await group.devices[0]!.allocate('f32', 1 << 22)
    const b = await group.devices[1]!.allocate('f32', length)
    const program = group.record((r) => {
      r.dispatch(kernel, {
        workgroups: 65_535,
        args: {
          source: a.slice(0, 1 << 22),
          target_: c,
          factor: 2,
          source_base: 0,
          target_base: 0,
          length: 1 << 22,
        },
      })
      r.copy(a, b)
      r.copy(c, a.slice(0, 1 << 22))
    })
    const { spans } = await group.queue.run(program, 2, { profile: true })
    console.log(JSON.stringify(spans))
    expect(spans).toHaveLength(3)
    for (const span of spans!) expect(span.endSeconds).toBeGreaterThan(span.startSeconds)
    // The last copy reads the kernel's output, and overwrites the source of the first copy.
    for (const earlier of [0, 1]) {
      expect(spans![2]!.startSeconds).toBeGreaterThanOrEqual(spans![earlier]!.endSeconds - 2e-6)
    }
  })

  const gpus =
    adapters.length < 2 ? ' (on one GPU: two queues of it; random programs are skipped without two GPUs)' : ''
  it(`synchronises graphs that run side by side through flags in memory${gpus}`, async () => {
    const addon = nativeAddon() as NativeAddon
    const { adapters, probe } = await findAdapters(addon, defaultLibraries)
    for (const lanes of adapters.length < 2 ? [2] : [2, 3, 4].filter((count) => count <= adapters.length)) {
      const indices = Array.from({ length: lanes }, (_, index) => (adapters.length >= lanes ? index : 0))
      const runtime = new LocalRuntime({
        native: await addon.openGroup(defaultLibraries.cuda, indices),
        adapters: indices.map((index) => adapters[index]!),
        gpuOfDevice: indices.map((_, index) => index),
        compiler: new KernelCompiler({
          addon,
          nvrtc: defaultLibraries.nvrtc,
          driverVersion: probe!.driverVersion,
          fmad: true,
          cache: undefined,
          shippedKernels: undefined,
        }),
        translate: translateTestKernel,
        peerAccess: true,
        lowering: 'graph-per-gpu',
        label: 'lanes',
      })
      // Branches of two graphs on one GPU may share a hardware queue and then wait for each other.
      for (let seed = 1; adapters.length > 1 && seed <= 30; seed += 1) {
        expect(await randomProgramDifferences(runtime, seed, 4 + (seed % 20), [1, 3, 40, 1, 200])).toEqual([])
      }
      const kernel = await runtime.compile(testKernelSource('add'))
      const a = await runtime.allocate(0, 4096, { label: 'a', zero: true })
      const b = await runtime.allocate(1, 4096, { label: 'b', zero: true })
      const [left, right] = [region(0, 0, 4096), region(1, 0, 4096)]
      for (const lowered of [
        plan([a, b], [dispatch(0, left, left, 0, { afterPrevious: [0] })], [kernel], [1]),
        plan(
          [a, b],
          [
            dispatch(0, right, left, 0, { afterPrevious: [0, 1] }),
            dispatch(1, left, right, 0, { after: [0], afterPrevious: [1] }),
          ],
          [kernel],
          [1],
        ),
        // The pattern of a stencil: both GPUs compute from both buffers of the previous repetition.
        plan(
          [
            a,
            b,
            await runtime.allocate(0, 4096, { label: 'c', zero: true }),
            await runtime.allocate(1, 4096, { label: 'd', zero: true }),
          ],
          [
            dispatch(0, right, region(2, 0, 4096), 0, { afterPrevious: [2, 3] }),
            dispatch(1, left, region(3, 0, 4096), 0, { afterPrevious: [2, 3] }),
            dispatch(0, region(3, 0, 4096), left, 0, { after: [0, 1] }),
            dispatch(1, region(2, 0, 4096), right, 0, { after: [0, 1] }),
          ],
          [kernel],
          [1],
        ),
      ]) {
        const executable = await runtime.instantiate(lowered)
        await runtime.run(executable, { times: 2000 })
        const { seconds } = await runtime.run(executable, { times: 2000 })
        console.log(
          `${lanes} lanes, ${lowered.commands.length} commands: ${((seconds / 2000) * 1e6).toFixed(2)} µs a repetition`,
        )
      }
      await runtime.dispose()
    }
  })

  it('says what was requested and what is free when memory runs out', async () => {
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
    expect(result.message).toMatch(/Start a new process\.$/)
    expect(result.first.reason).toBe('unknown')
  })
})
