/*
 * Writes the tables of docs/scaling.md, between `<!-- scaling:NAME -->` and `<!-- /scaling -->`:
 *   node tools/scaling/scaling.ts [--check]
 * Records every program as one rank of 8 to 1,024 and prices the plans (predict.ts). Takes some minutes of one core. With --check nothing is
 * written; exit 1 when the document says something else.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withNamedBlocks } from '../named-blocks.ts'
import { type Check, checks, predicted } from './checks.ts'
import { type Constant, constants } from './machine.ts'
import { openHost } from './paper-group.ts'
import { type Prediction, predictHost } from './predict.ts'
import { recordOn } from './programs.ts'
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

/** A predicted time and, by its letter, what takes that long. */
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
    const of = (ranks: number) => outcomes.get(ranks)!.slowest[transport]
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

function countsTable(rows: readonly Row[]): string {
  const megabytes = (value: number) => (value === 0 ? '0' : number(value / 1e6))
  const body = rows.flatMap(({ study, outcomes }) =>
    [8, 64, 1024].map((ranks) => {
      const { counts } = outcomes.get(ranks)!
      const most = counts.reduce((a, b) => (b.commands > a.commands ? b : a))
      const { bytesInside, bytesBetween } = most
      return `| ${[
        study.title,
        ...[ranks, most.rank, most.commands, most.messagesInside, most.messagesBetween].map((value) =>
          value.toLocaleString('en'),
        ),
        `${megabytes(bytesInside.out)} / ${megabytes(bytesInside.in)}`,
        `${megabytes(bytesBetween.out)} / ${megabytes(bytesBetween.in)}`,
        megabytes(most.kernelBytes),
        most.flops === 0 ? '' : number(most.flops / 1e9),
      ].join(' | ')} |`
    }),
  )
  return [
    '| program | ranks | rank | commands | messages inside | between | MB out / in inside | between | kernels, MB | GFLOP |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...body,
  ].join('\n')
}

/** Programs of one process over the GPUs of one host. */
async function hostTable(): Promise<string> {
  const gpus = [2, 4, 8]
  const rows: string[] = []
  for (const { title, of } of strong.filter(({ copiesOnHost }) => !copiesOnHost)) {
    const times: string[] = []
    for (const count of gpus) times.push(cell(predictHost(await recordOn(() => openHost(count), of(count)))))
    rows.push(`| ${[title, ...times].join(' | ')} |`)
  }
  return [`| GPUs | ${gpus.join(' | ')} |`, '|---|---|---|---|', ...rows].join('\n')
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

async function main(check: boolean): Promise<void> {
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
    ['counts', countsTable(strongRows)],
    ['host', await hostTable()],
    ['strong', timesTable(strongRows, 'links', 'gain')],
    ['strong-one-link', timesTable(strongRows, 'one link a host', 'gain')],
    ['strong-staged', timesTable(strongRows, 'staged', 'gain')],
    ['weak', timesTable(weakRows, 'links', 'efficiency')],
    ['weak-staged', timesTable(weakRows, 'staged', 'efficiency')],
  ])
  const before = readFileSync(document, 'utf8')
  const after = withBlocks(before, blocks)
  if (!check) writeFileSync(document, after)
  else if (after !== before) {
    console.error('docs/scaling.md does not say what the plans give.')
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.includes('--check'))
