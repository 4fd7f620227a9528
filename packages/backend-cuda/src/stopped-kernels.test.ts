// Kernels that never end, on the driver on the CPU: a time limit or a signal costs the run, and nothing else.
import { type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { afterEach, expect, it } from 'vitest'
import { cudaBackend } from './cuda.ts'
import type { Lowering } from './lowering.ts'
import { translateForCpu } from './testing/cpu-translation.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

const groups: DeviceGroup[] = []
afterEach(async () => {
  for (const group of groups.splice(0)) expect(await group.destroy()).toEqual({ leaks: [] })
})

async function open(devices = 1, lowering: Lowering = 'auto'): Promise<DeviceGroup> {
  configureFake({ FAKE_CUDA_DEVICES: devices })
  const backends = [
    cudaBackend({ libraries: fakeLibraries(), kernelCache: false, lowering }, translateForCpu),
  ]
  const group = await openGroup({ backends, devices })
  groups.push(group)
  return group
}

const loops = {
  while: 'while (n != 0u) { x[i] += 1u; }',
  barrier:
    'while (n != 0u) { tile[i] = x[i]; workgroupBarrier(); x[i] = tile[7u - i] + 1u; workgroupBarrier(); }',
}

/** A kernel that runs forever if its parameter `n` is not 0, and a program that runs it. */
async function endless(group: DeviceGroup, body = loops.while) {
  const kernel = await group.compile({
    wgsl: `struct Params { n: u32 }
      @group(0) @binding(0) var<uniform> params: Params;
      @group(0) @binding(1) var<storage, read_write> x: array<u32>;
      var<workgroup> tile: array<u32, 8>;
      @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { let n = params.n; ${body} x[i] += 5u; }`,
  })
  const x = await group.devices[0]!.allocate('u32', 8)
  const program = group.record((r) =>
    r.dispatch(kernel, { workgroups: 3, args: { x, n: r.parameter('n', 'u32', 1) } }),
  )
  const destroy = () => {
    program.destroy()
    kernel.destroy()
    x.destroy()
  }
  return { kernel, x, program, destroy }
}

/** The group computes as before. */
async function expectAlive(group: DeviceGroup, { x, program }: Awaited<ReturnType<typeof endless>>) {
  await group.queue.write(x, new Uint32Array(8))
  expect(await group.queue.run(program, 3, { parameters: { n: 0 } })).toMatchObject({ repetitions: 3 })
  expect([...(await group.queue.read(x))].every((value) => value >= 15)).toBe(true)
}

it.each(Object.entries(loops))(
  'a time limit ends a run inside its kernel (%s), and its group and another go on',
  async (_, body) => {
    const [group, other] = [await open(), await open()]
    const work = await endless(group, body)
    const beside = await endless(other, body)
    const before = performance.now()
    const running = group.queue.run(work.program, 5, { timeoutSeconds: 0.2 })
    const behind = group.queue.read(work.x)
    await expect(running).rejects.toMatchObject({
      code: 'timeout',
      message:
        'Program "program 0" ran longer than its limit of 0.2 s. It was stopped, and the memory it writes is undefined.',
    })
    expect(performance.now() - before).toBeGreaterThan(190)
    expect(await behind).toHaveLength(8)
    await expectAlive(group, work)
    await expectAlive(other, beside)
    // A second time, and without a limit in between.
    await expect(group.queue.run(work.program, 1, { timeoutSeconds: 0.05 })).rejects.toMatchObject({
      code: 'timeout',
    })
    await expectAlive(group, work)
    work.destroy()
    beside.destroy()
  },
)

it('a run that ends within its limit is as one without', async () => {
  const group = await open()
  const work = await endless(group)
  const result = await group.queue.run(work.program, 2, { parameters: { n: 0 }, timeoutSeconds: 600 })
  expect(result.repetitions).toBe(2)
  work.destroy()
})

it('GPUs that wait for one with an endless kernel end with it, and compute on', async () => {
  const group = await open(2, 'graph-per-gpu')
  const work = await endless(group)
  const y = await group.devices[1]!.allocate('u32', 8)
  const both = group.record((r) => {
    r.dispatch(work.kernel, { workgroups: 1, args: { x: work.x, n: r.parameter('n', 'u32', 1) } })
    r.copy(work.x, y)
    r.fill(work.x, 0)
  })
  await expect(group.queue.run(both, 5, { timeoutSeconds: 0.2 })).rejects.toMatchObject({ code: 'timeout' })
  await group.queue.run(both, 7, { parameters: { n: 0 } })
  expect([...(await group.queue.read(y))]).toEqual(Array(8).fill(5))
  both.destroy()
  y.destroy()
  work.destroy()
})

it('a signal acts inside kernels if that is requested', async () => {
  const group = await open()
  const work = await endless(group)
  const controller = new AbortController()
  const running = group.queue.run(work.program, 5, { signal: controller.signal, stopKernels: true })
  setTimeout(() => controller.abort(), 100)
  await expect(running).rejects.toMatchObject({ code: 'aborted' })
  await expectAlive(group, work)
  work.destroy()
})

it('a signal without it lets the kernels that run end by themselves', async () => {
  const group = await open()
  const work = await endless(group)
  await work.program.prepare()
  const controller = new AbortController()
  const running = group.queue.run(work.program, 5, { signal: controller.signal, timeoutSeconds: 1 })
  setTimeout(() => controller.abort(), 500)
  // The limit comes later, and ends what the signal lets run.
  await expect(running).rejects.toMatchObject({ code: 'timeout' })
  await expectAlive(group, work)
  work.destroy()
})

it('in a run with several parts, one that takes too long ends those after it', async () => {
  const group = await open()
  const work = await endless(group)
  const before = performance.now()
  const running = group.queue.run(work.program, 20, { timeoutSeconds: 0.2, onProgress: () => {} })
  await expect(running).rejects.toMatchObject({ code: 'timeout' })
  expect(performance.now() - before).toBeLessThan(20 * 200)
  await expectAlive(group, work)
  work.destroy()
})

it('a kernel declared to terminate checks the stop word only when a workgroup begins: a time limit waits for the running launch and ends the run behind it', async () => {
  configureFake({ FAKE_CUDA_DEVICES: 1 })
  const texts: string[] = []
  const backends = [
    cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, (source, form) => {
      const translated = translateForCpu(source, form)
      texts.push(translated.source)
      return translated
    }),
  ]
  const group = await openGroup({ backends })
  groups.push(group)
  const wgsl = `
    @group(0) @binding(0) var<uniform> n: u32;
    @group(0) @binding(1) var<storage, read_write> x: array<u32>;
    @compute @workgroup_size(1) fn main() {
      var state = x[1];
      for (var k = 0u; k < n; k++) { state = state * 1664525u + k; }
      x[0] += 1u;
      x[1] = state;
    }`
  const looking = await group.compile({ wgsl })
  const kernel = await group.compile({ wgsl, terminates: true })
  expect(texts.map((text) => /\n {2}look_first\(stop_word\);/.test(text))).toEqual([false, true])
  const x = await group.devices[0]!.allocate('u32', 2)
  const program = group.record((r) =>
    r.dispatch(kernel, { workgroups: 1, args: { n: r.parameter('n', 'u32', 20_000_000), x } }),
  )
  // A run without a limit does not check the word, and leaves its graphs to no run with a limit.
  await group.queue.run(program, 1000, { parameters: { n: 1 } })
  const running = group.queue.run(program, 1000, { timeoutSeconds: 0.01 })
  await expect(running).rejects.toMatchObject({ code: 'timeout' })
  const [runs] = await group.queue.read(x)
  expect(runs).toBeGreaterThan(1000)
  expect(runs).toBeLessThan(2000)
  await group.queue.run(program, 1000, { parameters: { n: 1 } })
  expect((await group.queue.read(x))[0]).toBe(runs! + 1000)
  for (const one of [program, kernel, looking, x]) one.destroy()
})

it('stopKernels is refused if kernels of the program cannot be ended', async () => {
  configureFake({ FAKE_CUDA_DEVICES: 1 })
  const translate = (source: Parameters<typeof translateForCpu>[0]) => ({
    ...translateForCpu(source),
    isStoppable: false,
  })
  const backends = [cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translate)]
  const group = await openGroup({ backends })
  groups.push(group)
  const work = await endless(group)
  const { signal } = new AbortController()
  const refused = await group.queue
    .run(work.program, 1, { signal, stopKernels: true })
    .catch((error: unknown) => error)
  expect(isGpuError(refused, 'unsupported')).toBe(true)
  await group.queue.run(work.program, 1, { parameters: { n: 0 } })
  work.destroy()
})
