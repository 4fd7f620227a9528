import type { BenchDocument, BenchResult } from './document.ts'

/** A page of HTML that loads nothing else: for each kind of work, a plot of rate against size and one of rate against the number of devices. */
export function benchPage(document: BenchDocument): string {
  const results = [...document.ours, ...document.peers]
  const works = [...new Set(document.ours.map(({ work }) => work))]
  const sections = works.map((work) => {
    const own = results.filter((result) => result.work === work)
    return `<section><h2>${escapeHtml(work)}</h2>\n${sizePlot(own)}\n${devicePlot(own)}\n${resultTable(own)}</section>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tandem bench ${escapeHtml(document.date)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
svg { font: 12px system-ui, sans-serif; max-width: 100%; height: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.1rem 0.8rem 0.1rem 0; text-align: right; }
th:nth-child(-n + 2), td:nth-child(-n + 2) { text-align: left; }
</style>
<h1>Tandem bench</h1>
<p>${escapeHtml(document.date)} · commit ${escapeHtml(document.commit)} · <code>${escapeHtml(JSON.stringify(document.machine))}</code></p>
${sections.join('\n')}
</html>
`
}

interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, rate: number])[]
}

function sizePlot(results: readonly BenchResult[]): string {
  const series = seriesOf(results, ({ variant, devices }) => `${variant}, ${devices} ×`, sizeOf)
  return plot('Rate against size', series, results[0]!.unit, (x) => formatPower(x))
}

/** Shows only sizes that ran on several numbers of devices. */
function devicePlot(results: readonly BenchResult[]): string {
  const series = seriesOf(
    results,
    ({ variant, shape }) => `${variant}, ${Object.values(shape).join(' × ')}`,
    (r) => r.devices,
  )
  const scaling = series.filter(({ points }) => points.length > 1)
  return scaling.length === 0 ? '' : plot('Rate against devices', scaling, results[0]!.unit, String)
}

function seriesOf(
  results: readonly BenchResult[],
  nameOf: (result: BenchResult) => string,
  xOf: (result: BenchResult) => number,
): Series[] {
  const points = new Map<string, (readonly [number, number])[]>()
  for (const result of results) {
    if (!(result.rate > 0)) continue
    const name = nameOf(result)
    points.set(name, [...(points.get(name) ?? []), [xOf(result), result.rate]])
  }
  return [...points].map(([name, list]) => ({ name, points: list.sort(([a], [b]) => a - b) }))
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

/** Both axes are logarithmic. */
function plot(
  title: string,
  series: readonly Series[],
  unit: string,
  formatX: (x: number) => string,
): string {
  const [width, height, left, bottom, top] = [900, 340, 70, 40, 30]
  const legend = 260
  const xs = series.flatMap(({ points }) => points.map(([x]) => x))
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y))
  const x = logScale(Math.min(...xs), Math.max(...xs), left, width - legend)
  const y = logScale(Math.min(...ys), Math.max(...ys), height - bottom, top)
  const xTicks = [...new Set(xs)].sort((a, b) => a - b)
  const yTicks = decades(Math.min(...ys), Math.max(...ys))
  const parts = [
    `<text x="${left}" y="16" font-weight="bold">${escapeHtml(title)} (G${unit})</text>`,
    ...xTicks.map(
      (tick) =>
        `<text x="${x(tick)}" y="${height - bottom + 18}" text-anchor="middle">${formatX(tick)}</text>`,
    ),
    ...yTicks.map(
      (tick) =>
        `<line x1="${left}" x2="${width - legend}" y1="${y(tick)}" y2="${y(tick)}" stroke="#ddd"/>` +
        `<text x="${left - 8}" y="${y(tick) + 4}" text-anchor="end">${Number((tick / 1e9).toPrecision(2))}</text>`,
    ),
    ...series.flatMap(({ name, points }, i) => {
      const color = colors[i % colors.length]!
      const path = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ')
      const dots = points.map(
        ([px, py]) => `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3" fill="${color}"/>`,
      )
      const label = `<text x="${width - legend + 34}" y="${top + 18 * i + 4}">${escapeHtml(name)}</text>`
      const key = `<line x1="${width - legend + 12}" x2="${width - legend + 30}" y1="${top + 18 * i}" y2="${top + 18 * i}" stroke="${color}" stroke-width="2"/>`
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...dots,
        key,
        label,
      ]
    }),
  ]
  const tall = Math.max(height, top + 18 * series.length + 10)
  return `<svg viewBox="0 0 ${width} ${tall}" width="${width}" height="${tall}" role="img">${parts.join('')}</svg>`
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
      `<tr><td>${escapeHtml(variant)}</td><td>${escapeHtml(Object.values(shape).join(' × '))}</td><td>${devices}</td><td>${(seconds * 1e6).toPrecision(4)}</td><td>${(rate / 1e9).toPrecision(4)}</td><td>G${unit}</td><td>${verified ? 'yes' : 'no'}</td></tr>`,
  )
  const titles = ['variant', 'shape', 'devices', 'µs', 'rate', 'unit', 'verified'].map(
    (title) => `<th>${title}</th>`,
  )
  return `<table><tr>${titles.join('')}</tr>\n${rows.join('\n')}</table>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
