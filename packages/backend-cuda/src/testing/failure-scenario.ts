import { isGpuError } from '@tandem-gpu/core'
import { commandWords } from '@tandem-gpu/core/backend'
import { findAdapters } from '../adapters.ts'
import { toGpuError } from '../driver-error.ts'
import { encodeNodes } from '../graph-nodes.ts'
import { internalKernels, kernelPtx } from '../internal-kernels.ts'
import { KernelCache } from '../kernel-cache.ts'
import { KernelCompiler } from '../kernel-compiler.ts'
import type { Libraries } from '../libraries.ts'
import { LocalRuntime } from '../local-runtime.ts'
import type { Lowering } from '../lowering.ts'
import type { NativeAddon, NativeGroup } from '../native-addon.ts'
import { SharedMemory } from '../shared-memory.ts'
import { findTopology } from '../topology.ts'
import { dispatch, plan, region } from './plan-text.ts'
import { testKernelSource, translateTestKernel } from './test-kernels.ts'

/** The machine on which a scenario runs. */
export interface ScenarioMachine {
  readonly addon: NativeAddon
  readonly libraries: Libraries
  /** Compiled kernels, for scenarios that need no compiler; absent for those that test it. */
  readonly cacheDirectory: string | undefined
}

/** A reported failure. */
export interface Noticed {
  readonly step: string
  /** A GpuError's code; or `absence`, `note` and `unfreed` for failures reported in other ways. */
  readonly code: string
  readonly message: string
}

const byteLength = 65_536

/**
 * Runs everything that calls a library: looks for adapters, reads sensors, opens two GPUs, compiles,
 * transfers, runs programs in both lowerings, profiles, and closes. Returns the reported failures; throws
 * errors other than `GpuError`.
 */
export async function runScenario(machine: ScenarioMachine): Promise<Noticed[]> {
  const { addon, libraries } = machine
  const noticed: Noticed[] = []
  const attempt = async <T>(step: string, body: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await body()
    } catch (error) {
      if (!isGpuError(error)) throw error
      noticed.push({ step, code: error.code, message: error.message })
      return undefined
    }
  }
  const { adapters, absence, notes, probe } = await findAdapters(addon, libraries)
  if (absence !== undefined)
    noticed.push({ step: 'probe', code: `absence ${absence.code}`, message: absence.reason })
  for (const message of notes ?? []) noticed.push({ step: 'probe', code: 'note', message })
  if (probe === undefined) return noticed
  await attempt('telemetry', async () => adapters[0]!.telemetry?.())
  const topology = await attempt('topology', () => findTopology(addon, libraries))
  if (topology?.adapters.length === 0)
    noticed.push({ step: 'topology', code: 'absence', message: 'There are no adapters.' })
  for (const lowering of ['one-graph', 'graph-per-gpu'] as const) {
    const runtime = await attempt(`open ${lowering}`, async () => {
      try {
        return new LocalRuntime({
          native: await addon.openGroup(libraries.cuda, [0, 1]),
          adapters: adapters.slice(0, 2),
          gpuOfDevice: [0, 1],
          compiler: new KernelCompiler({
            addon,
            nvrtc: libraries.nvrtc,
            driverVersion: probe.driverVersion,
            fmad: true,
            cache:
              machine.cacheDirectory === undefined
                ? undefined
                : new KernelCache({ directory: machine.cacheDirectory }),
            shippedKernels: undefined,
          }),
          translate: (source) => ({ ...translateTestKernel(source), dynamicSharedByteLength: 64 }),
          peerAccess: true,
          lowering,
          label: 'scenario',
        })
      } catch (error) {
        throw toGpuError(error, 'Opening 2 CUDA devices')
      }
    })
    if (runtime === undefined) continue
    await attempt(lowering, () => work(runtime, lowering))
    for (const message of await runtime.dispose())
      noticed.push({ step: `close ${lowering}`, code: 'unfreed', message })
    const live = Object.entries(runtime.live()).filter(([, count]) => count !== 0)
    if (live.length > 0) throw new Error(`Live after dispose: ${JSON.stringify(live)}`)
  }
  return noticed
}

/**
 * Makes the driver calls for memory shared between processes: a GPU's memory is named, mapped, read and
 * unmapped, here by the same process.
 */
export function runSharedScenario(machine: ScenarioMachine): Promise<Noticed[]> {
  return onOneGpu(machine, true, 'share', async (native) => {
    const processes = { rank: 0, exchange: async () => [], broken: new Promise(() => {}) }
    const shared = new SharedMemory(native, processes)
    const address = await shared.allocate(0, 64, true)
    const name = await shared.nameOf(address)
    const mapped = await shared.open(name)
    const region = { gpu: 0, address: mapped, rowByteLength: 64, rows: 1, rowByteStride: 64 }
    const found = new Uint8Array(64).fill(1)
    await native.read(region, found)
    if (found.some((byte) => byte !== 0)) throw new Error('The mapped memory has different contents.')
    shared.close(name)
    native.free(address)
  })
}

/**
 * Makes the NCCL calls, and the driver calls for them: the one rank of a communicator sends itself a message
 * in a graph.
 */
