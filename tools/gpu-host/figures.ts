/*
 * Puts the figures of a measured table into the documents that quote them:
 *   node tools/gpu-host/figures.ts docs/measurements/TABLE.json [--from FIGURES.jsonl --machine NAME --commit ID]
 * With `--from`, the table is first written from the lines of primitives.ts and its peers. Replaces what
 * stands between `<!-- KIND:NAME -->` and `<!-- /KIND -->` in README.md, docs/performance.md and
 * docs/performance/*.md. KIND is `figures` or `tensor` for table.ts, `ranks` for its --ways (`2-ranks` where
 * two ranks were measured), `primitives` for primitives.ts (`several-primitives` where several GPUs were
 * measured) and `webgpu-api` for calls.bench.ts; `blocks` has the names.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { BenchResult } from '../../packages/cli/src/bench/document.ts'
import { withNamedBlocks } from '../named-blocks.ts'
import {
  type ApiTable,
  type BenchTable,
  cube,
  findResult,
  middle,
  narrowShapes,
  type PrimitivesFigure,
  type PrimitivesTable,
  type RankTable,
  type Shape,
  square,
} from './table-documents.ts'

const topics = readdirSync(new URL('../../docs/performance', import.meta.url))
export const documents = [
  'README.md',
  'docs/performance.md',
  ...topics.map((name) => `docs/performance/${name}`),
]

export type QuotedTable = BenchTable | RankTable | PrimitivesTable | ApiTable

/** The header of a table, and its rows. */
type Rows = readonly (readonly string[])[]
type Blocks<Table> = Readonly<Record<string, (table: Table) => Rows>>

/** A document with its blocks replaced. */
export function withFigures(text: string, table: QuotedTable, path: string): string {
  const kind = kindOf(table)
  return withNamedBlocks(text, kind, (name) => figures(name, table, path))
}

function kindOf(table: QuotedTable): string {
  if (table.kind === 'bench') return 'figures'
  if (table.kind === 'ranks' && table.ranks !== 4) return `${table.ranks}-ranks`
  if (table.kind === 'primitives' && table.results.some(({ devices }) => devices > 1))
    return 'several-primitives'
  return table.kind
}

/** The text of one named block. */
export function figures(name: string, table: QuotedTable, path: string): string {
  const rows = (blocks[table.kind] as Blocks<QuotedTable>)[name]?.(table)
  if (rows === undefined) throw new Error(`there are no figures named ${name}`)
  const [head, ...lines] = rows
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const source = `${machineOf(table)}, ${table.date.slice(0, 10)}, commit ${table.commit}; from \`${path}\`.`
  return [source, '', line(head!), line(head!.map(() => '---')).replaceAll(' ', ''), ...lines.map(line)].join(
    '\n',
  )
}

function machineOf(table: QuotedTable): string {
  if (table.kind === 'primitives' || table.kind === 'webgpu-api') return table.machine
  const adapters = (table.machine.adapters ?? []) as readonly { name: string; driver?: string }[]
  const names = [...new Set(adapters.map(({ name }) => name))].join(', ')
  const of =
    table.kind === 'ranks'
      ? `${table.ranks} processes of one GPU each: `
      : table.kind === 'tensor'
        ? `${adapters.length} × `
        : ''
  return `${of}${names}, driver ${adapters[0]?.driver}`
}

