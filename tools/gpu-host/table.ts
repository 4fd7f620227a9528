/*
 * The tables of docs/performance.md and its pages on a GPU host: ours, peers and limits in one job on one machine.
 *
 *   node tools/gpu-host/table.ts --out table.json [--html table.html] [--commit ID] [--rows NAME,…] [--devices 4] [--no-peers] [--no-tune]
 *   node tools/gpu-host/table.ts --rows products,several,same-gpu --out tensor.json [--backend webgpu] [--turns FILE]      products on tensor cores, WebGPU beside CUDA
 *   node tools/gpu-host/table.ts --ways one,ipc,nccl,staged --out ranks.json [--ranks 4] …      one process beside several: rank-ways.ts
 *   node tools/gpu-host/table.ts --merge a.json,b.json [--peers-from peers.json,…] [--errors errors.json] --out table.json      joins what several jobs measured
 *
 * Rows: transpose, schedules, sum, ladder, gemm, gemm-resident, gemm-streamed, jacobi, webgpu (the same on WebGPU, one GPU), host; and, not by default, ring and run,
 * and those of tensor-rows.ts, which make a table of their own. `transpose:2048:32768` measures that row for these sizes, `--counts 1,4` on these numbers of devices only,
 * and `--brief` takes two samples where others take three. Both sides warm up, take the median of at least 10 samples (3 where one takes more than a second), use fresh
 * random data and verify; work shorter than a millisecond is replayed many times for one sample by both. `--turns FILE`: two processes take turns on one GPU.
 * `mpirun -n 4 node tools/gpu-host/table.ts --transport ipc …` measures the same over the devices of all processes.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  generatedElements,
  jacobi,
  matmul,
  type Report,
  readElements,
  reduce,
  transpose,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type MpiOptions, mpi } from '@tandem-gpu/backend-mpi'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type Backend, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { type BenchDocument, type BenchResult, benchResult } from '../../packages/cli/dist/bench/document.js'
import { benchPage } from '../../packages/cli/dist/bench/page.js'
import { figures } from './figures.ts'
import { recordingSeconds } from './host-cost.ts'
import { measureRing, measureRuns, type RingCost, type RunCost } from './rank-rows.ts'
import { measureWays, rankOptions } from './rank-ways.ts'
import { repeated } from './repeated-block.ts'
import { type BenchTable, cube, square, type TensorDocument, type TensorResult } from './table-documents.ts'
import { tensorOptions, tensorRows } from './tensor-rows.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    html: { type: 'string' },
    commit: { type: 'string', default: 'unknown' },
    rows: { type: 'string' },
    devices: { type: 'string' },
    counts: { type: 'string' },
    merge: { type: 'string' },
    'largest-host': { type: 'string', default: '32768' },
    backend: { type: 'string', default: 'cuda' },
    transport: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    peers: { type: 'boolean', default: true },
    verify: { type: 'boolean', default: true },
    tune: { type: 'boolean', default: true },
    brief: { type: 'boolean', default: false },
    'peers-from': { type: 'string' },
    errors: { type: 'string' },
    ...tensorOptions,
    ...rankOptions,
  },
  allowNegative: true,
})
if (values.ways !== undefined) {
  measureWays(values)
  process.exit()
}
const usualRows = 'transpose,schedules,sum,ladder,gemm,gemm-resident,gemm-streamed,jacobi,webgpu,host'
const merged = (values.merge?.split(',') ?? []).map((path) => JSON.parse(readFileSync(path, 'utf8')))
/** Sizes asked for by the names of rows; none: those of the row. */
const rows = new Map<string, readonly number[]>(
  (values.merge === undefined ? (values.rows ?? usualRows).split(',') : []).map((row) => {
    const [name, ...sizes] = row.split(':')
    return [name!, sizes.map(Number)]
  }),
)
const sizesOf = (row: string, usual: readonly number[]) => {
  const asked = rows.get(row) ?? []
  return asked.length > 0 ? asked : usual
}
const largestHost = Number(values['largest-host'])
const counts = values.counts?.split(',').map(Number)
/** Numbers of devices that a row is measured on: those asked for, or else its usual ones. */
const countsOf = (usual: readonly number[]) => counts ?? usual
/** The same for rows that concern several devices. */
const severalOf = (usual: readonly number[]) => countsOf(usual).filter((devices) => devices > 1)
const inner = values.backend === 'webgpu' ? webgpu() : cuda()
const backend: Backend =
  values.transport === undefined
    ? inner
    : mpi(inner, { transport: values.transport as MpiOptions['transport'] })
