import { UsageError } from '../exit-code.ts'

export interface PlotPoint {
  readonly series: string
  /** The label on the axis of sizes. */
  readonly size: string
  /** In the unit of the plot. */
  readonly value: number
  /** The text of the tooltip. */
  readonly text: string
}

/** How a series is drawn; peers are dashed. */
export interface SeriesStyle {
  readonly color: string
  readonly peer: boolean
}

export interface RatePlot {
  readonly title: string
  readonly unit: string
  /** In the order of the axis of sizes. */
  readonly points: readonly PlotPoint[]
  readonly styles: ReadonlyMap<string, SeriesStyle>
  readonly limit?: number | undefined
}

/** Draws a plot as SVG in HTML. */
export type DrawPlot = (plot: RatePlot) => string

/**
 * Observable Plot draws into a document of linkedom. Both are optional peer dependencies, which nothing else
 * needs.
 */
export async function openPlots(): Promise<DrawPlot> {
  const loaded = await Promise.all([import('@observablehq/plot'), import('linkedom')]).catch(() => {
    throw new UsageError(
      "The page's plots are drawn by packages that are not installed: run npm install @observablehq/plot@0.6 linkedom@0.18, with --global if @tandem-gpu/cli is installed globally.",
    )
  })
  const [Plot, { parseHTML }] = loaded
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  return (plot) => {
    const bars = new Set(plot.points.map(({ size }) => size)).size < 2
    const marks = bars ? barMarks(plot) : lineMarks(plot)
    const figure = Plot.plot({ ...marks, document, style: { fontSize: '12px', overflow: 'visible' } })
    figure.setAttribute('role', 'img')
    figure.setAttribute('aria-label', plot.title)
    return figure.outerHTML

    function lineMarks({ points, styles, unit, limit }: RatePlot): import('@observablehq/plot').PlotOptions {
      const sizes = [...new Set(points.map(({ size }) => size))]
      const letters = sizes.reduce((sum, size) => sum + size.length + 2, 0)
      const slanted = letters > 58
      const longest = Math.max(...sizes.map(({ length }) => length))
      return {
        width: 440,
        height: slanted ? 250 + 5 * longest : 260,
        marginLeft: 52,
        marginTop: 30,
        marginRight: 24,
        marginBottom: slanted ? 24 + 5 * longest : 30,
        x: { type: 'point', domain: sizes, label: null, padding: 0.3, ...(slanted && { tickRotate: -40 }) },
        y: {
          domain: [0, highest(points, limit)],
          grid: true,
          label: unit,
          nice: true,
          ticks: 5,
          tickFormat: plainNumber,
        },
        marks: [
          ...(limit === undefined ? [] : [Plot.ruleY([limit], limitStyle), limitText(limit)]),
          ...[...styles].flatMap(([name, { color, peer }]) => {
            const own = points.filter(({ series }) => series === name)
            const place = { x: 'size', y: 'value' } as const
            return [
              Plot.lineY(own, {
                ...place,
                stroke: color,
                strokeWidth: peer ? 1.75 : 2.5,
                ...(peer && { strokeDasharray: '5 3' }),
              }),
              Plot.dot(own, { ...place, r: 3.5, fill: color, title: 'text' }),
            ]
          }),
        ],
      }
    }

    function limitText(limit: number) {
      return Plot.text([limit], {
        y: (value: number) => value,
        frameAnchor: 'right',
        text: () => 'limit',
        dy: -7,
        fill: 'currentColor',
      })
    }

    /** For one size: a bar per series. */
    function barMarks({ points, styles, unit, limit }: RatePlot): import('@observablehq/plot').PlotOptions {
      const names = points.map(({ series }) => series)
      return {
        width: 440,
        height: 62 + 30 * points.length,
        marginLeft: 12,
        marginBottom: 46,
        marginRight: 24,
        x: {
          // Leaves room for the figure at the end of the longest bar.
          domain: [0, 1.1 * highest(points, limit)],
          grid: true,
          label: unit,
          labelOffset: 40,
          nice: true,
          ticks: 5,
          tickFormat: plainNumber,
        },
        y: { type: 'band', domain: names, axis: null, padding: 0.25 },
        marks: [
          Plot.barX(points, {
            x: 'value',
            y: 'series',
            fill: ({ series }: PlotPoint) => styles.get(series)!.color,
            title: 'text',
          }),
          Plot.text(points, {
            x: 'value',
            y: 'series',
            text: ({ value }: PlotPoint) => plainNumber(value),
            textAnchor: 'start',
            dx: 5,
            fill: 'currentColor',
            stroke: 'var(--plot-background)',
            strokeWidth: 4,
          }),
          ...(limit === undefined ? [] : [Plot.ruleX([limit], limitStyle)]),
        ],
      }
    }
  }
}

const limitStyle = { stroke: 'currentColor', strokeWidth: 1.5, strokeDasharray: '1 3' } as const

const highest = (points: readonly PlotPoint[], limit = 0) =>
  1.06 * Math.max(limit, ...points.map(({ value }) => value))

/** Three significant digits, without an exponent. */
export function plainNumber(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) >= 1000 ? 4 : 3 })
}
