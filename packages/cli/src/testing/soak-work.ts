/*
 * The processes of a soak, which tools/gpu-host/soak.ts starts:
 *
 *   node packages/cli/src/testing/soak-work.ts steady|victim|pressure SECONDS DEVICES SEED cuda|webgpu
 *
 * `steady` and `victim` open groups and close them, record programs, run, abort and destroy them at random,
 * and check results. A victim ends at its first problem; it is there to be killed. `pressure` allocates and
 * frees large pieces of device memory. Each prints one line of JSON at its end: what it did, its problems,
 * and for `steady` the process's open files and threads after the tenth group and after the last.
 */
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import {
  type DeviceBuffer,
  type DeviceGroup,
  type HostBuffer,
  isGpuError,
  openGroup,
  type Program,
} from '@tandem-gpu/core'
import { seededRandom } from '@tandem-gpu/core/testing'

const [role = 'steady', ...rest] = process.argv.slice(2)
const [seconds = 300, devices = 2, seed = 1] = rest.slice(0, 3).map(Number)
const backend = rest[3] === 'webgpu' ? webgpu() : cuda()

const random = seededRandom(seed)
const pick = (n: number) => Math.floor(random() * n)
const counts = {
  groups: 0,
  programs: 0,
  runs: 0,
  repetitions: 0,
  aborted: 0,
  cutShort: 0,
  wrong: 0,
  leaksReported: 0,
  errors: 0,
}
const problems: string[] = []

const step = `
  struct Params { n: u32, bias: u32, input_base: u32, output_base: u32 }
  override factor: u32 = 3u;
  @group(0) @binding(0) var<uniform> params: Params;
  @group(0) @binding(1) var<storage, read> input: array<u32>;
  @group(0) @binding(2) var<storage, read_write> output: array<u32>;
  @compute @workgroup_size(128) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < params.n) { output[params.output_base + id.x] = input[params.input_base + id.x] * factor + params.bias; }
  }`

const start = performance.now()
const underWay = () => performance.now() - start < seconds * 1000

if (role === 'pressure') await press()
else {
  // A thread that starts late, once per process, is not a leak: a leak grows with the number of groups.
  for (let group = 0; group < 10; group++) await oneGroup()
  await sleep(500)
  const atStart = handles()
  for (let told = start; underWay() && !(role === 'victim' && problems.length > 0); ) {
    await oneGroup()
    if (role === 'victim' || performance.now() - told < 20_000) continue
    told = performance.now()
    console.error(`${((told - start) / 1000).toFixed(0)} s: ${JSON.stringify(counts)}`)
  }
  // Threads and files of the last group end a moment after it.
  await sleep(500)
  const atEnd = handles()
  if (atEnd.files > atStart.files || atEnd.threads > atStart.threads)
    problems.push(`${JSON.stringify(atEnd)} are open, ${JSON.stringify(atStart)} at the start`)
  console.log(
    JSON.stringify({
      ...counts,
      handlesAtStart: atStart,
      handlesAtEnd: atEnd,
      residentSetByteLength: process.memoryUsage.rss(),
      problems: problems.slice(0, 20),
    }),
  )
}
process.exitCode = problems.length > 0 ? 1 : 0

/** The numbers of open files and threads. */
function handles(): { readonly files: number; readonly threads: number } {
  return {
    files: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
  }
}

/** Allocates and frees device memory, up to a few GiB per device at a time, until the time is up. */
async function press(): Promise<void> {
  const group = await openGroup({ backends: [backend], devices })
  const held: DeviceBuffer[] = []
  const taken = { allocations: 0, byteLength: 0, refused: 0 }
  while (underWay()) {
    const device = group.devices[pick(group.devices.length)]!
    const length = Math.min(2 ** (10 + pick(20)), device.limits.maxBufferByteLength / 4)
    try {
      const buffer = await device.allocate('u32', length, { zero: pick(2) === 0 })
      taken.allocations++
      taken.byteLength += buffer.byteLength
      held.push(buffer)
    } catch (error) {
      if (!isGpuError(error, 'out-of-memory')) throw error
      taken.refused++
    }
    while (held.length > 6) held.splice(pick(held.length), 1)[0]!.destroy()
    await sleep(pick(20))
  }
  for (const buffer of held) buffer.destroy()
  const { leaks } = await group.destroy()
  if (leaks.length > 0) problems.push(`pressure leaves ${leaks.length} objects behind`)
  console.log(JSON.stringify({ ...taken, problems }))
}

/**
 * Opens a group (sometimes of virtual devices), works on it for a while, and closes it, sometimes with work
 * in flight. That work must settle, either way, and the report names the objects that it has not destroyed.
 */
