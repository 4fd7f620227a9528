import { counted } from '@tandem-gpu/core'
import { escapeMarkup } from '../printable.ts'
import type { BenchDocument, BenchResult } from './document.ts'
import { type DrawPlot, openPlots, plainNumber, type RatePlot, type SeriesStyle } from './plot.ts'

/**
 * An HTML page that loads no other files. For each kind of work, it has Tandem's best rate, a plot of rate
 * against size per number of devices (with the peers and the rate of plain copies), and a table. Rejects with
 * `UsageError` if the packages that draw are not installed.
 */
export async function benchPage(document: BenchDocument): Promise<string> {
  const draw = await openPlots()
  const works = [...new Set(document.ours.map(({ work }) => work))]
  const sections = works.map((work) => workSection(work, document, draw))
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tandem bench, ${escapeMarkup(dayOf(document))}</title>
<style>
:root { color-scheme: light dark; --plot-background: Canvas; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 3rem 0 0.5rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 0 0 0.3rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem; margin: 1.5rem 0; }
figure { margin: 0; max-width: 34rem; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; }
.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; list-style: none; margin: 1rem 0 0; padding: 0; font-size: 0.9rem; }
.legend svg { width: 34px; height: 12px; vertical-align: middle; margin-right: 0.4rem; }
details { margin: 1rem 0; }
.table { overflow-x: auto; font-size: 0.9rem; }
table { border-collapse: collapse; }
th, td { padding: 0.15rem 1rem 0.15rem 0; text-align: right; white-space: nowrap; }
th:nth-child(-n + 2), td:nth-child(-n + 2) { text-align: left; }
</style>
<h1>Tandem bench</h1>
<p>${escapeMarkup(measuredOn(document))}</p>
${sections.join('\n')}
</html>
`
}

const titles: Readonly<Record<string, string>> = {
  transpose: 'Transpose',
  sum: 'Sum of f32',
  'sum-i32': 'Sum of i32 by each kernel of the series',
  gemm: 'Matrix product',
  'gemm-streamed': 'Matrix product from host memory',
  jacobi: 'Jacobi',
  scan: 'Running sums of f32',
  histogram: 'Histogram of f32',
  sort: 'Sort of u32',
  'sort-pairs': 'Sort of u32 with their indices',
  fft: 'Fourier transform',
}

/** Work that moves every byte once, so that the rate of copies is its limit. */
const copying: ReadonlySet<string> = new Set(['transpose', 'sum', 'sum-i32', 'jacobi', 'scan', 'histogram'])

/** Reasons why some work may be faster than a copy. */
const beyond: Readonly<Record<string, string>> = {
  sum: 'A sum only reads, so it may be faster than a copy.',
  histogram: 'A histogram only reads, so it may be faster than a copy.',
  jacobi: 'Several sweeps may share one pass over memory, so the rate may exceed that of a copy.',
}

function dayOf({ date }: BenchDocument): string {
  return date.slice(0, 10)
}

/** One or two sentences about what was measured, and on which devices. */
function measuredOn(document: BenchDocument): string {
  const { adapters, backend, software, node, platform } = document.machine as Readonly<
    Record<string, unknown>
  >
  const names = Array.isArray(adapters) ? adapters.map(adapterName) : []
  const counted = [...new Set(names)].map(
    (name) => `${names.filter((other) => other === name).length} × ${name}`,
  )
  const runtime = [platform, node && `Node ${String(node).replace(/^v/, '')}`].filter(Boolean).join(', ')
  const parts = [
    `Measured on ${dayOf(document)}${counted.length > 0 ? ` on ${counted.join(' and ')}` : ''}`,
    backend === undefined ? '' : `, backend ${String(backend)}`,
    runtime === '' ? '' : `, ${runtime}`,
    document.commit === 'unknown' ? '.' : `, commit ${document.commit}.`,
    software === true ? ' This is a software GPU: the figures say nothing about hardware.' : '',
  ]
  return parts.join('')
}

function adapterName(adapter: unknown): string {
  const { name, driver } = adapter as { name?: string; driver?: string }
  return driver === undefined ? String(name) : `${name} (driver ${driver.replace(/^.* driver /, '')})`
}

function workSection(work: string, document: BenchDocument, draw: DrawPlot): string {
  const ours = document.ours.filter((result) => result.work === work && result.rate > 0)
  const peers = document.peers.filter((result) => result.work === work && result.rate > 0)
  const all = [...ours, ...peers].toSorted((a, b) => sizeOf(a) - sizeOf(b))
  const title = `<h2>${escapeMarkup(titles[work] ?? work)}</h2>`
  if (ours.length === 0) return `<section>${title}<p>Nothing was measured.</p></section>`
  const unit = unitOf(all)
  const styles = stylesOf(ours, peers)
  const counts = [...new Set(ours.map(({ devices }) => devices))].toSorted((a, b) => a - b)
  const plots = counts.map((devices): RatePlot => {
    const points = all
      .filter((result) => result.devices === devices)
      .map((result) => {
        const [series, size] = [result.variant, shapeText(result)]
        const value = result.rate / unit.factor
        return { series, size, value, text: `${series}, ${size}: ${plainNumber(value)} ${unit.name}` }
      })
    const most = Math.max(...points.map(({ value }) => value)) * unit.factor
    const reachable = limitOf(work, document, devices)
    // A limit that is far above all figures, as on software, would make them too small to see.
    const limit = reachable !== undefined && most >= reachable / 10 ? reachable : undefined
    const sizes = new Set(points.map(({ size }) => size))
    const only = sizes.size === 1 ? `, ${[...sizes][0]}` : ''
    return {
      title: `${counted(devices, 'device')}${only}`,
      unit: unit.name,
      points,
      styles,
      limit: limit && limit / unit.factor,
    }
  })
  const figures = plots.map((plot) => `<figure><h3>${escapeMarkup(plot.title)}</h3>${draw(plot)}</figure>`)
  const limited = plots.some(({ limit }) => limit !== undefined)
  return `<section>${title}