const found = (await backend.adapters()).adapters.length
const all = values.devices === undefined ? found : Number(values.devices)
const ours: TensorResult[] = merged.flatMap((document) => document.ours)
/** Choices are measured once a row, before its warm-up. */
const tuning = values.tune && new Map<string, string>()
const seed = Number(values.seed)
const timing = { warmup: 5, samples: 11, seed, verify: values.verify, tuning }
const slow = { ...timing, ...(values.brief ? { warmup: 1, samples: 2 } : { warmup: 2, samples: 3 }) }

const date = merged[0]?.date ?? new Date().toISOString()
const machine = merged[0]?.machine ?? {
  backend: backend.name,
  adapters: (await backend.adapters()).adapters.map(({ name, driver, software }) => ({
    name,
    driver,
    ...(software && { software }),
  })),
  node: process.version,
}
/** The group of all processes, and whether this one is the first of them: it prints and writes. */
let joined: DeviceGroup | undefined
let printing = true
let rings: readonly RingCost[] = []
let runs: readonly RunCost[] = []
/** Sums and residuals, which have the same bits however many processes compute them. */
const bits: Record<string, string> = {}
let host: Awaited<ReturnType<typeof recordingSeconds>> | undefined = merged.find(
  (document) => document.host,
)?.host
const isTensor = merged[0]?.kind === 'tensor' || Object.keys(tensorRows).some((row) => rows.has(row))
const peers: readonly BenchResult[] = [
  ...merged.flatMap((document) => document.peers),
  ...(values['peers-from']?.split(',') ?? []).flatMap(
    (path) => JSON.parse(readFileSync(path, 'utf8')).results,
  ),
  ...(values.merge === undefined && values.peers && values.transport === undefined && !isTensor
    ? measurePeers()
    : []),
]

/** Names of the work, as tools/peers has them. */
const workOf: Readonly<Record<string, string>> = { reduce: 'sum', matmul: 'gemm' }

/** Adds a result and prints it; `variant` tells apart what computes the same thing. */
function add(report: Report, variant?: string, work = workOf[report.algorithm] ?? report.algorithm): void {
  const name = [variant, report.processes?.transport].filter((part) => part !== undefined)
  const result = benchResult(work, report, name.length > 0 ? name.join(' ') : undefined)
  const shape = Object.values(result.shape).join('×')
  if ('valueBits' in report) bits[`${work} ${shape}`] = String(report.valueBits)
  if ('residual' in report) bits[`${work} ${shape}`] = String(report.residual)
  push(result)
}

function push(result: TensorResult): void {
  ours.push(result)
  save()
  if (!printing) return
  const { work, variant, shape, devices, seconds, rate, unit, verified, verification = '' } = result
  console.error(
    `${Math.round(performance.now() / 1000)} s: ${work} ${variant} ${Object.values(shape).join('×')} on ${devices}: ${(1e3 * seconds).toFixed(4)} ms, ${(rate / 1e9).toFixed(1)} G${unit}${verified ? '' : ' NOT VERIFIED'} ${verification}`,
  )
}

/** Runs `body` on a group of `devices`; processes keep the group for the next row, since joining takes them seconds. */
async function on(devices: number, body: (group: DeviceGroup) => Promise<void>): Promise<void> {
  if (devices > all || counts?.includes(devices) === false) return
  const group =
    joined?.devices.length === devices ? joined : await openGroup({ backends: [backend], devices })
  if (group.rankCount > 1) joined = group
  printing = group.rank === 0
  try {
    await body(group)
  } finally {
    if (group !== joined) await group.destroy()
  }
}

/** Random elements, a block repeated: generating 2^31 of them one by one takes longer than everything else. */
const input = repeated(await readElements(generatedElements('f32', seed), 'f32', 0, 1_048_573), 0)

