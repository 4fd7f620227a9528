import type { BenchDocument, BenchResult } from './document.ts'

/** A page of HTML that loads nothing else: for each kind of work, a plot of rate against size and one of rate against the number of devices. */
export function benchPage(document: BenchDocument): string {
  const results = [...document.ours, ...document.peers]
  const works = [...new Set(document.ours.map(({ work }) => work))]
  const sections = works.map((work) => {
    const own = results.filter((result) => result.work === work)
    const ours = new Set(document.ours.map(({ variant }) => variant))
    return `<section><h2>${escapeHtml(work)}</h2>\n${sizePlot(own, ours)}\n${devicePlot(own, ours)}\n${resultTable(own)}</section>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tandem bench ${escapeHtml(document.date)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: currentColor; }
figure { margin: 1.5rem 0; }
figcaption { display: flex; flex-wrap: wrap; gap: 0.2rem 1.4rem; font-size: 13px; }
figcaption svg { display: inline-block; width: 34px; height: 12px; vertical-align: middle; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.1rem 0.8rem 0.1rem 0; text-align: right; white-space: nowrap; }
th:nth-child(-n + 2), td:nth-child(-n + 2) { text-align: left; }
</style>
<h1>Tandem bench</h1>
${machineList(document)}
${sections.join('\n')}
</html>
`
}

/** What was measured, and on what. */
function machineList({ date, commit, machine }: BenchDocument): string {
  const { adapters, ...rest } = machine
  const names = Array.isArray(adapters) ? adapters.map(adapterName) : []
  const counted = [...new Set(names)].map(
    (name) => `${names.filter((other) => other === name).length} × ${name}`,
  )
  const entries: [string, string][] = [
    ['date', date],
    ['commit', commit],
    ...(counted.length > 0 ? [['devices', counted.join(', ')] as [string, string]] : []),
    ...Object.entries(rest).map(([name, value]): [string, string] => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ]
  return `<dl>${entries.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>`
}

function adapterName(adapter: unknown): string {
  const { name, driver } = adapter as { name?: string; driver?: string }
  return driver === undefined ? String(name) : `${name} (driver ${driver})`
}

interface Series {
  readonly name: string
  /** A result of Tandem, and not of a peer. */
  readonly ours: boolean
  readonly points: readonly (readonly [x: number, rate: number])[]
}

function sizePlot(results: readonly BenchResult[], ours: ReadonlySet<string>): string {
  const series = seriesOf(results, ours, ({ variant, devices }) => `${variant}, ${devices} ×`, sizeOf)
  return plot('Rate against size', series, results[0]!.unit, (x) => formatPower(x))
}

/** Shows only sizes that ran on several numbers of devices. */
function devicePlot(results: readonly BenchResult[], ours: ReadonlySet<string>): string {
  const series = seriesOf(
    results,
    ours,
    ({ variant, shape }) => `${variant}, ${Object.values(shape).join(' × ')}`,
    (r) => r.devices,
  )
  const scaling = series.filter(({ points }) => points.length > 1)
  return scaling.length === 0 ? '' : plot('Rate against devices', scaling, results[0]!.unit, String)
}

function seriesOf(
  results: readonly BenchResult[],
  ours: ReadonlySet<string>,
  nameOf: (result: BenchResult) => string,
  xOf: (result: BenchResult) => number,
): Series[] {
  const series = new Map<string, { name: string; ours: boolean; points: (readonly [number, number])[] }>()
  for (const result of results) {
    if (!(result.rate > 0)) continue
    const name = nameOf(result)
    const found = series.get(name) ?? { name, ours: ours.has(result.variant), points: [] }
    found.points.push([xOf(result), result.rate])
    series.set(name, found)
  }
  for (const { points } of series.values()) points.sort(([a], [b]) => a - b)
  // Ours first, so that they have the first colours.
  return [...series.values()].sort((a, b) => Number(b.ours) - Number(a.ours))
}

/** About the number of elements of the largest matrix or vector, which orders the sizes of one kind of work. */
function sizeOf({ shape }: BenchResult): number {
  const sides = Object.entries(shape).filter(
    ([name, value]) => typeof value === 'number' && !ignored.has(name),
  )
  return sides.reduce((product, [, value]) => product * Number(value), 1)
}
const ignored = new Set(['block', 'tile', 'streamWidth', 'iterations', 'k'])

const colors = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
]

/** A colour with a dash pattern, so that no two of a hundred series look alike; peers are dashed. */
function styleOf(index: number, ours: boolean): string {
  const color = colors[index % colors.length]!
  const rank = Math.floor(index / colors.length) + (ours ? 0 : 1)
  const dash = rank === 0 ? '' : ` stroke-dasharray="${2 + 4 * rank} ${2 + 2 * rank}"`
  return `stroke="${color}" stroke-width="${ours ? 2.5 : 1.5}"${dash}`
}

/** Both axes are logarithmic. The legend stands below, where it has room for long names. */
function plot(
  title: string,
  series: readonly Series[],
  unit: string,
  formatX: (x: number) => string,
): string {
  if (series.length === 0) return ''
  const [width, height, left, right, bottom, top] = [900, 360, 80, 30, 40, 34]
  const xs = series.flatMap(({ points }) => points.map(([x]) => x))
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y))
  const x = logScale(Math.min(...xs), Math.max(...xs), left, width - right)
  const y = logScale(Math.min(...ys), Math.max(...ys), height - bottom, top)
  const yTicks = decades(Math.min(...ys), Math.max(...ys))
  const parts = [
    `<text x="0" y="16" font-weight="bold">${escapeHtml(title)}, in G${unit}</text>`,
    ...spaced(
      [...new Set(xs)].sort((a, b) => a - b),
      x,
    ).map(
      (tick) =>
        `<text x="${x(tick).toFixed(1)}" y="${height - bottom + 22}" text-anchor="middle">${formatX(tick)}</text>`,
    ),
    ...yTicks.map(
      (tick) =>
        `<line x1="${left}" x2="${width - right}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}" stroke="currentColor" stroke-opacity="0.15"/>` +
        `<text x="${left - 10}" y="${(y(tick) + 4).toFixed(1)}" text-anchor="end">${plainNumber(tick / 1e9)}</text>`,
    ),
    ...series.flatMap(({ name, points, ours }, i) => {
      const path = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ')
      const color = colors[i % colors.length]!
      const dots = points.map(
        ([px, py]) =>
          `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="${ours ? 4 : 3}" fill="${color}"><title>${escapeHtml(name)}: ${plainNumber(py / 1e9)} G${unit}</title></circle>`,
      )
      return [`<polyline points="${path}" fill="none" ${styleOf(i, ours)}/>`, ...dots]
    }),
  ]
  const keys = series.map(
    ({ name, ours }, i) =>
      `<span><svg viewBox="0 0 34 12" aria-hidden="true"><line x1="1" x2="33" y1="6" y2="6" ${styleOf(i, ours)}/></svg> ${escapeHtml(name)}</span>`,
  )
  return `<figure><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}">${parts.join('')}</svg><figcaption>${keys.join('')}</figcaption></figure>`
}