/** The names of the blocks by the kind of table, with a function for the text of each. */
const blocks: {
  readonly bench: Blocks<BenchTable>
  readonly tensor: Blocks<BenchTable>
  readonly ranks: Blocks<RankTable>
  readonly primitives: Blocks<PrimitivesTable>
  readonly 'webgpu-api': Blocks<ApiTable>
} = {
  bench: {
    highlights: (table) => compared(comparisons(table).filter(({ title }) => highlights.has(title))),
    comparisons: (table) => [...compared(comparisons(table)), ...hostRows(table)],
    ladder: ({ ours }) => [
      ['kernel', 'time', 'rate'],
      ...ours
        .filter(({ work, shape }) => work === 'sum' && shape.elements === 2 ** 22)
        .filter(({ variant }) => /tandem cuda \S+ \S+/.test(variant))
        .map(({ variant, seconds, rate }) => [
          `\`${variant.split(' ').at(-1)}\``,
          time(seconds),
          `${(rate / 1e9).toFixed(1)} GB/s`,
        ]),
    ],
  },
  tensor: {
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
    several: ({ ours }) => {
      const most = Math.max(...ours.map(({ devices }) => devices))
      return [
        [`${most} GPUs, f32, TFLOP/s`, '`ieee`', '`split`', 'ratio'],
        ...['resident', 'streamed'].flatMap((mode) =>
          [8192, 16384, 32768].map((side) => {
            const [ieee, split] = ofPrecisions(ours, `gemm f32 ${mode}`, side, most)
            return [`${mode} ${side}`, tera(ieee), tera(split), ratio(split, ieee)]
          }),
        ),
      ]
    },
    'same-gpu': ({ ours }) => [
      ['work, 1 GPU', 'WebGPU', 'CUDA', 'ratio'],
      ...ours
        .filter(({ variant }) => variant.startsWith('webgpu'))
        .map((one) => {
          const variant = one.variant.replace('webgpu', 'cuda')
          const other = findResult(ours, one.work, variant, one.shape as Shape, one.devices)
          const work = `${one.work} ${shapeText(one.shape as Shape)}${checked(one)}`
          return [work, rate(one), rate(other), ratio(one, other)]
        }),
    ],
    errors: ({ errors = [] }) => [
      ['input', 'k', 'W', '`split`', '`ieee`', 'cuBLAS f32', 'cuBLAS TF32', 'largest'],
      ...errors.map(({ input, k, window, rms, largest }) => [
        input,
        `${k}`,
        `${window}`,
        ...['split', 'ieee', 'cuBLAS f32', 'cuBLAS TF32'].map((of) => rms[of]!.toFixed(2)),
        largest.split!.toFixed(2),
      ]),
    ],
  },
  ranks: { table: rankRows, costs: costRows },
  primitives: {
    vectors: (table) => primitiveRows(table, ({ work, devices }) => devices === 1 && !work.startsWith('fft')),
    fft: (table) => primitiveRows(table, ({ work, devices }) => devices === 1 && work.startsWith('fft')),
    several: severalRows,
  },
  'webgpu-api': {
    calls: ({ rows }) => [
      ['work', 'Tandem', 'Dawn', 'ratio'],
      ...rows
        .filter(({ name }) => name !== 'submits a training step')
        .map(({ name, tandem, dawn }) => [
          name,
          time(tandem * 1e-6),
          time(dawn * 1e-6),
          (tandem / dawn).toFixed(2),
        ]),
    ],
  },
}

/** Our result compared with an alternative or a bound. */
interface Comparison {
  readonly title: string
  readonly ours: BenchResult | undefined
  readonly instead: string
  /** Their result, by rate; or their time in seconds, by time. */
  readonly theirs: BenchResult | number | undefined
}

