import { withNamedBlocks } from '../named-blocks.ts'
import { type RankTable, rankRows, ranksOfTargets, rankTargetsOf } from './rank-targets.ts'

/**
 * A document in which what stands between `<!-- ranks:NAME -->` and `<!-- /ranks -->` is what `table` says, a table of four ranks; what one of two ranks says stands between
 * `<!-- 2-ranks:NAME -->` and `<!-- /2-ranks -->`. NAME is `targets` or `table`.
 */
export function withRankFigures(text: string, table: RankTable, path: string): string {
  const kind = table.ranks === ranksOfTargets ? 'ranks' : `${table.ranks}-ranks`
  return withNamedBlocks(text, kind, (name) => rankFigures(name, table, path))
}

function rankFigures(name: string, table: RankTable, path: string): string {
  const lines = (() => {
    if (name === 'targets') return targetLines(table)
    if (name === 'table') return tableLines(table)
    throw new Error(`there are no figures of ranks named ${name}`)
  })()
  return [`${source(table)}; from \`${path}\`.`, '', ...lines].join('\n')
}

function targetLines(table: RankTable): string[] {
  if (table.ranks !== ranksOfTargets) {
    const rows = rankTargetsOf(table).map(
      ({ row, target, measured }) => `| ${row} | ${measured} | ${target} |`,
    )
    return [
      `| work | measured with ${table.ranks} GPUs | target for ${ranksOfTargets} |`,
      '|---|---|---|',
      ...rows,
    ]
  }
  const rows = rankTargetsOf(table).map(
    ({ row, target, measured, met }) => `| ${row} | ${target} | ${measured} | ${met ? 'yes' : '**no**'} |`,
  )
  return ['| work | target | measured | met |', '|---|---|---|---|', ...rows]
}

const order = ['one', 'ipc', 'nccl', 'gpu-aware', 'staged']

/** What each way takes, with the ratio to one process. */
function tableLines({ results }: RankTable): string[] {
  const place = (way: string) => (order.includes(way) ? order.indexOf(way) : order.length)
  const ways = [...new Set(results.map(({ way }) => way))].sort((a, b) => place(a) - place(b))
  const rows = rankRows.flatMap(({ title, work, size }) => {
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
    return [`| ${title} | ${cells.join(' | ')} |`]
  })
  const heads = ways.map((way) =>
    way === 'one' ? 'one process' : way.startsWith('NVIDIA') ? way.replace(/ (.*)/, ' `$1`') : `\`${way}\``,
  )
  return [`| work | ${heads.join(' | ')} |`, `|---${'|---'.repeat(ways.length)}|`, ...rows]
}

function source({ machine, ranks, date, commit }: RankTable): string {
  const [first] = machine.adapters as readonly { readonly name: string; readonly driver?: string }[]
  return `${ranks} processes of one GPU each: ${first?.name}, driver ${first?.driver}, ${date.slice(0, 10)}, commit ${commit}`
}

function time(seconds: number): string {
  return seconds < 1e-3 ? `${(1e6 * seconds).toFixed(1)} µs` : `${(1e3 * seconds).toFixed(2)} ms`
}
