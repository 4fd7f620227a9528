import { formatNumber } from './quantity.ts'

const frame = { width: 960, height: 480, left: 90, right: 24, top: 24, bottom: 48 }
/**
 * Bars narrower than half a pixel are merged with their neighbours; the merged bar has the height of the
 * highest.
 */
const mostBars = 1692

/**
 * An SVG picture of the counts, from the first to the last edge. Bins are as wide as their edges are apart;
 * if an edge is infinite, or if all are equal, they are equally wide.
 */
export function histogramPicture({
  counts,
  edges,
}: {
  readonly counts: ArrayLike<number>
  readonly edges: ArrayLike<number>
}): string {
  const { width, height, left, right, top, bottom } = frame
  const [inner, tall] = [width - left - right, height - top - bottom]
  const together = Math.ceil(counts.length / mostBars)
  const bars = Array.from({ length: Math.ceil(counts.length / together) }, () => 0)
  for (let bin = 0; bin < counts.length; bin++) {
    const bar = Math.floor(bin / together)
    bars[bar] = Math.max(bars[bar]!, counts[bin]!)
  }
  const most = bars.reduce((a, b) => Math.max(a, b), 0)
  const [first, range] = [edges[0]!, edges[edges.length - 1]! - edges[0]!]
  const acrossAt = (bin: number) =>
    left + inner * (Number.isFinite(range) && range > 0 ? (edges[bin]! - first) / range : bin / counts.length)
  const place = (value: number) => Number(value.toFixed(2))
  const rectangles = bars.map((count, bar) => {
    const high = most === 0 ? 0 : (count / most) * tall
    const [x, y] = [acrossAt(bar * together), top + tall - high]
    const end = acrossAt(Math.min(counts.length, (bar + 1) * together))
    return `<rect x="${place(x)}" y="${place(y)}" width="${place(end - x)}" height="${place(high)}"/>`
  })
  const label = (x: number, y: number, anchor: string, text: string) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<g fill="#2563a8">${rectangles.join('')}</g>`,
    `<path d="M${left} ${top}V${top + tall}H${left + inner}" fill="none" stroke="black"/>`,
    '<g font-family="sans-serif" font-size="16">',
    label(left - 8, top + 12, 'end', formatNumber(most)),
    label(left - 8, top + tall, 'end', '0'),
    label(left, height - 18, 'start', formatNumber(edges[0]!)),
    label(left + inner, height - 18, 'end', formatNumber(edges[edges.length - 1]!)),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}
