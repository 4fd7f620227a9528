import { readFileSync } from 'node:fs'
import type { RankTable } from '../gpu-host/table-documents.ts'
import { links, staged } from './machine.ts'
import { openHost, openRank } from './paper-group.ts'
import { type Prediction, predictHost, predictRank } from './predict.ts'
import {
  jacobiOf,
  type RecordProgram,
  recordOn,
  residentProduct,
  streamedProduct,
  sumOf,
  transposeOf,
} from './programs.ts'
import { slowestOf } from './studies.ts'

type Way = 'one process' | '`ipc`' | '`nccl`' | '`gpu-aware`' | '`staged`'

/** A measurement on two or four GPUs, to compare with the model. */
export interface Check {
  readonly title: string
  readonly way: Way
  readonly gpus: number
  readonly program: RecordProgram
  /** In microseconds; for Jacobi, of one iteration. */
  readonly measured: number
  readonly source: string
}

const table = '4xh200-table.json'
/** Tables of rank-ways.ts. */
const rankTables = ['2xh200-ranks.json', '4xh200-ranks.json']
const rankWays = ['one', 'ipc', 'nccl', 'gpu-aware', 'staged']

const square = (side: number) => [side, side, side] as const
const jacobi = (side: number, decomposition: '1d' | '2d' = '1d') => jacobiOf(side, side, decomposition)
const inOneProcess: readonly (readonly [string, number, RecordProgram, number, string])[] = [
  ['transpose 2048²', 2, transposeOf(2048), 13.56, table],
  ['transpose 2048²', 4, transposeOf(2048), 11.04, table],
  ['transpose 8192²', 2, transposeOf(8192), 185.22, table],
  ['transpose 8192²', 4, transposeOf(8192), 145.04, table],
  ['transpose 32768²', 2, transposeOf(32_768), 2921.7, table],
  ['transpose 32768²', 4, transposeOf(32_768), 2275.52, table],
  ['transpose 2048², tiles copied', 2, transposeOf(2048, 'copy'), 29.49, table],
  ['transpose 32768², tiles copied', 2, transposeOf(32_768, 'copy'), 3343.78, table],
  ['transpose 32768², tiles copied', 4, transposeOf(32_768, 'copy'), 2310.56, table],
  ['sum of 2^22', 4, sumOf(2 ** 22), 9.08, table],
  ['sum of 2^28', 4, sumOf(2 ** 28), 70.56, table],
  ['sum of 2^31', 4, sumOf(2 ** 31), 486.09, table],
  ['resident product 32768³', 4, residentProduct(...square(32_768)), 353_628.9, table],
  ['streamed product 8192³', 4, streamedProduct(...square(8192)), 7849.92, table],
  ['streamed product 16384³', 4, streamedProduct(...square(16_384)), 53_908.2, table],
  ['streamed product 32768³', 4, streamedProduct(...square(32_768)), 365_404, table],
  ['Jacobi 2048², 2D', 4, jacobi(2048, '2d'), 14.62, '4xh200-jacobi.txt'],
  ['Jacobi 4096², 2D', 4, jacobi(4096, '2d'), 20.69, '4xh200-jacobi.txt'],
  ['Jacobi 8192², 2D', 4, jacobi(8192, '2d'), 49.76, '4xh200-jacobi.txt'],
  ['Jacobi 16384², 2D', 4, jacobi(16_384, '2d'), 155.95, '4xh200-jacobi.txt'],
]
/** The programs that rank-ways.ts measures, by its names of the works. */
const ofRanks: readonly (readonly [string, string, number, RecordProgram])[] = [
  ['transpose 2048²', 'transpose', 2048, transposeOf(2048)],
  ['transpose 32768²', 'transpose', 32_768, transposeOf(32_768)],
  ['sum of 2^31', 'sum', 2 ** 31, sumOf(2 ** 31)],
  ['resident product 32768³', 'gemm-resident', 32_768, residentProduct(...square(32_768))],
  ['streamed product 16384³', 'gemm-streamed', 16_384, streamedProduct(...square(16_384))],
  ['Jacobi 2048², 1D', 'jacobi', 2048, jacobi(2048)],
  ['Jacobi 16384², 1D', 'jacobi', 16_384, jacobi(16_384)],
]

function rankChecks(source: string): Check[] {
  const file = new URL(`../../docs/measurements/2026-11-22-${source}`, import.meta.url)
  const { ranks, results }: RankTable = JSON.parse(readFileSync(file, 'utf8'))
  return rankWays.flatMap((name) =>
    ofRanks.flatMap(([title, work, size, program]): Check[] => {
      const found = results.find((r) => r.work === work && r.size === size && r.way === name)
      if (found === undefined) return []
      const way = name === 'one' ? 'one process' : (`\`${name}\`` as Way)
      return [{ title, way, gpus: ranks, program, measured: 1e6 * found.seconds, source }]
    }),
  )
}

export const checks: readonly Check[] = [
  ...inOneProcess.map(
    ([title, gpus, program, measured, source]): Check => ({
      title,
      way: 'one process',
      gpus,
      program,
      measured,
      source,
    }),
  ),
  ...rankTables.flatMap(rankChecks),
]

/** The model's prediction for the same program; if ranks send messages, for the slowest rank. */
export async function predicted({ way, gpus, program }: Check): Promise<Prediction> {
  if (way === 'one process' || way === '`ipc`')
    return predictHost(await recordOn(() => openHost(gpus), program), way === '`ipc`')
  const predictions: Prediction[] = []
  for (let rank = 0; rank < gpus; rank++) {
    const recorded = await recordOn(() => openRank(rank, gpus), program)
    predictions.push(predictRank(recorded, rank, gpus, way === '`staged`' ? staged : links))
  }
  return slowestOf(predictions)
}
