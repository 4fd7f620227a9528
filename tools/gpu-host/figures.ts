/*
 * Puts the figures of a measured table (tools/gpu-host/table.ts) into the documents that quote them:
 *   node tools/gpu-host/figures.ts docs/measurements/TABLE.json [--check]
 * Replaces what stands between `<!-- KIND:NAME -->` and `<!-- /KIND -->` in README.md, docs/performance.md and docs/performance/*.md. KIND is
 * `figures` for the table of one process, `tensor` for rows of tensor-rows.ts and `ranks` for --ways (`2-ranks` where two ranks were measured); `blocks` has the names.
 * `primitives` is for what primitives-table.ts writes.
 * With --check nothing is written; exit 1 when a document says something else.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { BenchResult } from '../../packages/cli/src/bench/document.ts'
import { withNamedBlocks } from '../named-blocks.ts'
import { type PrimitivesDocument, withPrimitivesFigures } from './primitives-figures.ts'
import {
  type BenchTable,
  cube,
  findResult,
  middle,
  narrowShapes,
  type RankTable,
  type Shape,
  square,
  type TensorDocument,
  type TensorResult,
} from './table-documents.ts'

const topics = readdirSync(new URL('../../docs/performance', import.meta.url))
export const documents = [
  ...['README.md', 'docs/performance.md'],
  ...topics.map((name) => `docs/performance/${name}`),
]

type DeviceTable = BenchTable | RankTable | TensorDocument
export type QuotedTable = DeviceTable | PrimitivesDocument

/** The head of a table, and its rows. */
type Rows = readonly (readonly string[])[]

/** A document with its blocks replaced. */
export function withFigures(text: string, table: QuotedTable, path: string): string {
  if (table.kind === 'primitives') return withPrimitivesFigures(text, table, path)
  return withNamedBlocks(text, kindOf(table), (name) => figures(name, table, path))
}

function kindOf(table: DeviceTable): string {
  if (table.kind === 'bench') return 'figures'
  return table.kind === 'tensor' || table.ranks === 4 ? table.kind : `${table.ranks}-ranks`
}

/** The text of one named block. */
export function figures(name: string, table: DeviceTable, path: string): string {
  const rows = rowsOf(name, table)
  if (rows === undefined) throw new Error(`there are no figures named ${name}`)
  const [head, ...lines] = rows
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const source = `${sourceOf(table)}, ${table.date.slice(0, 10)}, commit ${table.commit}; from \`${path}\`.`
  return [source, '', line(head!), line(head!.map(() => '---')).replaceAll(' ', ''), ...lines.map(line)].join(
    '\n',
  )
}

function rowsOf(name: string, table: DeviceTable): Rows | undefined {
  if (table.kind === 'bench') return blocks.bench[name]?.(table)
  return table.kind === 'tensor' ? blocks.tensor[name]?.(table) : blocks.ranks[name]?.(table)
}

function sourceOf({ machine, ...table }: DeviceTable): string {
  const adapters = (machine.adapters ?? []) as readonly { readonly name: string; readonly driver?: string }[]
  const names = [...new Set(adapters.map(({ name }) => name))].join(', ')
  const of =
    table.kind === 'ranks'
      ? `${table.ranks} processes of one GPU each: `
      : table.kind === 'tensor'
        ? `${adapters.length} × `
        : ''
  return `${of}${names}, driver ${adapters[0]?.driver}`
}

