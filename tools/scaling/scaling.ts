/*
 * Writes the tables of docs/scaling.md, between `<!-- scaling:NAME -->` and `<!-- /scaling -->`:
 *   node tools/scaling/scaling.ts
 * Records every program as one rank of 8 to 1,024 and prices the plans (predict.ts). Takes some minutes of
 * one core.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withNamedBlocks } from '../named-blocks.ts'
import { type Check, checks, predicted } from './checks.ts'
import { type Constant, constants } from './machine.ts'
import type { Prediction } from './predict.ts'
import { type Outcome, rankCounts, type Study, strong, studied, type TransportName, weak } from './studies.ts'

export const document = new URL('../../docs/scaling.md', import.meta.url)

const number = (value: number) =>
  value >= 1000
    ? Math.round(value).toLocaleString('en')
    : value >= 99.95
      ? value.toFixed(0)
      : value.toPrecision(3)

const whole = (value: number) => value.toLocaleString('en')

function time(seconds: number): string {
  if (seconds >= 0.9995) return `${number(seconds)} s`
  return seconds >= 0.9995e-3 ? `${number(1e3 * seconds)} ms` : `${number(1e6 * seconds)} µs`
}

/** A predicted time, with a letter for its bottleneck. */
export function cell({ seconds, bound }: Prediction): string {
  return `${time(seconds)} ${letters[bound] ?? bound}`
}

const letters: Readonly<Record<string, string>> = {
  kernels: 'k',
  path: 'c',
  NVLink: 'v',
  network: 'n',
  carrier: 't',
  copies: 'd',
  upload: 'h',
  download: 'h',
  residuals: 'r',
}

export function checkRow({ title, way, gpus, measured, source }: Check, model: Prediction): string {
  const error = Math.round(100 * (model.seconds / (measured * 1e-6) - 1))
  const sign = error < 0 ? '−' : '+'
  const said = `${error === 0 ? '' : `${sign} `}${Math.abs(error)} %`
  return `| ${title} | ${way} | ${gpus} | ${time(measured * 1e-6)} | ${cell(model)} | ${said} | \`${source}\` |`
}

type Row = { readonly study: Study; readonly outcomes: ReadonlyMap<number, Outcome> }

function timesTable(rows: readonly Row[], transport: TransportName, last: 'gain' | 'efficiency'): string {
  const body = rows.map(({ study, outcomes }) => {
    const of = (ranks: number) => outcomes.get(ranks)![transport]
    const best = rankCounts.reduce((a, b) => (of(b).seconds < of(a).seconds * 0.98 ? b : a))
    const end =
      last === 'gain'
        ? `${best === 8 ? '–' : `${(of(8).seconds / of(best).seconds).toFixed(1)} × at ${whole(best)}`}`
        : `${Math.round((100 * of(8).seconds) / of(1024).seconds)} %`
    return `| ${[study.title, ...rankCounts.map((ranks) => cell(of(ranks))), end].join(' | ')} |`
  })
  const head = last === 'gain' ? 'best, to 8' : '8 to 1,024'
  return [
    `| ranks | ${rankCounts.map(whole).join(' | ')} | ${head} |`,
    `|---${'|---'.repeat(rankCounts.length + 1)}|`,
    ...body,
  ].join('\n')
}

export function constantsTable(): string {
  const body = Object.values<Constant>(constants).map(
    ({ text, source, assumed }) => `| ${text} | ${assumed ? '**assumed**: ' : ''}${source} |`,
  )
  return ['| constant | source |', '|---|---|', ...body].join('\n')
}

export function withBlocks(text: string, blocks: ReadonlyMap<string, string>): string {
  return withNamedBlocks(text, 'scaling', (name) => blocks.get(name)!)
}

async function rowsOf(studies: readonly Study[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const study of studies) {
    const outcomes = new Map<number, Outcome>()
    for (const ranks of rankCounts) outcomes.set(ranks, await studied(study, ranks))
    rows.push({ study, outcomes })
    console.error(study.title)
  }
  return rows
}

async function main(): Promise<void> {
  const checkRows: string[] = []
  for (const one of checks) checkRows.push(checkRow(one, await predicted(one)))
  const strongRows = await rowsOf(strong)
  const weakRows = await rowsOf(weak)
  const blocks = new Map([
    ['constants', constantsTable()],
    [
      'check',
      [
        '| work | ranks as | GPUs | measured | model | error | file |',
        '|---|---|---|---|---|---|---|',
        ...checkRows,
      ].join('\n'),
    ],
    ['strong', timesTable(strongRows, 'links', 'gain')],
    ['strong-staged', timesTable(strongRows, 'staged', 'gain')],
    ['weak', timesTable(weakRows, 'links', 'efficiency')],
    ['weak-staged', timesTable(weakRows, 'staged', 'efficiency')],
  ])
  writeFileSync(document, withBlocks(readFileSync(document, 'utf8'), blocks))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
