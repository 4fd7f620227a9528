/*
 * Puts the figures of a measured table (tools/gpu-host/table.ts, rank-table.ts or tensor-table.ts) into the documents that quote them:
 *   node tools/gpu-host/figures.ts docs/measurements/TABLE.json [--check]
 * Replaces what stands between `<!-- figures:NAME -->` and `<!-- /figures -->` in README.md, docs/performance.md and docs/performance/*.md, where NAME is
 * `highlights`, `targets`, `ladder` or `webgpu`; with a table of rank-table.ts what stands between `<!-- ranks:NAME -->` and `<!-- /ranks -->`,
 * or `<!-- 2-ranks:NAME -->` and `<!-- /2-ranks -->` where two ranks were measured; with one of tensor-table.ts what stands between `<!-- tensor:NAME -->` and `<!-- /tensor -->`.
 * With --check nothing is written; exit 1 when a document says something else.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { BenchDocument, BenchResult } from '../../packages/cli/src/bench/document.ts'
import { withNamedBlocks } from '../named-blocks.ts'
import { withRankFigures } from './rank-figures.ts'
import type { RankTable } from './rank-targets.ts'
import { type Target, targetsOf } from './targets.ts'
import { withTensorFigures } from './tensor-figures.ts'
import type { TensorDocument } from './tensor-targets.ts'

const topics = readdirSync(new URL('../../docs/performance', import.meta.url))
export const documents = [
  ...['README.md', 'docs/performance.md'],
  ...topics.map((name) => `docs/performance/${name}`),
]

type Table = BenchDocument & { readonly targets?: readonly Target[] }

/** The text of one named block. */
export function figures(name: string, table: Table, path: string): string {
  const source = `${Array.isArray(table.machine.adapters) ? adapters(table) : ''}, ${table.date.slice(0, 10)}, commit ${table.commit}; from \`${path}\``
  if (name === 'targets') {
    const rows = targetsOf(table).map(
      ({ row, target, measured, met }) => `| ${row} | ${target} | ${measured} | ${met ? 'yes' : '**no**'} |`,
    )
    return [`${source}.`, '', '| work | target | measured | met |', '|---|---|---|---|', ...rows].join('\n')
  }
  if (name === 'highlights') {
    const rows = highlights.flatMap(({ title, work, devices, shape, peer }) => {
      const ours = table.ours.find(
        (r) =>
          r.work === work &&
          r.variant === 'tandem cuda overlapped' &&
          r.devices === devices &&
          matches(r, shape),
      )
      const theirs = table.peers.find(
        (r) => r.work === work && r.devices === devices && matches(r, shape) && r.variant === peer,
      )
      if (ours === undefined || theirs === undefined) return []
      return [
        `| ${title} | ${rate(ours)} | ${rate(theirs)}, ${peer} | ${(ours.rate / theirs.rate).toFixed(2)} × |`,
      ]
    })
    return [`${source}.`, '', '| work | Tandem | instead | ratio |', '|---|---|---|---|', ...rows].join('\n')
  }
  if (name === 'ladder') {
    const gigabytes = (bytesPerSecond: number) => (bytesPerSecond / 1e9).toFixed(1)
    let before: BenchResult | undefined
    const rows = ladder.flatMap(({ kernel, source, sourceStep }) => {
      const ours = table.ours.find((r) => r.work === 'sum' && r.variant.endsWith(` ${kernel}`))
      if (ours === undefined) return []
      const step = before === undefined ? '' : `${(before.seconds / ours.seconds).toFixed(2)} ×`
      before = ours
      return [
        `| \`${kernel}\` | ${(1e6 * ours.seconds).toFixed(1)} µs | ${gigabytes(ours.rate)} GB/s | ${step} | ${source} | ${sourceStep} |`,
      ]
    })
    const head = '| kernel | time | rate | step | source | step there |'
    return [`${source}.`, '', head, '|---|---|---|---|---|---|', ...rows].join('\n')
  }
  if (name === 'webgpu') {
    const rows = table.ours.flatMap((webgpu) => {
      if (!webgpu.variant.startsWith('tandem webgpu') || comparedByTensorTable(webgpu)) return []
      const variant = webgpu.variant.replace('webgpu', 'cuda')
      const cuda = table.ours.find(
        (r) =>
          r.work === webgpu.work &&
          r.variant === variant &&
          r.devices === webgpu.devices &&
          JSON.stringify(r.shape) === JSON.stringify(webgpu.shape),
      )
      if (cuda === undefined) return []
      const shape = `${Object.values(webgpu.shape).join(' × ')}${webgpu.variant.replace(/^tandem webgpu \w+/, '')}`
      return [
        `| ${webgpu.work} ${shape}${webgpu.verified ? '' : ' (not verified)'} | ${rate(webgpu)} | ${rate(cuda)} | ${(webgpu.rate / cuda.rate).toFixed(2)} |`,
      ]
    })
    return [`${source}.`, '', '| work, 1 GPU | WebGPU | CUDA | ratio |', '|---|---|---|---|', ...rows].join(
      '\n',
    )
  }
  throw new Error(`there are no figures named ${name}`)
}