/** Replays for one sample: about a millisecond of work. */
const replays = (side: number) => (side <= 2048 ? 200 : side <= 8192 ? 20 : 1)

if (rows.has('transpose')) {
  await on(1, async (group) =>
    add(await transpose(group, { ...timing, input, ...square(16384), type: 'f32', repetitions: 5 })),
  )
  for (const devices of severalOf([2, 4, 8]))
    await on(devices, async (group) => {
      for (const side of sizesOf('transpose', [2048, 8192, 32768]))
        add(
          await transpose(group, {
            ...timing,
            input,
            ...square(side),
            type: 'f32',
            repetitions: replays(side),
          }),
        )
    })
}
if (rows.has('schedules')) {
  for (const [devices, sides] of [
    [2, [2048, 32768]],
    [4, [32768]],
  ] as const)
    await on(devices, async (group) => {
      // As the source has it, every tile copied and then transposed, and by the default, one kernel a sender.
      for (const transport of ['copy', 'scatter'] as const)
        for (const side of sides)
          for (const schedule of ['overlapped', 'serial'] as const)
            add(
              await transpose(group, {
                ...timing,
                input,
                ...square(side),
                type: 'f32',
                schedule,
                transport,
                repetitions: replays(side),
              }),
              transport,
            )
    })
}
if (rows.has('sum')) {
  await on(1, async (group) =>
    add(await reduce(group, { ...timing, input, elements: 2 ** 29, type: 'f32', repetitions: 3 })),
  )
  for (const devices of severalOf([4, 8]))
    await on(devices, async (group) => {
      for (const elements of sizesOf('sum', [2 ** 22, 2 ** 28, 2 ** 31])) {
        const repetitions = elements <= 2 ** 22 ? 200 : elements <= 2 ** 28 ? 20 : 3
        add(await reduce(group, { ...timing, input, elements, type: 'f32', repetitions }))
      }
    })
}
if (rows.has('ladder'))
  await on(1, async (group) => {
    for (const kernel of [
      'atomic',
      'interleaved-divergent',
      'interleaved-conflicts',
      'sequential',
      'best',
    ] as const)
      add(
        await reduce(group, { ...timing, elements: 2 ** 22, type: 'i32', kernel, repetitions: 100 }),
        kernel,
      )
  })
if (rows.has('gemm'))
  await on(1, async (group) => {
    const product = async (m: number, n: number, k: number) =>
      add(
        await matmul(group, {
          ...timing,
          a: input,
          b: input,
          m,
          n,
          k,
          repetitions: m * n * k < 2 ** 34 ? 20 : 1,
        }),
      )
    for (const side of [1024, 2048, 4096, 8192, 16384]) await product(side, side, side)
    for (const narrow of [64, 128, 256, 512]) {
      await product(narrow, 8192, 8192)
      await product(8192, narrow, 8192)
    }
  })
if (rows.has('jacobi'))
  for (const devices of countsOf([1, 4, 8]))
    await on(devices, async (group) => {
      const sides = devices === 4 ? [2048, 4096, 8192, 16384, 32768] : [2048, 16384]
      for (const side of sizesOf('jacobi', sides)) {
        const report = await jacobi(group, {
          ...slow,
          ...square(side),
          input,
          iterations: side <= 8192 ? 2000 : 400,
          residualEvery: 100,
        })
        add({ ...report, seconds: report.seconds / report.iterations })
      }
      if (devices === 1) {
        const plain = {
          ...slow,
          ...square(16384),
          input,
          iterations: 400,
          residualEvery: 100,
          fuse: false,
        }
        const report = await jacobi(group, plain)
        add({ ...report, seconds: report.seconds / report.iterations }, 'one sweep a pass')
      }
    })
if (rows.has('run'))
  for (const devices of severalOf([4]))
    await on(devices, async (group) => {
      runs = [...runs, ...(await measureRuns(group))]
    })
