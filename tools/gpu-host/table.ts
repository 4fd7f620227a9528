/*
 * The tables of docs/performance.md and its pages on a GPU host: ours, peers and limits in one job on one
 * machine.
 *
 *   node tools/gpu-host/table.ts --out table.json [--commit ID] [--rows NAME,…] [--devices 4] \
 *     [--no-peers] [--no-tune]
 * Products on tensor cores, and WebGPU compared with CUDA:
 *   node tools/gpu-host/table.ts --rows products,several,same-gpu --out tensor.json [--backend webgpu]
 * One process compared with several (rank-ways.ts):
 *   node tools/gpu-host/table.ts --ways one,ipc,nccl,staged --out ranks.json [--ranks 4] …
 * Joins the measurements of several jobs:
 *   node tools/gpu-host/table.ts --merge a.json,b.json [--peers-from peers.json,…] [--errors errors.json] \
 *     --out table.json
 *
 * Rows are those of rows.ts, and host, ring and run. `transpose:2048:32768` measures that row for these
 * sizes, `--counts 1,4` on these numbers of devices only, and `--brief` takes two samples where others take
 * three. `mpirun -n 4 node tools/gpu-host/table.ts --transport ipc …` measures over the devices of all
 * processes.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Report } from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type MpiOptions, mpi } from '@tandem-gpu/backend-mpi'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type Backend, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { type BenchResult, benchResult } from '../../packages/cli/dist/bench/document.js'
import { figures } from './figures.ts'
import { recordingSeconds } from './host-cost.ts'
import { measureRing, measureRuns } from './rank-rows.ts'
import { measureWays, rankOptions } from './rank-ways.ts'
import { inputOf, type Job, rows, tensorRows } from './rows.ts'
import type { BenchTable, RingCost, RunCost, TableResult } from './table-documents.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    commit: { type: 'string', default: 'unknown' },
    rows: { type: 'string' },
    devices: { type: 'string' },
    counts: { type: 'string' },
    merge: { type: 'string' },
    backend: { type: 'string', default: 'cuda' },
    transport: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    peers: { type: 'boolean', default: true },
    verify: { type: 'boolean', default: true },
    tune: { type: 'boolean', default: true },
    brief: { type: 'boolean', default: false },
    'peers-from': { type: 'string' },
    errors: { type: 'string' },
    ...rankOptions,
  },
  allowNegative: true,
})
if (values.ways !== undefined) {
  measureWays(values)
  process.exit()
}
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const readAll = (paths: string | undefined) => paths?.split(',').map(read) ?? []
const merged: readonly BenchTable[] = readAll(values.merge)
const usualRows = 'transpose,schedules,sum,ladder,gemm,jacobi,host,gemm-resident,gemm-streamed'
/** The sizes requested for rows, by name; if empty, the row's usual sizes. */
const asked = new Map<string, readonly number[]>(
  (values.merge === undefined ? (values.rows ?? usualRows).split(',') : []).map((row) => {
    const [name, ...sizes] = row.split(':')
    return [name!, sizes.map(Number)]
  }),
)
const counts = values.counts?.split(',').map(Number)
const inner = values.backend === 'webgpu' ? webgpu() : cuda()
const { transport } = values
const backend: Backend =
  transport === undefined ? inner : mpi(inner, { transport: transport as MpiOptions['transport'] })
const { adapters } = await backend.adapters()
const all = Number(values.devices ?? adapters.length)
const isTensor = merged[0]?.kind === 'tensor' || tensorRows.some((row) => asked.has(row))
const tuning = values.tune ? new Map<string, string>() : undefined

/** The group of all processes, and whether this process is the first, which prints and writes. */
let joined: DeviceGroup | undefined
let printing = true
let rings: readonly RingCost[] = []
let runs: readonly RunCost[] = []
let host = merged.find((table) => table.host)?.host
/** Sums and residuals, whose bits are the same for any number of processes. */
const bits: Record<string, string> = {}
const ours: TableResult[] = merged.flatMap((table) => table.ours)
const peers: readonly BenchResult[] = [
  ...merged.flatMap((table) => table.peers),
  ...readAll(values['peers-from']).flatMap(({ results }) => results),
  ...(values.merge === undefined && values.peers && transport === undefined && !isTensor
    ? measurePeers()
    : []),
]