/** The ticks that leave their neighbours room for a label. */
function spaced(ticks: readonly number[], x: (value: number) => number): number[] {
  let last = Number.NEGATIVE_INFINITY
  return ticks.filter((tick) => {
    if (x(tick) - last < 60) return false
    last = x(tick)
    return true
  })
}

/** Four digits and no exponent. */
function plainNumber(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 4, useGrouping: value >= 1e4 })
}

function logScale(low: number, high: number, from: number, to: number): (value: number) => number {
  const span = Math.log(high) - Math.log(low)
  if (span === 0) return () => (from + to) / 2
  return (value) => from + ((Math.log(value) - Math.log(low)) / span) * (to - from)
}

/** Powers of ten, with 2 and 5 between them where there are few. */
function decades(low: number, high: number): number[] {
  const ticks: number[] = []
  const few = high / low < 1000
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of few ? [1, 2, 5] : [1]) ticks.push(step * 10 ** power)
  }
  return ticks.filter((tick) => tick >= low && tick <= high)
}

function formatPower(value: number): string {
  const exponent = Math.log2(value)
  return Number.isInteger(exponent) ? `2^${exponent}` : String(value)
}

function resultTable(results: readonly BenchResult[]): string {
  const rows = results.map(
    ({ variant, shape, devices, seconds, rate, unit, verified }) =>
      `<tr><td>${escapeHtml(variant)}</td><td>${escapeHtml(Object.values(shape).join(' × '))}</td><td>${devices}</td><td>${plainNumber(seconds * 1e6)}</td><td>${plainNumber(rate / 1e9)}</td><td>G${unit}</td><td>${verified ? 'yes' : 'no'}</td></tr>`,
  )
  const titles = ['variant', 'shape', 'devices', 'µs', 'rate', 'unit', 'verified'].map(
    (title) => `<th>${title}</th>`,
  )
  return `<div class="table"><table><tr>${titles.join('')}</tr>\n${rows.join('\n')}</table></div>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