async function oneGroup(): Promise<void> {
  counts.groups++
  const virtual = pick(3) === 0
  const group = await openGroup({
    backends: [backend],
    devices: virtual ? devices + 1 + pick(3) : devices,
    virtual,
  })
  const pending: Promise<unknown>[] = []
  let left = 0
  try {
    for (let i = 0, n = 1 + pick(8); i < n; i++) {
      const { work, kept } = await oneProgram(group)
      left += kept
      if (pick(4) === 0) pending.push(work)
      else await work
    }
  } catch (error) {
    counts.errors++
    problems.push(`${(error as Error).stack}`)
  }
  const orderly = pick(2) === 0
  if (orderly) await Promise.all(pending)
  const settled = Promise.allSettled(pending)
  const report = await group.destroy()
  const reported = report.leaks.filter((leak) => leak.kind === 'buffer' || leak.kind === 'program').length
  counts.leaksReported += reported
  if (orderly ? reported !== left : reported < left)
    problems.push(`${left} objects are left behind, the report names ${reported}`)
  for (const result of await settled) {
    if (result.status === 'fulfilled') continue
    counts.cutShort++
    if (!isGpuError(result.reason, 'device-lost')) problems.push(`${(result.reason as Error).stack}`)
  }
}

/**
 * Records a chain over the devices with a known result, runs it, perhaps aborts it. `kept` objects are not
 * destroyed.
 */
async function oneProgram(group: DeviceGroup): Promise<{ work: Promise<void>; kept: number }> {
  const n = 1 + pick(pick(5) === 0 ? 1 << 22 : 1 << 12)
  const factor = 1 + 2 * pick(8)
  const bias = pick(1000)
  const kernel = await group.compile({ wgsl: step, constants: { factor } })
  const ring = await Promise.all(group.devices.map((device) => device.allocate('u32', n)))
  const schedule = pick(2) === 0 ? ('serial' as const) : ('overlapped' as const)
  const host = group.allocateHost('u32', n)
  const program = group.record(
    (r) => {
      for (const [i, source] of ring.entries()) {
        const target = ring[(i + 1) % ring.length]!
        const local = r.scratch(target.device, 'u32', n)
        r.copy(source, local)
        const scratch = r.scratch(target.device, 'u32', n)
        r.dispatch(kernel, {
          workgroups: Math.ceil(n / 128),
          args: { input: local, output: scratch, n, bias },
        })
        r.copy(scratch, target)
      }
      r.download(ring[0]!, host)
    },
    { schedule },
  )
  counts.programs++
  const times = 1 + pick(30)
  const input = Uint32Array.from({ length: n }, (_, i) => (i * 2654435761) >>> 0)
  await group.queue.write(ring[0]!, input)
  const keep = pick(10) === 0
  return {
    work: runChain(group, { program, ring, host, input, factor, bias }, times, keep),
    kept: keep ? ring.length + 1 : 0,
  }
}

/**
 * A recorded program that multiplies by `factor` and adds `bias` once per device, from the first buffer of
 * `ring` around to the same buffer.
 */
interface Chain {
  readonly program: Program
  readonly ring: readonly DeviceBuffer<'u32'>[]
  /** Receives the result of each repetition. */
  readonly host: HostBuffer<'u32'>
  /** The contents of the first buffer before the first repetition. */
  readonly input: Uint32Array
  readonly factor: number
  readonly bias: number
}

/**
 * Runs a chain and checks its result, or aborts it; then destroys its objects, except program and buffers
 * that are to be kept.
 */
async function runChain(group: DeviceGroup, chain: Chain, times: number, keep: boolean): Promise<void> {
  const { program, ring, host, input, factor, bias } = chain
  try {
    if (pick(5) === 0) {
      const controller = new AbortController()
      const running = group.queue.run(program, 100_000, { signal: controller.signal })
      setTimeout(() => controller.abort(), pick(30))
      await running.then(
        () => undefined,
        (error) => {
          if (!isGpuError(error, 'aborted')) throw error
          counts.aborted++
        },
      )
      return
    }
    await group.queue.run(program, times, { profile: pick(8) === 0 })
    counts.runs++
    counts.repetitions += times
    const result = pick(2) === 0 ? await group.queue.read(ring[0]!) : Uint32Array.from(host.array)
    // All steps together multiply by one number and add another.
    let [product, sum] = [1, 0]
    for (let i = 0; i < times * ring.length; i++) {
      product = Math.imul(product, factor)
      sum = Math.imul(sum, factor) + bias
    }
    const expectedAt = (i: number) => (Math.imul(input[i]!, product) + sum) >>> 0
    const at = input.findIndex((_, i) => result[i] !== expectedAt(i))
    if (at >= 0) {
      counts.wrong++
      problems.push(
        `element ${at} of ${input.length} is ${result[at]}, not ${expectedAt(at)}, after ${times} × ${ring.length} steps`,
      )
    }
  } finally {
    host.destroy()
    if (!keep) {
      program.destroy()
      for (const buffer of ring) buffer.destroy()
    }
  }
}