/** The rows of the works that were measured on both sides. */
function compared(rows: readonly Comparison[]): Rows {
  return [
    ['work', 'Tandem', 'compared with', 'ratio'],
    ...rows.flatMap(({ title, ours, instead, theirs }) => {
      if (ours === undefined || theirs === undefined) return []
      const [one, other, gain] =
        typeof theirs === 'number'
          ? [time(ours.seconds), time(theirs), theirs / ours.seconds]
          : [rate(ours), rate(theirs), ours.rate / theirs.rate]
      return [[title, `${one}${checked(ours)}`, `${instead} ${other}`, `${gain.toFixed(2)} ×`]]
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

/**
 * Bytes per second that NVLink transfers from one H200 to another with no traffic in the other direction; a
 * quarter of 3/4 of a matrix arrives at each of 4.
 */
const nvlinkOneWay = 392e9

/**
 * NVIDIA's multi-gpu-programming-models samples (multi_threaded_p2p, single GPU) on the same kind of machine,
 * residual every 100 iterations, 2026-11-20: seconds per iteration by [devices, side]. The figures are quoted
 * because the code is not part of this repository.
 */
const nvidiaJacobi = [
  [1, 16384, 1.19e-3],
  [4, 2048, 13.6e-6],
  [4, 4096, 20.5e-6],
  [4, 8192, 81.6e-6],
  [4, 16384, 0.306e-3],
  [4, 32768, 1205e-6],
] as const

function comparisons({ ours, peers }: BenchTable): Comparison[] {
  const mine = (work: string, devices: number, shape: Shape, variant = 'tandem cuda overlapped') =>
    findResult(ours, work, variant, shape, devices)
  const beside = (title: string, instead: string, devices: number, work: string, shape: Shape) => ({
    title,
    instead,
    ours: mine(work, devices, shape),
    theirs: findResult(peers, work, instead, shape, devices),
  })
  const named = (side: number, devices: number) => `${side}², ${devices} ${devices === 1 ? 'GPU' : 'GPUs'}`
  const transposes = ([2, 4] as const).flatMap((devices) =>
    [2048, 32768].flatMap((side) =>
      [
        ['copy', 'tiles copied'],
        ['scatter', 'direct writes'],
      ].map(([transport, name]) => ({
        title: `transpose ${named(side, devices)}, ${name}`,
        instead: 'serial',
        ours: mine('transpose', devices, square(side), ` overlapped ${transport}`),
        theirs: mine('transpose', devices, square(side), ` serial ${transport}`),
      })),
    ),
  )
  return [
    beside('transpose 16384², 1 GPU', 'PyTorch', 1, 'transpose', square(16384)),
    {
      title: 'transpose 16384², 1 GPU, compared with a copy',
      ours: mine('transpose', 1, square(16384)),
      instead: 'copy',
      theirs: peers.find((r) => r.work === 'copy'),
    },
    beside('transpose 2048², 4 GPUs', 'PyTorch P2P', 4, 'transpose', square(2048)),
    beside('transpose 32768², 4 GPUs', 'PyTorch P2P', 4, 'transpose', square(32768)),
    {
      title: 'transpose 32768², 4 GPUs, compared with its limit',
      ours: mine('transpose', 4, square(32768)),
      instead: 'NVLink alone',
      theirs: ((3 / 16) * 32768 ** 2 * 4) / nvlinkOneWay,
    },
    ...transposes,
    beside('sum of 2^22 f32, 4 GPUs', 'PyTorch', 4, 'sum', { elements: 2 ** 22 }),
    beside('sum of 2^31 f32, 4 GPUs', 'PyTorch', 4, 'sum', { elements: 2 ** 31 }),
    ...peers
      .filter(({ work, variant }) => work === 'gemm' && variant === 'cuBLAS')
      .map(({ shape }) =>
        beside(`SGEMM ${sizeText(shape as Shape)}, 1 GPU`, 'cuBLAS', 1, 'gemm', shape as Shape),
      ),
    {
      title: 'SGEMM 32768³, 4 GPUs',
      instead: '1 GPU',
      ours: mine('gemm', 4, cube(32768), ' resident'),
      theirs: mine('gemm', 1, cube(32768), ' resident'),
    },
    ...[8192, 16384, 32768].map((side) =>
      beside(`SGEMM ${side}³ from host memory, 4 GPUs`, 'cuBLASXt', 4, 'gemm-streamed', cube(side)),
    ),
    ...nvidiaJacobi.map(([devices, side, seconds]) => ({
      title: `Jacobi ${named(side, devices)}, per iteration`,
      instead: 'NVIDIA’s sample (quoted)',
      ours: mine('jacobi', devices, square(side)),
      theirs: seconds,
    })),
    {
      title: 'Jacobi 16384², 1 GPU, per iteration',
      instead: 'one sweep per pass',
      ours: mine('jacobi', 1, square(16384)),
      theirs: mine('jacobi', 1, square(16384), ' one sweep a pass')?.seconds,
    },
  ]
}

/** The host's overhead in addition to the devices' own time. */
function hostRows({ host }: BenchTable): Rows {
  if (host === undefined) return []
  const { devices, firstOpenSeconds = 0, contextSeconds = 0 } = host
  const added = `${(100 * (host.runHostSeconds / host.runDeviceSeconds - 1)).toFixed(2)} %`
  const contexts = `a C program that opens the contexts ${contextSeconds.toFixed(2)} s`
  return [
    [`run(program, 1000), ${devices} GPUs`, `adds ${added}`, '', ''],
    [`recording a transpose, ${devices} GPUs`, time(host.recordSeconds), '', ''],
    [`openGroup, ${devices} GPUs`, `${firstOpenSeconds.toFixed(2)} s`, contexts, ''],
  ]
}

function ofPrecisions(ours: readonly BenchResult[], work: string, side: number, devices = 1) {
  return ['ieee', 'split'].map((precision) =>
    findResult(ours, work, `cuda ${precision}`, cube(side), devices),
  )
}

/** The works of rank-ways.ts. */
const rankWorks = [
  ['Jacobi 16384²', 'jacobi', 16384],
  ['Jacobi 2048²', 'jacobi', 2048],
  ['transpose 32768²', 'transpose', 32768],
  ['transpose 2048²', 'transpose', 2048],
  ['sum of 2^31', 'sum', 2 ** 31],
  ['resident product 32768³', 'gemm-resident', 32768],
  ['streamed product 16384³', 'gemm-streamed', 16384],
] as const

const wayOrder = ['one', 'ipc', 'nccl', 'gpu-aware', 'staged']

function waysOf(found: readonly { readonly way: string }[]): string[] {
  const place = (way: string) => (wayOrder.includes(way) ? wayOrder.indexOf(way) : wayOrder.length)
  return [...new Set(found.map(({ way }) => way))].sort((a, b) => place(a) - place(b))
}

const wayTitle = (way: string) =>
  way === 'one' ? 'one process' : way.startsWith('NVIDIA') ? way.replace(/ (.*)/, ' `$1`') : `\`${way}\``

/** The time of each way, with the ratio to one process. */
function rankRows({ results }: RankTable): Rows {
  const ways = waysOf(results)
  const rows = rankWorks.flatMap(([title, work, size]) => {
    const of = (way: string) =>
      results.find((r) => r.work === work && r.size === size && r.way === way)?.seconds
    const one = of('one')
    const cells = ways.map((way) => {
      const seconds = of(way)
      if (seconds === undefined) return ''
      return `${time(seconds)}${way === 'one' || one === undefined ? '' : ` (${(seconds / one).toFixed(2)})`}`
    })
    return cells.some((cell) => cell !== '') ? [[title, ...cells]] : []
  })
  return [['work', ...ways.map(wayTitle)], ...rows]
}

/** The cost of messages and runs in addition to the devices' work. */
function costRows({ rings, runs }: RankTable): Rows {
  const ways = waysOf([...rings, ...runs])
  const hidden = ways.map((way) => {
    const found = rings.filter((r) => r.way === way).map(({ cost }) => cost.hidden)
    return found.length === 0 ? '' : middle(found).toFixed(2)
  })
  const added = [...new Set(runs.map(({ cost }) => cost.program))].map((program) => [
    `run(program, 1000), ${program}: added to the devices' time`,
    ...ways.map((way) => {
      const costs = runs.filter((r) => r.way === way && r.cost.program === program).map(({ cost }) => cost)
      if (costs.length === 0) return ''
      return `${time(middle(costs.map((c) => c.added)))} to ${time(middle(costs.map((c) => c.seconds)))}`
    }),
  ])
  return [
    ['work', ...ways.map(wayTitle)],
    ...rings
      .slice(0, 1)
      .map(({ cost }) => [
        `ring product ${cost.side}³: share of its messages' time that it hides`,
        ...hidden,
      ]),
    ...added,
  ]
}

function primitiveRows({ results }: PrimitivesTable, chosen: (figure: PrimitivesFigure) => boolean): Rows {
  const measured = results.flatMap((r) => (r.seconds === undefined ? [] : [{ ...r, seconds: r.seconds }]))
  return [
    ['work', 'elements', 'GPUs', 'Tandem', '10⁹ elements/s', 'peer: its time, and over Tandem’s'],
    ...measured
      .filter((figure) => figure.by === 'Tandem' && chosen(figure))
      .map(({ work, elements, devices, seconds }) => [
        work,
        elementsText(elements),
        `${devices}`,
        microseconds(seconds),
        (elements / seconds / 1e9).toFixed(1),
        measured
          .filter((r) => r.by !== 'Tandem' && r.work === work && r.elements === elements)
          .map((r) => `${r.by} ${microseconds(r.seconds)}: ${(r.seconds / seconds).toFixed(2)}`)
          .join('; '),
      ]),
  ]
}

/** Several GPUs compared with one in the same job. */
function severalRows({ results }: PrimitivesTable): Rows {
  const ours = results.filter(({ by }) => by === 'Tandem')
  const cell = ({ seconds, impossible = '' }: Partial<PrimitivesFigure> = {}) =>
    seconds === undefined ? impossible : microseconds(seconds)
  return [
    ['work', 'elements', 'GPUs', 'one GPU', 'these GPUs', 'ratio'],
    ...ours
      .filter(({ devices }) => devices > 1)
      .map((figure) => {
        const { work, elements, devices, transport, seconds } = figure
        const one = ours.find((r) => r.devices === 1 && r.work === work && r.elements === elements)
        return [
          work,
          elementsText(elements),
          `${devices}${transport ? `, \`${transport}\`` : ''}`,
          cell(one),
          cell(figure),
          one?.seconds && seconds ? (one.seconds / seconds).toFixed(2) : '',
        ]
      }),
  ]
}

function microseconds(seconds: number): string {
  return `${(1e6 * seconds).toLocaleString('en', { maximumFractionDigits: seconds < 1e-4 ? 1 : 0 })} µs`
}

function elementsText(elements: number): string {
  const power = Math.log2(elements)
  const superscript = (value: number) => String(value).replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!)
  return Number.isInteger(power) ? `2${superscript(power)}` : elements.toLocaleString('en')
}

function tera(result: BenchResult | undefined): string {
  return result === undefined ? '' : `${(result.rate / 1e12).toFixed(1)}${checked(result)}`
}

function rate(result: BenchResult | undefined): string {
  if (result === undefined) return ''
  if (result.unit === 'B/s') return `${Math.round(result.rate / 1e9)} GB/s`
  return `${(result.rate / 1e12).toFixed(1)} TFLOP/s`
}

function ratio(one: BenchResult | undefined, other: BenchResult | undefined): string {
  return one && other ? (one.rate / other.rate).toFixed(2) : ''
}

function checked({ verified }: BenchResult): string {
  return verified ? '' : ' (not verified)'
}

function time(seconds: number): string {
  return seconds < 1e-3 ? `${(1e6 * seconds).toFixed(1)} µs` : `${(1e3 * seconds).toFixed(2)} ms`
}

function shapeText(shape: Shape): string {
  return Object.values(shape).join(' × ')
}

/** `8192³` if all sizes are equal. */
function sizeText(shape: Shape): string {
  const sizes = Object.values(shape)
  return new Set(sizes).size === 1 ? `${sizes[0]}³` : shapeText(shape)
}

if (process.argv[1] !== undefined && import.meta.url.endsWith(process.argv[1].split('/').at(-1)!)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      machine: { type: 'string', default: 'unknown' },
      commit: { type: 'string', default: 'unknown' },
    },
  })
  const [path] = positionals
  if (path === undefined) throw new Error('usage: figures.ts TABLE.json')
  const { from, machine, commit } = values
  if (from !== undefined) {
    const lines = readFileSync(from, 'utf8').split('\n')
    const results = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    const table: PrimitivesTable = {
      kind: 'primitives',
      date: new Date().toISOString(),
      commit,
      machine,
      results,
    }
    writeFileSync(path, `${JSON.stringify(table, null, 1)}\n`)
  }
  const table: QuotedTable = JSON.parse(readFileSync(path, 'utf8'))
  for (const document of documents)
    writeFileSync(document, withFigures(readFileSync(document, 'utf8'), table, path))
}
