// Scans, histograms, sorts and transforms beside other libraries: the figures of a measured job, the targets, and the tables in the documents.
import { withNamedBlocks } from '../named-blocks.ts'

/** One measured time: a line of primitives.ts, fft-table.ts, tools/peers/cub.cu or tools/peers/primitives.py. */
export interface PrimitivesFigure {
  readonly work: string
  /** `Tandem`, or the name of the peer. */
  readonly by: string
  readonly elements: number
  readonly devices: number
  readonly seconds: number
  /** Of transforms: what ran, in order. */
  readonly kernels?: readonly string[]
}

/** What primitives-table.ts writes. */
export interface PrimitivesDocument {
  readonly schema: 1
  readonly kind: 'primitives'
  readonly date: string
  readonly commit: string
  readonly machine: string
  readonly results: readonly PrimitivesFigure[]
}

/** The least ratio of the peer's time to Tandem's that is wanted, both on one GPU. */
export interface PrimitivesTarget {
  readonly work: string
  readonly elements: number
  readonly by: string
  readonly ratio: number
}

const vectors = 2 ** 28
const values = 2 ** 27
const lineTarget = (length: number, ratio: number): PrimitivesTarget => ({
  ...{ work: `fft lines ${length}`, by: 'cuFFT', ratio },
  elements: Math.floor(values / length) * length,
})

export const primitivesTargets: readonly PrimitivesTarget[] = [
  { work: 'scan f32', elements: vectors, by: 'CUB', ratio: 0.88 },
  { work: 'scan f32', elements: vectors, by: 'PyTorch, deterministic', ratio: 1.25 },
  { work: 'histogram f32 even', elements: vectors, by: 'CUB', ratio: 0.95 },
  { work: 'sort u32', elements: vectors, by: 'CUB', ratio: 0.67 },
  { work: 'sort u32 pairs', elements: vectors, by: 'CUB', ratio: 0.6 },
  { work: 'sort u32 pairs', elements: vectors, by: 'PyTorch', ratio: 0.85 },
  ...[64, 128, 256, 512, 1024, 2048, 4096].map((length) => lineTarget(length, 0.97)),
  ...[13, 14, 15, 16, 17, 18, 19, 20].map((bits) => lineTarget(2 ** bits, 0.95)),
  ...[1000, 1536, 6561].map((length) => lineTarget(length, 0.9)),
  ...[127, 509, 1009, 2039].map((length) => lineTarget(length, 1.5)),
  { work: 'fft 8192²', elements: 8192 ** 2, by: 'cuFFT', ratio: 0.95 },
  { work: 'fft 512³', elements: 512 ** 3, by: 'cuFFT', ratio: 1 },
  { work: 'fft 1024³', elements: 1024 ** 3, by: 'cuFFT', ratio: 0.85 },
]

/** A figure of Tandem's with those of its peers, the times of which are divided by Tandem's. */
export interface ComparedFigure extends PrimitivesFigure {
  readonly peers: readonly {
    readonly by: string
    readonly seconds: number
    readonly ratio: number
    /** Undefined where nothing is wanted. */
    readonly target?: { readonly ratio: number; readonly met: boolean }
  }[]
}

/** Tandem's figures in the order of the document. */
export function comparedFigures(results: readonly PrimitivesFigure[]): ComparedFigure[] {
  return results
    .filter(({ by }) => by === 'Tandem')
    .map((own) => {
      const peers = results.filter(
        ({ by, work, elements }) => by !== 'Tandem' && work === own.work && elements === own.elements,
      )
      return {
        ...own,
        peers: peers.map(({ by, seconds }) => {
          const ratio = seconds / own.seconds
          const wanted = primitivesTargets.find(
            (one) => one.by === by && one.work === own.work && one.elements === own.elements,
          )
          const target = wanted && { ratio: wanted.ratio, met: ratio >= wanted.ratio }
          return { by, seconds, ratio, ...(own.devices === 1 && target && { target }) }
        }),
      }
    })
}

export function elementsText(elements: number): string {
  const power = Math.log2(elements)
  const superscript = (value: number) => String(value).replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!)
  return Number.isInteger(power) ? `2${superscript(power)}` : elements.toLocaleString('en')
}

const microseconds = (seconds: number) =>
  `${(1e6 * seconds).toLocaleString('en', { maximumFractionDigits: seconds < 1e-4 ? 1 : 0 })} µs`

function peerText({ by, seconds, ratio, target }: ComparedFigure['peers'][number]): string {
  const wanted =
    target === undefined ? '' : target.met ? `, target ${target.ratio}` : `, **target ${target.ratio}**`
  return `${by} ${microseconds(seconds)}: ${ratio.toFixed(2)}${wanted}`
}

/** The text of a block: `vectors` has scans, histograms and sorts, `fft` the transforms, `several` what ran on more than one GPU. */
export function primitivesFigures(name: string, table: PrimitivesDocument, path: string): string {
  const source = `${table.machine}, ${table.date.slice(0, 10)}, commit ${table.commit}; from \`${path}\`.`
  const chosen = comparedFigures(table.results).filter(({ work, devices }) => {
    const transform = work.startsWith('fft')
    if (name === 'several') return devices > 1
    return devices === 1 && transform === (name === 'fft')
  })
  if (!['vectors', 'fft', 'several'].includes(name)) throw new Error(`there are no figures named ${name}`)
  const rows = chosen.map(({ work, elements, devices, seconds, peers }) => {
    const rate = `${(elements / seconds / 1e9).toFixed(1)}`
    const cells =
      name === 'several'
        ? [work, elementsText(elements), String(devices), microseconds(seconds), rate]
        : [work, elementsText(elements), microseconds(seconds), rate, peers.map(peerText).join('; ')]
    return `| ${cells.join(' | ')} |`
  })
  const head =
    name === 'several'
      ? ['work', 'elements', 'GPUs', 'time', '10⁹ elements/s']
      : ['work', 'elements', 'Tandem', '10⁹ elements/s', 'peer: its time, and over Tandem’s']
  return [source, '', `| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n')
}

/** A document with its blocks of the kind `primitives` replaced. */
export function withPrimitivesFigures(text: string, table: PrimitivesDocument, path: string): string {
  return withNamedBlocks(text, 'primitives', (name) => primitivesFigures(name, table, path))
}
