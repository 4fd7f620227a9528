import Table from 'cli-table3'

/**
 * The characters of a table, without frame and colour, so that logs stay readable. The caller may colour
 * cells.
 */
const chars = {
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  top: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  bottom: '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

/** Aligns columns for a terminal, without frames. A cell that is undefined becomes a dash. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const table = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => row.map((cell) => cell ?? '–')))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