/** The lecture's kernels with its figures, for the same 2^22 i32; `atomic` and `best` have none there. */
const ladder: readonly { kernel: string; source: string; sourceStep: string }[] = [
  { kernel: 'atomic', source: '', sourceStep: '' },
  { kernel: 'interleaved-divergent', source: '2.083 GB/s', sourceStep: '' },
  { kernel: 'interleaved-conflicts', source: '4.854 GB/s', sourceStep: '2.33 ×' },
  { kernel: 'sequential', source: '9.741 GB/s', sourceStep: '2.01 ×' },
  { kernel: 'best', source: '', sourceStep: '' },
]

/** A document with its blocks replaced. */
export function withFigures(text: string, table: Table | RankTable | TensorDocument, path: string): string {
  if (table.kind === 'tensor') return withTensorFigures(text, table, path)
  if (table.kind === 'ranks') return withRankFigures(text, table, path)
  return withNamedBlocks(text, 'figures', (name) => figures(name, table, path))
}

const square = (side: number) => ({ rows: side, columns: side })
const highlights: readonly {
  title: string
  work: string
  devices: number
  shape: Record<string, number>
  peer: string
}[] = [
  { title: 'transpose 16384², 1 GPU', work: 'transpose', devices: 1, shape: square(16384), peer: 'PyTorch' },
  {
    title: 'transpose 2048², 4 GPUs',
    work: 'transpose',
    devices: 4,
    shape: square(2048),
    peer: 'PyTorch P2P',
  },
  {
    title: 'transpose 32768², 4 GPUs',
    work: 'transpose',
    devices: 4,
    shape: square(32768),
    peer: 'PyTorch P2P',
  },
  {
    title: 'sum of 2³¹ f32, 4 GPUs',
    work: 'sum',
    devices: 4,
    shape: { elements: 2 ** 31 },
    peer: 'PyTorch',
  },
  {
    title: 'product 8192³, 1 GPU',
    work: 'gemm',
    devices: 1,
    shape: { m: 8192, n: 8192, k: 8192 },
    peer: 'cuBLAS',
  },
  {
    title: 'product 8192³ from host memory, 4 GPUs',
    work: 'gemm-streamed',
    devices: 4,
    shape: { m: 8192, n: 8192, k: 8192 },
    peer: 'cuBLASXt',
  },
  {
    title: 'product 16384³ from host memory, 4 GPUs',
    work: 'gemm-streamed',
    devices: 4,
    shape: { m: 16384, n: 16384, k: 16384 },
    peer: 'cuBLASXt',
  },
]

function adapters(table: Table): string {
  const names = (table.machine.adapters as readonly { name: string; driver?: string }[]).map(
    ({ name }) => name,
  )
  const driver = (table.machine.adapters as readonly { driver?: string }[])[0]?.driver
  return `${[...new Set(names)].join(', ')}, driver ${driver}`
}

/** The table of tensor-table.ts has the transpose, Jacobi and narrow products on both backends, after longer warm-ups. */
function comparedByTensorTable({ work, shape }: BenchResult): boolean {
  return work !== 'sum' && (work !== 'gemm' || new Set(Object.values(shape)).size > 1)
}

function rate({ rate: value, unit }: BenchResult): string {
  const giga = value / 1e9
  if (unit === 'B/s') return `${Math.round(giga)} GB/s`
  return `${(giga / 1000).toFixed(1)} TFLOP/s`
}

function matches(result: BenchResult, shape: Record<string, number>): boolean {
  return Object.entries(shape).every(([name, value]) => result.shape[name] === value)
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)!)) {
  const [path, flag] = process.argv.slice(2)
  if (path === undefined) throw new Error('usage: figures.ts TABLE.json [--check]')
  const table: Table | RankTable | TensorDocument = JSON.parse(readFileSync(path, 'utf8'))
  for (const document of documents) {
    const before = readFileSync(document, 'utf8')
    const after = withFigures(before, table, path)
    if (flag !== '--check') writeFileSync(document, after)
    else if (after !== before) {
      console.error(`${document} does not say what ${path} holds.`)
      process.exitCode = 1
    }
  }
}
