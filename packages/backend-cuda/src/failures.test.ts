// The state after a failure: nothing is in flight, nothing has leaked, and programs run again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { cudaBackend } from './cuda.ts'
import type { LocalRuntime } from './local-runtime.ts'
import type { Lowering } from './lowering.ts'
import type { NativeGroup } from './native-addon.ts'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { fakeRuntimesOfTests } from './testing/fake-runtime.ts'
import { dispatch, plan, region } from './testing/plan-text.ts'
import { testKernelSource, translateTestKernel } from './testing/test-kernels.ts'

const openRuntime = fakeRuntimesOfTests()
const open = (indices: readonly number[], lowering: Lowering) => openRuntime(indices, { lowering })

beforeEach(() => configureFake())
// Before the runtimes are closed: the hook that is declared last runs first.
afterEach(() => configureFake())

/** On each of two GPUs, a word that is incremented by a separate uniform; the second follows the first. */
async function countingProgram(runtime: LocalRuntime) {
  const kernel = await runtime.compile(testKernelSource('add'))
  const a = await runtime.allocate(0, 16, { label: 'a', zero: true })
  const b = await runtime.allocate(1, 16, { label: 'b', zero: true })
  const whole = (buffer: number) => region(buffer, 0, 16)
  const program = plan(
    [a, b],
    [
      dispatch(0, whole(0), whole(0), 0, { afterPrevious: [1] }),
      dispatch(1, whole(1), whole(1), 1, { after: [0] }),
    ],
    [kernel],
    [3, 100],
  )
  const counts = async () => {
    const words: number[] = []
    for (const allocation of [a, b]) {
      const bytes = new Uint8Array(16)
      await runtime.read({ allocation, byteOffset: 0, rowByteLength: 16, rows: 1, rowByteStride: 16 }, bytes)
      words.push(new Uint32Array(bytes.buffer)[3]!)
    }
    return words
  }
  return { program, counts }
}

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(isGpuError(error)).toBe(true)
  return isGpuError(error) ? `${error.code}: ${error.message}` : ''
}

const noMemoryForGraph =
  /^out-of-memory: Instantiating program 'test' failed: cuGraphInstantiateWithFlags returned CUDA_ERROR_OUT_OF_MEMORY: out of memory\. The graph needs memory of the driver's own; \d+ bytes of 1073741824 bytes are free on CUDA device [01]\.$/

it.each(['one-graph', 'graph-per-gpu'] as const)(
  'frees all of a program that the driver has no memory for, and instantiates it later: %s',
  async (lowering) => {
    const runtime = await open([0, 1], lowering)
    const { program, counts } = await countingProgram(runtime)
    const graphs = lowering === 'one-graph' ? 1 : 2
    // One graph too few. If half a set remained, it would count against the next limit.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      configureFake({ FAKE_CUDA_GRAPHS: graphs - 1 })
      expect(await failure(runtime.instantiate(program))).toMatch(noMemoryForGraph)
    }
    expect(runtime.live().executables).toBe(0)
    configureFake({ FAKE_CUDA_GRAPHS: graphs })
    const executable = await runtime.instantiate(program)
    await runtime.run(executable, { times: 1 })
    expect(await counts()).toEqual([3, 100])
  },
)

it.each(['one-graph', 'graph-per-gpu'] as const)(
  'runs again what the driver had no memory for at the first run, and what is queued behind gets its uniforms: %s',
  async (lowering) => {
    const runtime = await open([0, 1], lowering)
    const { program, counts } = await countingProgram(runtime)
    const executable = await runtime.instantiate(program)
    configureFake({ FAKE_CUDA_GRAPHS: lowering === 'one-graph' ? 1 : 3 })
    const long = failure(runtime.run(executable, { times: 40 }))
    const short = runtime.run(executable, { times: 1 })
    expect(await long).toMatch(noMemoryForGraph)
    await short
    expect(await counts()).toEqual([3, 100])
    configureFake({ FAKE_CUDA_GRAPHS: 0 })
    expect(await failure(runtime.run(executable, { times: 1, profile: true }))).toMatch(noMemoryForGraph)
    configureFake()
    await runtime.run(executable, { times: 40 })
    expect((await runtime.run(executable, { times: 1, profile: true })).spans).toHaveLength(2)
    expect(await counts()).toEqual([3 * 42, 100 * 42])
  },
)

it('makes one graph, driven by the sender, of a program that copies megabytes between GPUs', async () => {
  const runtime = await open([0, 1], 'auto')
  const byteLength = 4 * 2 ** 20
  const a = await runtime.allocate(0, byteLength, { label: 'a', zero: true })
  const b = await runtime.allocate(1, byteLength, { label: 'b', zero: true })
  const whole = (buffer: number) => region(buffer, 0, byteLength)
  const fill = {
    kind: 'fill' as const,
    device: 0,
    target: whole(0),
    pattern: 7,
    patternByteLength: 4 as const,
    after: [],
    afterPrevious: [1],
  }
  const copy = {
    kind: 'copy' as const,
    device: 1,
    source: whole(0),
    target: whole(1),
    after: [0],
    afterPrevious: [],
  }
  // There is room for only one graph.
  configureFake({ FAKE_CUDA_GRAPHS: 1 })
  const executable = await runtime.instantiate(plan([a, b], [fill, copy], [], []))
  expect(executable.plan.commands.map(({ device }) => device)).toEqual([0, 0])
  await runtime.run(executable, { times: 1 })
  const bytes = new Uint8Array(byteLength)
  await runtime.read({ allocation: b, ...whole(1) }, bytes)
  expect(new Uint32Array(bytes.buffer).every((word) => word === 7)).toBe(true)
})

