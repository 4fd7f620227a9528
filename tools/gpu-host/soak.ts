/*
 * A soak of a backend: groups are opened and closed, programs recorded, run, aborted and disposed at random, results are
 * checked, and at the end the devices' memory must be what it was at the start.
 *
 *   node tools/gpu-host/soak.ts [SECONDS, default 300] [DEVICES, default 2] [SEED] [cuda|webgpu]
 *
 * Prints one JSON document. Exit 0: no wrong result, no unexpected error, no leak. 1: something of these. A hang is for the
 * caller to notice: each step is bounded, so the whole ends within SECONDS and a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type DeviceBuffer, type DeviceGroup, isGpuError, openGroup, type Program } from '@tandem-gpu/core'

const [seconds = 300, devices = 2, seed = Date.now() % 1e9] = process.argv.slice(2, 5).map(Number)
const backend = process.argv[5] === 'webgpu' ? webgpu() : cuda()
/** Memory that the driver keeps for itself may move by this much between two readings. */
const toleranceByteLength = 16 * 2 ** 20

const random = mulberry32(seed)
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

const before = await memoryUsed()
const start = performance.now()
let nextLine = 20_000
while (performance.now() - start < seconds * 1000) {
  await oneGroup()
  if (performance.now() - start < nextLine) continue
  nextLine += 20_000
  console.error(
    `${((performance.now() - start) / 1000).toFixed(0)} s: ${JSON.stringify(counts)}, memory ${await memoryUsed()}, ${problems.length} problems`,
  )
}
await sleep(1000)
const after = await memoryUsed()

const grown = after.map((used, i) => used - before[i]!)
for (const [i, growth] of grown.entries())
  if (growth > toleranceByteLength) problems.push(`device ${i} holds ${growth} bytes more than at the start`)
console.log(
  JSON.stringify(
    {
      schema: 1,
      kind: 'soak',
      backend: backend.name,
      devices,
      seed,
      seconds: (performance.now() - start) / 1000,
      ...counts,
      memoryBefore: before,
      memoryAfter: after,
      residentSetByteLength: process.memoryUsage.rss(),
      problems: problems.slice(0, 20),
    },
    null,
    1,
  ),
)
process.exitCode = problems.length > 0 ? 1 : 0

/** Bytes in use on each adapter, by its own sensors (the whole machine's processes). */
async function memoryUsed(): Promise<number[]> {
  const { adapters } = await backend.adapters()
  const readings = await Promise.all(adapters.map((adapter) => adapter.telemetry?.()))
  return readings.flatMap((reading) => reading?.memoryUsedByteLength ?? [])
}

/**
 * Opens a group (sometimes of virtual devices), works on it for a while, and closes it, sometimes with work under way: that
 * work must settle, either way, and what it did not come to destroy is in the report.
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

/** Records a chain over the devices with a known result, runs it, perhaps aborts it. `kept` objects are not destroyed. */
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
    work: runProgram(group, program, ring, times, input, factor, bias, host, keep),
    kept: keep ? ring.length + 1 : 0,
  }
}

async function runProgram(
  group: DeviceGroup,
  program: Program,
  ring: readonly DeviceBuffer<'u32'>[],
  times: number,
  input: Uint32Array,
  factor: number,
  bias: number,
  host: ReturnType<DeviceGroup['allocateHost']>,
  keep: boolean,
): Promise<void> {
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
    const at = pick(input.length)
    let expected = input[at]!
    for (let i = 0; i < times * ring.length; i++) expected = (Math.imul(expected, factor) + bias) >>> 0
    if (result[at] !== expected) {
      counts.wrong++
      problems.push(
        `element ${at} of ${input.length} is ${result[at]}, not ${expected}, after ${times} × ${ring.length} steps`,
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

/** Tommy Ettinger's mulberry32. */
function mulberry32(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