/** The names of the works in tools/peers. */
const workOf: Readonly<Record<string, string>> = { reduce: 'sum', matmul: 'gemm' }
const job: Omit<Job, 'sizes'> = {
  seed: Number(values.seed),
  verify: values.verify,
  brief: values.brief,
  tuning,
  devices: all,
  on: async (usual, body) => {
    // Rows for one device always run on one, and rows for several never do.
    const [single, mixed] = [usual.includes(1), usual.length > 1]
    const chosen = counts?.filter((devices) => (devices === 1 ? single : mixed || !single)) ?? usual
    for (const devices of chosen) if (devices <= all) await on(devices, body)
  },
  add(report, variant, work = workOf[report.algorithm] ?? report.algorithm) {
    const name = [variant, report.processes?.transport].filter((part) => part !== undefined)
    const result = benchResult(work, report, name.length > 0 ? name.join(' ') : undefined)
    const shape = Object.values(result.shape).join('×')
    if ('valueBits' in report) bits[`${work} ${shape}`] = String(report.valueBits)
    if ('residual' in report) bits[`${work} ${shape}`] = String(report.residual)
    push(result)
  },
  addPlain: (work, variant, report: Report) => push({ ...benchResult(work, report), variant }),
  push,
}

for (const [name, measure] of Object.entries(rows))
  if (asked.has(name)) {
    const sizes = asked.get(name)!
    await measure({ ...job, sizes: (usual) => (sizes.length > 0 ? sizes : usual) })
  }
if (asked.has('host')) host = await recordingSeconds(backend, all)
if (asked.has('run'))
  await job.on([4], async (group) => {
    runs = [...runs, ...(await measureRuns(group))]
  })
if (asked.has('ring')) {
  const input = await inputOf({ ...job, sizes: (usual) => usual })
  await job.on([4], async (group) => {
    for (const side of asked.get('ring')!) rings = [...rings, await measureRing(group, side, input)]
  })
}
await joined?.destroy()

const table = save()
if (printing)
  for (const name of isTensor ? ['f32', 'f16', 'several', 'same-gpu'] : ['comparisons'])
    console.log(figures(name, table, values.out ?? ''))

function push(result: TableResult): void {
  ours.push(result)
  save()
  if (!printing) return
  const { work, variant, shape, devices, seconds, rate, unit, verified } = result
  const at = Math.round(performance.now() / 1000)
  console.error(
    `${at} s: ${work} ${variant} ${Object.values(shape).join('×')} on ${devices}: ${(1e3 * seconds).toFixed(4)} ms, ${(rate / 1e9).toFixed(1)} G${unit}${verified ? '' : ' NOT VERIFIED'}`,
  )
}

/**
 * Runs `body` on a group of `devices`. Processes keep the group for the next row, since joining takes them
 * seconds.
 */
async function on(devices: number, body: (group: DeviceGroup) => Promise<void>): Promise<void> {
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

/**
 * The table as measured so far; written after every result, so that a job that is cut short leaves its
 * results.
 */
function save(): BenchTable {
  const document: BenchTable = {
    schema: 1,
    kind: isTensor ? 'tensor' : 'bench',
    date: merged[0]?.date ?? new Date().toISOString(),
    commit: values.commit,
    machine: merged[0]?.machine ?? {
      backend: backend.name,
      adapters: adapters.map(({ name, driver, software }) => ({ name, driver, software })),
      node: process.version,
    },
    ours,
    peers,
    bits,
    rings,
    runs,
    ...(host && { host }),
    ...(values.errors && { errors: read(values.errors) }),
  }
  if (values.out && printing) writeFileSync(values.out, `${JSON.stringify(document, null, 1)}\n`)
  return document
}

function measurePeers(): BenchResult[] {
  const workOfRow: Record<string, string> = { schedules: 'transpose', 'gemm-streamed': 'gemm-xt' }
  const wanted = ['transpose', 'schedules', 'sum', 'gemm', 'gemm-streamed'].filter((row) => asked.has(row))
  const path = join(mkdtempSync(join(tmpdir(), 'tandem-peers-')), 'peers.json')
  const script = new URL('../peers/peers.py', import.meta.url).pathname
  const only = [...new Set(['limits', ...wanted.map((row) => workOfRow[row] ?? row)])].join(',')
  const options = [script, '--devices', String(Math.min(all, 4)), '--only', only, '--out', path]
  execFileSync('python3', options, { stdio: ['ignore', 'ignore', 'inherit'] })
  return read(path).results
}