<p>${escapeMarkup(summary(ours, peers, document, unit))}</p>
${legend(styles, limited)}
<div class="plots">${figures.join('\n')}</div>
<details><summary>${all.length === 1 ? 'The measurement' : `All ${all.length} measurements`}</summary>${resultTable(all, unit)}</details></section>`
}

/** Our best rate at the largest size on the most devices, compared with the limit and the best peer there. */
function summary(
  ours: readonly BenchResult[],
  peers: readonly BenchResult[],
  document: BenchDocument,
  unit: Unit,
): string {
  const devices = Math.max(...ours.map((result) => result.devices))
  const there = ours.filter((result) => result.devices === devices)
  const size = Math.max(...there.map(sizeOf))
  const best = fastest(there.filter((result) => sizeOf(result) === size))!
  const peer = fastest(
    peers.filter((result) => result.devices === devices && shapeText(result) === shapeText(best)),
  )
  const limit = limitOf(best.work, document, devices)
  const facts = [
    limit &&
      `${percentOf(best.rate / limit)} of the limit that copies set (${plainNumber(limit / unit.factor)} ${unit.name})`,
    peer && `${plainNumber(best.rate / peer.rate)} times ${peer.variant}`,
  ].filter(Boolean)
  const where = `${shapeText(best)} on ${counted(devices, 'device')}`
  const reached = `Tandem reaches ${plainNumber(best.rate / unit.factor)} ${unit.name} for ${where}`
  return [`${reached}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}.`, limit && beyond[best.work]]
    .filter(Boolean)
    .join(' ')
}

/** A percentage: `120 %`, `87 %`, `0.7 %`. */
const percentOf = (share: number) =>
  `${(100 * share).toLocaleString('en', { maximumSignificantDigits: share < 0.01 ? 1 : share < 1 ? 2 : 3 })} %`

const fastest = (results: readonly BenchResult[]) => results.toSorted((a, b) => b.rate - a.rate)[0]

/**
 * The rate that copies allow: the measured rate within the devices' memory, or one device's rate times the
 * number of devices. For a transpose, also the rate between devices: each of n devices sends (n − 1)/n of its
 * part, all at once, while `rate` counts every byte twice.
 */
function limitOf(work: string, { limits = [], peers }: BenchDocument, devices: number): number | undefined {
  if (!copying.has(work)) return undefined
  const rate = (name: string, count: number) =>
    fastest([...limits, ...peers].filter((result) => result.work === name && result.devices === count))?.rate
  const one = rate('copy', 1)
  const own = rate('copy', devices) ?? (one && one * devices)
  const link =
    work === 'transpose' && devices > 1 ? (rate('peer-copy', devices) ?? rate('peer-copy', 2)) : undefined
  return link === undefined ? own : Math.min(own ?? link, ((2 * devices ** 2) / (devices - 1)) * link)
}

interface Unit {
  readonly name: string
  readonly factor: number
}

/** The SI prefix with which the figures are shortest. */
function unitOf(results: readonly BenchResult[]): Unit {
  const { unit } = results[0]!
  const most = Math.max(...results.map(({ rate }) => rate))
  if (most >= 1e13) return { name: `T${unit}`, factor: 1e12 }
  return most >= 1e8 ? { name: `G${unit}`, factor: 1e9 } : { name: `M${unit}`, factor: 1e6 }
}

/**
 * The approximate number of elements of the largest matrix or vector; orders the sizes of one kind of work.
 */
function sizeOf({ shape }: BenchResult): number {
  const sides = Object.entries(shape).filter(
    ([name, value]) => typeof value === 'number' && !ignored.has(name),
  )
  return sides.reduce((product, [, value]) => product * Number(value), 1)
}
const ignored = new Set(['block', 'tile', 'streamWidth', 'iterations', 'k'])

/**
 * `8192²` for a square, otherwise `64 × 8192 × 8192`; powers of two above 2¹⁶ are written as such. Omits how
 * the work is divided.
 */
function shapeText({ shape }: BenchResult): string {
  const sides = Object.entries(shape).flatMap(([name, value]) =>
    name === 'k' || !ignored.has(name) ? [value] : [],
  )
  const equal = sides.every((side) => side === sides[0])
  if (equal && sides.length > 1) return `${sides[0]}${superscript(sides.length)}`
  return sides.map((side) => (typeof side === 'number' ? sideText(side) : side)).join(' × ')
}

function sideText(side: number): string {
  const power = Math.log2(side)
  return power > 16 && Number.isInteger(power) ? `2${superscript(power)}` : String(side)
}

const superscript = (value: number) => String(value).replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!)

/** Blues and greens for our kernels, warm colours for peers; every colour differs. */
const ourColors = ['#2563eb', '#0d9488', '#a855f7', '#65a30d', '#38bdf8', '#64748b', '#14532d', '#4c1d95']
const peerColors = ['#ea580c', '#dc2626', '#eab308', '#ec4899', '#7c2d12', '#fda4af']

function stylesOf(ours: readonly BenchResult[], peers: readonly BenchResult[]): Map<string, SeriesStyle> {
  const styles = new Map<string, SeriesStyle>()
  for (const [results, colors, peer] of [
    [ours, ourColors, false],
    [peers, peerColors, true],
  ] as const)
    for (const [index, name] of [...new Set(results.map(({ variant }) => variant))].entries())
      styles.set(name, { color: colors[index] ?? `hsl(${(137 * index) % 360} 60% 45%)`, peer })
  return styles
}

function legend(styles: ReadonlyMap<string, SeriesStyle>, limited: boolean): string {
  const key = (name: string, stroke: string) =>
    `<li><svg viewBox="0 0 34 12" aria-hidden="true"><line x1="1" x2="33" y1="6" y2="6" ${stroke}/></svg>${escapeMarkup(name)}</li>`
  const keys = [...styles].map(([name, { color, peer }]) =>
    key(name, `stroke="${color}" stroke-width="${peer ? 2 : 3}"${peer ? ' stroke-dasharray="5 3"' : ''}`),
  )
  if (limited)
    keys.push(
      key(
        'limit: copies within devices and between them',
        'stroke="currentColor" stroke-width="1.5" stroke-dasharray="1 3"',
      ),
    )
  return `<ul class="legend">${keys.join('')}</ul>`
}

function resultTable(results: readonly BenchResult[], unit: Unit): string {
  const cells = (result: BenchResult) => [
    result.variant,
    shapeText(result),
    String(result.devices),
    plainNumber(result.seconds * 1e6),
    plainNumber(result.rate / unit.factor),
    result.verified ? 'yes' : 'no',
  ]
  const row = (values: readonly string[], tag: string) =>
    `<tr>${values.map((value) => `<${tag}>${escapeMarkup(value)}</${tag}>`).join('')}</tr>`
  const head = row(['variant', 'size', 'devices', 'µs', unit.name, 'verified'], 'th')
  return `<div class="table"><table>${head}\n${results.map((result) => row(cells(result), 'td')).join('\n')}</table></div>`
}
