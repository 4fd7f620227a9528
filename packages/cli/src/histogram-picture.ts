import { formatNumber } from './quantity.ts'

const frame = { width: 960, height: 480, left: 90, right: 24, top: 24, bottom: 48 }
/**
 * Bars narrower than half a pixel are merged with their neighbours; the merged bar has the height of the
 * highest.
 */
const mostBars = 1692

/**
 * An SVG picture of the counts, with bins of equal width; the ends of the axis are the first and the last
 * edge.
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
  const place = (value: number) => Number(value.toFixed(2))
  const rectangles = bars.map((count, bar) => {
    const high = most === 0 ? 0 : (count / most) * tall
    const [x, y] = [left + (bar / bars.length) * inner, top + tall - high]
    return `<rect x="${place(x)}" y="${place(y)}" width="${place(inner / bars.length)}" height="${place(high)}"/>`
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