/** Names of the blocks, by the kind of table, with what each says. */
const blocks: {
  readonly bench: Readonly<Record<string, (table: BenchTable) => Rows>>
  readonly tensor: Readonly<Record<string, (table: TensorDocument) => Rows>>
  readonly ranks: Readonly<Record<string, (table: RankTable) => Rows>>
} = {
  bench: {
    highlights: (table) => compared(comparisons(table).filter(({ title }) => highlights.has(title))),
    comparisons: (table) => [...compared(comparisons(table)), ...hostRows(table)],
    ladder: ({ ours }) => ladderRows(ours),
    webgpu: ({ ours }) => besideCuda(ours.filter((result) => !comparedByTensorTable(result))),
  },
  tensor: {
    highlights: tensorHighlights,
    f32: ({ ours, peers }) => [
      ['f32, TFLOP/s', '`ieee`', '`split`', 'cuBLAS f32', '`split` to cuBLAS', '3xTF32 (Triton)'],
      ...[4096, 8192, 16384].map((side) => {
        const [ieee, split] = ofPrecisions(ours, 'gemm f32', side)
        const [cublas, triton] = ['cuBLAS', '3xTF32 (Triton)'].map((peer) =>
          findResult(peers, 'gemm f32', peer, cube(side)),
        )
        return [`${side}`, tera(ieee), tera(split), tera(cublas), ratio(split, cublas), tera(triton)]
      }),
    ],
    f16: ({ ours, peers }) => [
      ['f16 with sums and result in f32', 'TFLOP/s', 'cuBLAS', 'ratio'],
      ...[cube(4096), cube(8192), ...narrowShapes].map((shape) => {
        const one = findResult(ours, 'gemm f16', 'cuda tensor', shape)
        const other = findResult(peers, 'gemm f16', 'cuBLAS', shape)
        return [shapeText(shape), tera(one), tera(other), ratio(one, other)]
      }),
    ],
    several: ({ ours }) => [
      [`${devicesOf(ours)} GPUs, f32, TFLOP/s`, '`ieee`', '`split`', 'ratio'],
      ...['resident', 'streamed'].flatMap((mode) =>
        [8192, 16384, 32768].map((side) => {
          const [ieee, split] = ofPrecisions(ours, `gemm f32 ${mode}`, side, devicesOf(ours))
          return [`${mode} ${side}`, tera(ieee), tera(split), ratio(split, ieee)]
        }),
      ),
    ],
    'same-gpu': ({ ours }) => besideCuda(ours),
    errors: ({ errors = [] }) => [
      ['input', 'k', 'W', '`split`', '`ieee`', 'cuBLAS f32', 'cuBLAS TF32', 'largest'],
      ...errors.map(({ input, k, window, rms, largest }) => [
        ...[input, `${k}`, `${window}`],
        ...['split', 'ieee', 'cuBLAS f32', 'cuBLAS TF32'].map((of) => rms[of]!.toFixed(2)),
        largest.split!.toFixed(2),
      ]),
    ],
  },
  ranks: {
    table: (table) => rankRows(table, rankWorks),
    highlights: (table) =>
      rankRows(
        table,
        rankWorks.filter(({ work }) => work === 'jacobi' || work === 'transpose'),
      ),
    costs: costRows,
  },
}

/** Ours beside what one would use instead, or a bound: each by its rate, or where `byTime` by its seconds. */
interface Comparison {
  readonly title: string
  readonly ours: Figure | undefined
  readonly instead: string
  readonly theirs: Figure | undefined
  readonly byTime?: boolean
}

type Figure = Pick<BenchResult, 'seconds' | 'verified'> & Partial<Pick<BenchResult, 'rate' | 'unit'>>

/** Rows of what was measured on both sides. */
function compared(rows: readonly Comparison[]): Rows {
  return [
    ['work', 'Tandem', 'instead', 'ratio'],
    ...rows.flatMap(({ title, ours, instead, theirs, byTime }) => {
      if (ours === undefined || theirs === undefined) return []
      const cell = (figure: Figure) => (byTime ? time(figure.seconds) : rate(figure))
      const gain = byTime ? theirs.seconds / ours.seconds : ours.rate! / theirs.rate!
      return [[title, `${cell(ours)}${checked(ours)}`, `${instead} ${cell(theirs)}`, `${gain.toFixed(2)} ×`]]
    }),
  ]
}

/** Rows of `comparisons` that README.md shows. */
const highlights = new Set([
  'transpose 16384², 1 GPU',
  'transpose 2048², 4 GPUs',
  'transpose 32768², 4 GPUs',
  'sum of 2^31 f32, 4 GPUs',
  'SGEMM 8192³, 1 GPU',
  'SGEMM 8192³ from host memory, 4 GPUs',
  'SGEMM 16384³ from host memory, 4 GPUs',
])

/** Bytes a second that NVLink carries from one H200 to another while nothing goes the other way; a quarter of 3/4 of a matrix arrives at each of 4. */
const nvlinkOneWay = 392e9

/**
 * NVIDIA's multi-gpu-programming-models samples (multi_threaded_p2p, single GPU) on the same kind of machine, residual every 100
 * iterations, 2026-11-20: seconds an iteration by [devices, side]. Their code is not part of this repository, so they are quoted.
 */
const nvidiaJacobi = [
  [1, 16384, 1.19e-3],
  [4, 2048, 13.6e-6],
  [4, 4096, 20.5e-6],
  [4, 8192, 81.6e-6],
  [4, 16384, 0.306e-3],
  [4, 32768, 1205e-6],
] as const