it('ends the graphs of the other GPUs when one cannot be launched, and counts launches afresh', async () => {
  const runtime = await open([0, 1], 'graph-per-gpu')
  const { program, counts } = await countingProgram(runtime)
  const executable = await runtime.instantiate(program)
  await runtime.run(executable, { times: 2 })
  configureFake({ FAKE_CUDA_FAIL_DEVICE: 1 })
  const running = failure(runtime.run(executable, { times: 2 }))
  const behind = failure(runtime.run(executable, { times: 2 }))
  expect(await running).toMatch(/^out-of-memory: Running program 'test' failed: cuGraphLaunch returned/)
  expect(await behind).toMatch(/a failed run before this one discarded/)
  configureFake()
  const before = await counts()
  for (let run = 1; run <= 3; run += 1) {
    await runtime.run(executable, { times: 500 })
    expect(await counts()).toEqual([before[0]! + run * 1500, before[1]! + run * 50_000])
  }
})

it('names in the report of a destroyed group the resources that the driver refuses to free', async () => {
  const backend = cudaBackend({ libraries: fakeLibraries(), kernelCache: false }, translateTestKernel)
  const group = await openGroup({ backends: [backend], devices: 2 })
  const buffer = await group.devices[1]!.allocate('u32', 4, { label: 'kept' })
  configureFake({ FAKE_FAIL: 'cuMemFreeAsync:1:1' })
  expect(await group.destroy()).toEqual({
    leaks: [{ kind: 'buffer', label: buffer.label, byteLength: 16 }],
    failures: [
      'On CUDA device 1, cuMemFreeAsync returned CUDA_ERROR_INVALID_VALUE: error of the fake driver.',
    ],
  })
})

it('unloads a kernel from every GPU with the last object and program that use it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tandem-unloaded-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const options = { libraries: fakeLibraries(), kernelCache: { directory } }
  const group = await openGroup({ backends: [cudaBackend(options, translateTestKernel)], devices: 2 })
  // Kernels of the front end are not executed; their label names a test kernel.
  const compile = (source: string) =>
    group.compile({ label: 'add', wgsl: `@compute @workgroup_size(1) fn main() {} // ${source}` })
  const noRoom = () => failure(compile('another'))
  // There is room for one kernel on each GPU.
  configureFake({ FAKE_CUDA_MODULES: 2 })
  for (let round = 0; round < 3; round += 1) {
    const [kernel, same] = await Promise.all([compile(`${round}`), compile(`${round}`)])
    const program = group.record((r) => r.dispatch(kernel!, { device: 0, workgroups: 1, args: {} }))
    kernel!.destroy()
    expect(await noRoom()).toMatch(/^out-of-memory: Loading kernel 'add' failed: cuModuleLoadDataEx/)
    same!.destroy()
    expect(await noRoom()).toMatch(/^out-of-memory/)
    program.destroy()
  }
  configureFake()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

it('refuses a kernel that needs more private memory than a GPU has', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tandem-private-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const options = { libraries: fakeLibraries(), kernelCache: { directory } }
  const group = await openGroup({ backends: [cudaBackend(options, translateTestKernel)], devices: 2 })
  const compile = () => group.compile({ label: 'add', wgsl: '@compute @workgroup_size(1) fn main() {}' })
  configureFake({ FAKE_CUDA_LOCAL_BYTES: 524_288 })
  ;(await compile()).destroy()
  configureFake({ FAKE_CUDA_LOCAL_BYTES: 524_289 })
  expect(await failure(compile())).toBe(
    "unsupported: Loading kernel 'add' failed: An invocation needs 524289 bytes of private memory, and a GPU has at most 524288.",
  )
  configureFake()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

it('executes everything that is queued before it closes', async () => {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  configureFake({ FAKE_CUDA_BUSY_MS: 5 })
  for (const wait of [false, true]) {
    const group: NativeGroup = await addon.openGroup(fakeLibraries().cuda, [0])
    await group.createGraph(1, 0, Float64Array.of(0))
    const running = group.run({
      before: [],
      steps: [{ graphs: [1], count: 20 }],
      uniformTargets: [],
      collect: [],
      abortWord: new Int32Array(1),
    })
    const memory = group.allocate(0, 64, true)
    if (wait) await new Promise((resolve) => setTimeout(resolve, 30))
    const closing = group.close()
    expect((await running).launches).toBe(20)
    expect(await memory).toBeGreaterThan(0)
    expect(await closing).toEqual([])
    for (const call of [() => group.allocate(0, 64, true), () => group.createLauncher(2, [1])])
      expect(call).toThrow(/The group has been closed/)
  }
})
