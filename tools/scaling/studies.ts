import { links, staged, type Transport } from './machine.ts'
import { openRank } from './paper-group.ts'
import { type Prediction, predictRank } from './predict.ts'
import {
  jacobiOf,
  type Recorded,
  type RecordProgram,
  recordOn,
  residentProduct,
  ringProduct,
  streamedProduct,
  sumOf,
  transposeOf,
} from './programs.ts'

/** The numbers of ranks that docs/scaling.md predicts. */
export const rankCounts = [8, 16, 32, 64, 128, 256, 512, 1024]

/** One row of a table: a program for each number of ranks. */
export interface Study {
  readonly title: string
  readonly of: (ranks: number) => RecordProgram
  /** The number of blocks side by side, which determines an inner rank. */
  readonly across?: (ranks: number) => number
}

const side = 16_384
/** As `decompose` does it. */
const down = (ranks: number) => 2 ** Math.floor(Math.log2(ranks) / 2)
const across = (ranks: number) => ranks / down(ranks)

/** About `least` · √ranks, so that the area grows with the ranks, in equal slices of whole vectors. */
const sideOf = (least: number, ranks: number) => 4 * ranks * Math.round(least / 4 / Math.sqrt(ranks))

/** The same work on more ranks. */
export const strong: readonly Study[] = [
  { title: 'transpose 2048²', of: () => transposeOf(2048) },
  { title: 'transpose 32768²', of: () => transposeOf(32_768) },
  { title: 'sum of 2^31', of: () => sumOf(2 ** 31) },
  { title: 'resident product 32768³', of: () => residentProduct(32_768, 32_768, 32_768) },
  { title: 'streamed product 32768³', of: () => streamedProduct(32_768, 32_768, 32_768) },
  { title: 'Jacobi 2048², 1D', of: () => jacobiOf(2048, 2048, '1d') },
  { title: 'Jacobi 16384², 1D', of: () => jacobiOf(side, side, '1d') },
  { title: 'Jacobi 2048², 2D', of: () => jacobiOf(2048, 2048, '2d'), across },
  { title: 'Jacobi 16384², 2D', of: () => jacobiOf(side, side, '2d'), across },
  { title: 'ring 16384³, `direct`', of: () => ringProduct(side, side, side, 'direct') },
  { title: 'ring 16384³, `interleaved`', of: () => ringProduct(side, side, side, 'interleaved') },
]

/** The same work for each rank. */
export const weak: readonly Study[] = [
  {
    title: 'transpose, 268 MB a rank',
    of: (ranks) => transposeOf(sideOf(8192, ranks)),
  },
  { title: 'sum, 2^28 a rank', of: (ranks) => sumOf(ranks * 2 ** 28) },
  {
    title: 'resident product, 4,096 rows a rank by 16384²',
    of: (ranks) => residentProduct(4096 * ranks, side, side),
  },
  {
    title: 'streamed product, 4,096 rows a rank by 16384²',
    of: (ranks) => streamedProduct(4096 * ranks, side, side),
  },
  { title: 'Jacobi, 2048² a rank, 1D', of: (ranks) => jacobiOf(2048 * ranks, 2048, '1d') },
  { title: 'Jacobi, 8192² a rank, 1D', of: (ranks) => jacobiOf(8192 * ranks, 8192, '1d') },
  {
    title: 'Jacobi, 8192² a rank, 2D',
    of: (ranks) => jacobiOf(8192 * down(ranks), 8192 * across(ranks), '2d'),
    across,
  },
  {
    title: 'ring `direct`, 5.5 · 10^11 operations a rank, k 16384',
    of: (ranks) => {
      const length = sideOf(4096, ranks)
      return ringProduct(length, length, side, 'direct')
    },
  },
]

export type TransportName = Transport['name']
const transports = [links, staged]

/** For each transport, the slowest of the first, an inner and the last rank. */
export type Outcome = Readonly<Record<TransportName, Prediction>>

export async function studied({ of, across }: Study, ranks: number): Promise<Outcome> {
  const inner = across === undefined ? ranks / 2 : ranks / 2 + Math.floor(across(ranks) / 2)
  const plans: { readonly rank: number; readonly recorded: Recorded }[] = []
  for (const rank of [0, inner, ranks - 1])
    plans.push({ rank, recorded: await recordOn(() => openRank(rank, ranks), of(ranks)) })
  const slowest = transports.map((transport) => {
    const predictions = plans.map(({ rank, recorded }) => predictRank(recorded, rank, ranks, transport))
    return [transport.name, slowestOf(predictions)] as const
  })
  return Object.fromEntries(slowest) as Outcome
}

/** The first of equally slow ones: a difference in the last bits does not count. */
export function slowestOf(predictions: readonly Prediction[]): Prediction {
  return predictions.reduce((a, b) => (b.seconds > a.seconds * (1 + 1e-9) ? b : a))
}