function comparisons({ ours, peers }: Pick<BenchTable, 'ours' | 'peers'>): Comparison[] {
  const mine = (work: string, devices: number, shape: Shape, variant = 'tandem cuda overlapped') =>
    findResult(ours, work, variant, shape, devices)
  const beside = (title: string, instead: string, devices: number, work: string, shape: Shape) => ({
    ...{ title, instead, ours: mine(work, devices, shape) },
    theirs: findResult(peers, work, instead, shape, devices),
  })
  const named = (side: number, devices: number) => `${side}², ${devices} ${devices === 1 ? 'GPU' : 'GPUs'}`
  const large = mine('transpose', 4, square(32768))
  const bound = ((3 / 16) * 32768 ** 2 * 4) / nvlinkOneWay
  const cublas = peers.filter(({ work, variant }) => work === 'gemm' && variant === 'cuBLAS')
  return [
    beside('transpose 16384², 1 GPU', 'PyTorch', 1, 'transpose', square(16384)),
    {
      ...{ title: 'transpose 16384², 1 GPU, beside a copy', ours: mine('transpose', 1, square(16384)) },
      ...{
        instead: 'copy',
        theirs: findResult(peers, 'copy', peers.find((r) => r.work === 'copy')?.variant ?? '', {}),
      },
    },
    beside('transpose 2048², 4 GPUs', 'PyTorch P2P', 4, 'transpose', square(2048)),
    beside('transpose 32768², 4 GPUs', 'PyTorch P2P', 4, 'transpose', square(32768)),
    {
      ...{ title: 'transpose 32768², 4 GPUs, beside its bound', ours: large, instead: 'NVLink alone' },
      ...{ theirs: { seconds: bound, verified: true }, byTime: true },
    },
    ...(
      [
        [2, 2048],
        [2, 32768],
        [4, 32768],
      ] as const
    ).flatMap(([devices, side]) =>
      (
        [
          ['copy', 'tiles copied'],
          ['scatter', 'peers written'],
        ] as const
      ).map(([transport, name]) => ({
        ...{ title: `transpose ${named(side, devices)}, ${name}`, instead: 'serial' },
        ours: mine('transpose', devices, square(side), ` overlapped ${transport}`),
        theirs: mine('transpose', devices, square(side), ` serial ${transport}`),
      })),
    ),
    beside('sum of 2^22 f32, 4 GPUs', 'PyTorch', 4, 'sum', { elements: 2 ** 22 }),
    beside('sum of 2^31 f32, 4 GPUs', 'PyTorch', 4, 'sum', { elements: 2 ** 31 }),
    ...cublas.map(({ shape }) =>
      beside(`SGEMM ${sizeText(shape as Shape)}, 1 GPU`, 'cuBLAS', 1, 'gemm', shape as Shape),
    ),
    {
      ...{ title: 'SGEMM 32768³, 4 GPUs', instead: '1 GPU' },
      ours: mine('gemm', 4, cube(32768), ' resident'),
      theirs: mine('gemm', 1, cube(32768), ' resident'),
    },
    ...[8192, 16384, 32768].map((side) =>
      beside(`SGEMM ${side}³ from host memory, 4 GPUs`, 'cuBLASXt', 4, 'gemm-streamed', cube(side)),
    ),
    ...nvidiaJacobi.map(([devices, side, seconds]) => ({
      ...{ title: `Jacobi ${named(side, devices)}, an iteration`, instead: 'NVIDIA’s sample (quoted)' },
      ...{ ours: mine('jacobi', devices, square(side)), theirs: { seconds, verified: true }, byTime: true },
    })),
    {
      ...{ title: 'Jacobi 16384², 1 GPU, an iteration', instead: 'one sweep a pass', byTime: true },
      ours: mine('jacobi', 1, square(16384)),
      theirs: mine('jacobi', 1, square(16384), ' one sweep a pass'),
    },
  ]
}

/** What the host adds, beside the devices' own time. */
function hostRows({ host }: BenchTable): Rows {
  if (host === undefined) return []
  const { devices, firstOpenSeconds, contextSeconds, recordSeconds, runHostSeconds, runDeviceSeconds } = host
  const added = `${(100 * (runHostSeconds / runDeviceSeconds - 1)).toFixed(2)} %`
  return [
    [`run(program, 1000), ${devices} GPUs`, `adds ${added}`, '', ''],
    [`recording a transpose, ${devices} GPUs`, time(recordSeconds), '', ''],
    ...(firstOpenSeconds === undefined || contextSeconds === undefined
      ? []
      : [
          [
            ...[`openGroup, ${devices} GPUs`, `${firstOpenSeconds.toFixed(2)} s`],
            ...[`a C program that opens the contexts ${contextSeconds.toFixed(2)} s`, ''],
          ],
        ]),
  ]
}