export function runMessagesScenario(machine: ScenarioMachine): Promise<Noticed[]> {
  const { addon, libraries } = machine
  return onOneGpu(machine, false, 'messages', async (native) => {
    await addon.ncclVersion(libraries.nccl)
    const name = await addon.ncclUniqueId(libraries.nccl)
    await native.joinRanks(libraries.nccl, name, 0, 1)
    const address = await native.allocate(0, 128, true)
    const message = { peer: 0, byteLength: 64 }
    const messages = [
      { ...message, sends: true, address },
      { ...message, sends: false, address: address + 64 },
    ]
    const region = { gpu: 0, rowByteLength: 64, rows: 1, rowByteStride: 64 }
    await native.write({ ...region, address }, new Uint8Array(64).fill(7))
    await native.createGraph(1, 0, encodeNodes([{ kind: 'messages', gpu: 0, after: [], messages }]))
    await native.run({
      before: [],
      steps: [{ graphs: [1], count: 2 }],
      uniformTargets: [],
      collect: [],
      abortWord: new Int32Array(1),
    })
    const found = new Uint8Array(64)
    await native.read({ ...region, address: address + 64 }, found)
    if (found.some((byte) => byte !== 7)) throw new Error('The message arrives as something else.')
    native.destroyGraph(1)
    native.free(address)
  })
}

/** Makes the driver calls for a command queue: a write, a copy to page-locked memory, and a read of that. */
export function runQueueScenario(machine: ScenarioMachine): Promise<Noticed[]> {
  return onOneGpu(machine, false, 'queue', async (native) => {
    const { copy16, scatter, stamp } = internalKernels
    const kernels = [copy16, scatter, stamp].map((entry, index) => {
      const image = new TextEncoder().encode(kernelPtx(entry)) as Uint8Array<ArrayBuffer>
      return native.loadKernel(index + 1, 0, image, entry, 0)
    })
    let lost: Error | undefined
    const queue = native.openQueue(4, 0, 0, [1, 2, 3], (_kind, _first, _second, text, nativeCode, result) => {
      lost ??= Object.assign(new Error(text), { nativeCode, result })
    })
    await Promise.all(kernels)
    queue.createBuffer(1, 64, false)
    queue.createBuffer(2, 64, true)
    const words = [commandWords.write, 1, 0, 0, 64, commandWords.copy, 1, 0, 2, 0, 64]
    queue.submit(1, Float64Array.from(words), new Uint8Array(64).fill(7))
    await queue.fence().catch((error: unknown) => {
      throw lost ?? error
    })
    if (new Uint8Array(queue.mappedRange(2, 0, 64)).some((byte) => byte !== 7))
      throw new Error('What is written arrives as something else.')
    queue.unmap(2, false)
    await queue.close()
    if (lost !== undefined) throw lost
  })
}

/**
 * Opens a GPU, runs the step, and closes the GPU. Returns the reported failures; throws errors other than
 * `GpuError`.
 */
async function onOneGpu(
  { addon, libraries }: ScenarioMachine,
  shareable: boolean,
  step: string,
  body: (native: NativeGroup) => Promise<void>,
): Promise<Noticed[]> {
  const noticed: Noticed[] = []
  const attempt = async <T>(what: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await act()
    } catch (error) {
      const known = toGpuError(error, what)
      if (!isGpuError(known)) throw known
      noticed.push({ step: what, code: known.code, message: known.message })
      return undefined
    }
  }
  const native = await attempt('open', () => addon.openGroup(libraries.cuda, [0], shareable))
  if (native === undefined) return noticed
  await attempt(step, () => body(native))
  const failures = await attempt('close', () => native.close())
  for (const message of failures ?? []) noticed.push({ step: 'close', code: 'unfreed', message })
  return noticed
}

async function work(runtime: LocalRuntime, lowering: Lowering): Promise<void> {
  const kernel = await runtime.compile(testKernelSource('add'))
  const a = await runtime.allocate(0, byteLength, { label: 'a', zero: true })
  const b = await runtime.allocate(1, byteLength, { label: 'b', zero: false })
  const host = runtime.allocateHost(byteLength)
  const small = { byteOffset: 0, rowByteLength: 64, rows: 1, rowByteStride: 64 }
  const rows = { byteOffset: 0, rowByteLength: 16, rows: 3, rowByteStride: 64 }
  await runtime.write({ allocation: a, ...small }, new Uint8Array(64))
  await runtime.write({ allocation: b, ...rows }, new Uint8Array(48))
  const whole = (buffer: number) => region(buffer, 0, byteLength)
  const program = plan(
    [a, b, host],
    [
      { kind: 'upload', device: 0, source: whole(2), target: whole(0), after: [], afterPrevious: [2] },
      dispatch(0, whole(0), whole(0), 0, { after: [0], afterPrevious: [2], workgroups: 1 }),
      {
        kind: 'copy',
        device: 1,
        source: region(0, 0, 4096),
        target: region(1, 0, 4096),
        after: [1],
        afterPrevious: [3],
      },
      {
        kind: 'fill',
        device: 1,
        target: region(1, 8192, 64),
        pattern: 7,
        patternByteLength: 4,
        after: [2],
        afterPrevious: [],
      },
    ],
    [kernel],
    [3],
  )
  const executable = await runtime.instantiate(program)
  await runtime.run(executable, { times: 3 })
  if (lowering === 'graph-per-gpu') await runtime.run(executable, { times: 2, profile: true })
  const bytes = new Uint8Array(64)
  await runtime.read({ allocation: b, ...small }, bytes)
  await runtime.read({ allocation: b, ...rows }, new Uint8Array(48))
  if (new Uint32Array(bytes.buffer)[1] !== 3) throw new Error('The program computes something wrong.')
  runtime.release(executable)
  runtime.releaseKernel(kernel)
  runtime.freeHost(host)
  runtime.free(a)
  runtime.free(b)
}