if (rows.has('host')) host = await recordingSeconds(backend, all)
if (rows.has('webgpu') && backend.name === 'cuda') ours.push(...measureWebGpu())
// What takes minutes to check comes last: a job that is cut short has the rest.
if (rows.has('gemm-resident'))
  for (const devices of countsOf([1, 4, 8]))
    await on(devices, async (group) => {
      for (const side of sizesOf('gemm-resident', [32768]))
        add(await matmul(group, { ...slow, ...cube(side), a: input, b: input, mode: 'resident' }), 'resident')
    })
if (rows.has('gemm-streamed'))
  for (const devices of severalOf([4]))
    await on(devices, async (group) => {
      for (const side of sizesOf('gemm-streamed', [8192, 16384, 32768])) {
        if (side > largestHost) continue
        const samples = side < 32768 ? timing : slow
        const operands = { ...cube(side), a: input, b: input }
        add(await matmul(group, { ...samples, ...operands, mode: 'streamed' }), undefined, 'gemm-streamed')
      }
    })
if (rows.has('ring'))
  for (const devices of severalOf([4]))
    await on(devices, async (group) => {
      for (const side of sizesOf('ring', [16384])) rings = [...rings, await measureRing(group, side, input)]
    })
for (const [row, measure] of Object.entries(tensorRows))
  if (rows.has(row)) await measure({ ...values, devices: all, on, add: push })
await joined?.destroy()

const document = save()
if (values.html && printing && document.kind === 'bench')
  writeFileSync(values.html, await benchPage(document))
if (printing)
  for (const name of isTensor ? ['f32', 'f16', 'several', 'same-gpu'] : ['comparisons'])
    console.log(figures(name, document, values.out ?? ''))
if (host && printing) console.log(JSON.stringify(host))

/** The document as far as it is measured; written at every result, so that a job cut short leaves what it had. */
function save(): BenchTable | TensorDocument {
  const document = {
    schema: 1 as const,
    kind: isTensor ? ('tensor' as const) : ('bench' as const),
    date,
    commit: values.commit,
    machine,
    ours,
    peers,
    ...(host ? { host } : {}),
    ...(values.errors && { errors: JSON.parse(readFileSync(values.errors, 'utf8')) }),
    ...(rings.length > 0 && { rings }),
    ...(runs.length > 0 && { runs }),
    bits,
    choices:
      merged.length > 0
        ? Object.assign({}, ...merged.map((m) => m.choices))
        : tuning
          ? Object.fromEntries(tuning)
          : {},
  }
  if (values.out && printing) writeFileSync(values.out, `${JSON.stringify(document, null, 1)}\n`)
  return document
}

/** This program once more, on WebGPU; nothing where it finds no GPU. */
function measureWebGpu(): BenchResult[] {
  const path = join(mkdtempSync(join(tmpdir(), 'tandem-webgpu-')), 'webgpu.json')
  const options = [
    '--backend',
    'webgpu',
    '--no-peers',
    '--counts',
    '1',
    '--rows',
    'transpose,sum,gemm,jacobi',
  ]
  try {
    execFileSync(process.execPath, [import.meta.filename, ...options, '--out', path], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch (error) {
    console.error(`WebGPU is not measured: ${error instanceof Error ? error.message : error}`)
  }
  if (!existsSync(path)) return []
  const document: BenchDocument = JSON.parse(readFileSync(path, 'utf8'))
  const software = (document.machine.adapters as readonly { readonly software?: boolean }[]).some(
    (adapter) => adapter.software,
  )
  return software ? [] : [...document.ours]
}

function measurePeers(): BenchResult[] {
  const works = new Set<string>(['limits'])
  for (const [row, work] of [
    ['transpose', 'transpose'],
    ['schedules', 'transpose'],
    ['sum', 'sum'],
    ['gemm', 'gemm'],
    ['gemm-streamed', 'gemm-xt'],
  ] as const)
    if (rows.has(row)) works.add(work)
  const path = join(mkdtempSync(join(tmpdir(), 'tandem-peers-')), 'peers.json')
  const script = new URL('../peers/peers.py', import.meta.url).pathname
  execFileSync(
    'python3',
    [
      script,
      '--devices',
      String(Math.min(all, 4)),
      '--only',
      [...works].join(','),
      '--largest-host',
      String(largestHost),
      '--out',
      path,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  return JSON.parse(readFileSync(path, 'utf8')).results
}