/** The lecture's kernels with its figures, for the same 2^22 i32; `atomic` and `best` have none there. */
const ladder: readonly { kernel: string; source: string; sourceStep: string }[] = [
  { kernel: 'atomic', source: '', sourceStep: '' },
  { kernel: 'interleaved-divergent', source: '2.083 GB/s', sourceStep: '' },
  { kernel: 'interleaved-conflicts', source: '4.854 GB/s', sourceStep: '2.33 ×' },
  { kernel: 'sequential', source: '9.741 GB/s', sourceStep: '2.01 ×' },
  { kernel: 'best', source: '', sourceStep: '' },
]

function ladderRows(results: readonly BenchResult[]): Rows {
  let before: BenchResult | undefined
  const rows = ladder.flatMap(({ kernel, source, sourceStep }) => {
    const ours = results.find((r) => r.work === 'sum' && r.variant.endsWith(` ${kernel}`))
    if (ours === undefined) return []
    const step = before === undefined ? '' : `${(before.seconds / ours.seconds).toFixed(2)} ×`
    before = ours
    const gigabytes = `${(ours.rate / 1e9).toFixed(1)} GB/s`
    return [[`\`${kernel}\``, `${(1e6 * ours.seconds).toFixed(1)} µs`, gigabytes, step, source, sourceStep]]
  })
  return [['kernel', 'time', 'rate', 'step', 'source', 'step there'], ...rows]
}

/** What WebGPU and CUDA take for the same work on the same GPU. */
function besideCuda(ours: readonly BenchResult[]): Rows {
  const rows = ours
    .filter(({ variant }) => /^(tandem )?webgpu/.test(variant))
    .flatMap((one) => {
      const variant = one.variant.replace('webgpu', 'cuda')
      const other = findResult(ours, one.work, variant, one.shape as Shape, one.devices)
      // Of table.ts's results those alone that both have.
      if (other === undefined && one.variant.startsWith('tandem')) return []
      const more = one.variant.startsWith('tandem') ? one.variant.replace(/^tandem webgpu \w+/, '') : ''
      const work = `${one.work} ${shapeText(one.shape as Shape)}${more}${checked(one)}`
      return [[work, rate(one), rate(other), ratio(one, other)]]
    })
  return [['work, 1 GPU', 'WebGPU', 'CUDA', 'ratio'], ...rows]
}

/** The table with rows of tensor-rows.ts has the transpose, Jacobi and narrow products on both backends, after longer warm-ups. */
function comparedByTensorTable({ variant, work, shape }: BenchResult): boolean {
  return (
    variant.startsWith('tandem webgpu') &&
    work !== 'sum' &&
    (work !== 'gemm' || new Set(Object.values(shape)).size > 1)
  )
}

function tensorHighlights({ ours, peers }: TensorDocument): Rows {
  const several = devicesOf(ours)
  const product = (title: string, work: string, variant: string, side: number, instead: string) => ({
    ...{ title, ours: findResult(ours, work, variant, cube(side)), instead },
    theirs: findResult(peers, work, 'cuBLAS', cube(side)),
  })
  const [ieee, split] = ofPrecisions(ours, 'gemm f32 resident', 32768, several)
  return compared([
    product('f32 product on tensor cores 8192³, 1 GPU', 'gemm f32', 'cuda split', 8192, 'cuBLAS f32'),
    product('the same 16384³, 1 GPU', 'gemm f32', 'cuda split', 16384, 'cuBLAS f32'),
    product('f16 product with sums in f32 8192³, 1 GPU', 'gemm f16', 'cuda tensor', 8192, 'cuBLAS'),
    {
      ...{ title: `f32 product on tensor cores 32768³, ${several} GPUs`, instead: 'Tandem without them' },
      ...{ ours: split, theirs: ieee },
    },
  ])
}

function ofPrecisions(ours: readonly TensorResult[], work: string, side: number, devices = 1) {
  return ['ieee', 'split'].map((precision) =>
    findResult(ours, work, `cuda ${precision}`, cube(side), devices),
  )
}

/** The works of rank-ways.ts. */
const rankWorks: readonly { title: string; work: string; size: number }[] = [
  { title: 'Jacobi 16384²', work: 'jacobi', size: 16384 },
  { title: 'Jacobi 2048²', work: 'jacobi', size: 2048 },
  { title: 'transpose 32768²', work: 'transpose', size: 32768 },
  { title: 'transpose 2048²', work: 'transpose', size: 2048 },
  { title: 'sum of 2^31', work: 'sum', size: 2 ** 31 },
  { title: 'resident product 32768³', work: 'gemm-resident', size: 32768 },
  { title: 'streamed product 16384³', work: 'gemm-streamed', size: 16384 },
]

const wayOrder = ['one', 'ipc', 'nccl', 'gpu-aware', 'staged']

function waysOf(found: readonly { readonly way: string }[]): string[] {
  const place = (way: string) => (wayOrder.includes(way) ? wayOrder.indexOf(way) : wayOrder.length)
  return [...new Set(found.map(({ way }) => way))].sort((a, b) => place(a) - place(b))
}

const wayTitle = (way: string) =>
  way === 'one' ? 'one process' : way.startsWith('NVIDIA') ? way.replace(/ (.*)/, ' `$1`') : `\`${way}\``

/** What each way takes, with the ratio to one process. */
function rankRows({ results }: RankTable, works: typeof rankWorks): Rows {
  const ways = waysOf(results)
  const rows = works.flatMap(({ title, work, size }) => {
    const found = results.filter((r) => r.work === work && r.size === size)
    const one = found.find(({ way }) => way === 'one')
    if (found.length === 0) return []
    const cells = ways.map((way) => {
      const seconds = found.find((r) => r.way === way)?.seconds
      if (seconds === undefined) return ''
      return way === 'one' || one === undefined
        ? time(seconds)
        : `${time(seconds)} (${(seconds / one.seconds).toFixed(2)})`
    })
    return [[title, ...cells]]
  })
  return [['work', ...ways.map(wayTitle)], ...rows]
}

/** What messages and runs cost beside the devices' work. */
function costRows({ rings, runs }: RankTable): Rows {
  const ways = waysOf([...rings, ...runs])
  const side = rings[0]?.cost.side
  const hidden = ways.map((way) => {
    const share = middle(rings.filter((r) => r.way === way).map(({ cost }) => cost.hidden))
    return share === undefined ? '' : share.toFixed(2)
  })
  const programs = [...new Set(runs.map(({ cost }) => cost.program))]
  const added = programs.map((program) => [
    `run(program, 1000), ${program}: added to the devices' time`,
    ...ways.map((way) => {
      const costs = runs.filter((r) => r.way === way && r.cost.program === program).map(({ cost }) => cost)
      const [seconds, more] = [middle(costs.map((c) => c.seconds)), middle(costs.map((c) => c.added))]
      return seconds === undefined || more === undefined ? '' : `${time(more)} to ${time(seconds)}`
    }),
  ])
  return [
    ['work', ...ways.map(wayTitle)],
    ...(side === undefined
      ? []
      : [[`ring product ${side}³: share of its messages' time that it hides`, ...hidden]]),
    ...added,
  ]
}

function devicesOf(results: readonly TensorResult[]): number {
  return Math.max(...results.map(({ devices }) => devices))
}

function tera(result: Figure | undefined): string {
  return result === undefined ? '' : `${(result.rate! / 1e12).toFixed(1)}${checked(result)}`
}

function rate(result: Figure | undefined): string {
  if (result === undefined) return ''
  if (result.unit === 'B/s') return `${Math.round(result.rate! / 1e9)} GB/s`
  return `${(result.rate! / 1e12).toFixed(1)} TFLOP/s`
}

function ratio(one: Figure | undefined, other: Figure | undefined): string {
  return one && other ? (one.rate! / other.rate!).toFixed(2) : ''
}

function checked({ verified }: Figure): string {
  return verified ? '' : ' (not verified)'
}

function time(seconds: number): string {
  return seconds < 1e-3 ? `${(1e6 * seconds).toFixed(1)} µs` : `${(1e3 * seconds).toFixed(2)} ms`
}

function shapeText(shape: Shape): string {
  return Object.values(shape).join(' × ')
}

/** `8192³` where all sizes are equal. */
function sizeText(shape: Shape): string {
  const sizes = Object.values(shape)
  return new Set(sizes).size === 1 ? `${sizes[0]}³` : shapeText(shape)
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)!)) {
  const [path, flag] = process.argv.slice(2)
  if (path === undefined) throw new Error('usage: figures.ts TABLE.json [--check]')
  const table: QuotedTable = JSON.parse(readFileSync(path, 'utf8'))
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
