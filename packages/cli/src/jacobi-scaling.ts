import { type ScalingFigure, scaleJacobi } from '@tandem-gpu/algorithms'
import type { AlgorithmCommandOptions } from './algorithm-options.ts'
import type { CommandContext } from './command.ts'
import { exitCode } from './exit-code.ts'
import { devicesOf, withGroup } from './group-options.ts'
import { formatJson } from './json.ts'
import { formatNumber, formatSeconds } from './quantity.ts'
import { formatTable } from './table.ts'
import { beginHandover } from './terminal.ts'

interface ScalingOptions extends AlgorithmCommandOptions {
  readonly rows?: number
  readonly cols?: number
  readonly iterations: number
  readonly residualEvery: number
}

/** The sides of the published study, and what a software GPU sweeps in seconds. */
const sides = { hardware: 10_000, software: 512 }

/** The number of virtual devices of a software GPU: the least with blocks that are not bands. */
export const softwareScalingDevices = 4

/** `jacobi --scaling`: strong scaling of bands against blocks. */
export async function runScaling(context: CommandContext, options: ScalingOptions): Promise<void> {
  const { terminal } = context
  const { schedule, verify, warmup, samples, iterations, residualEvery } = options
  terminal.progress.start('Opening the devices')
  const devices = await devicesOf(options, softwareScalingDevices)
  const document = await withGroup({ ...options, devices }, async (group) => {
    const side = group.software ? sides.software : sides.hardware
    const shape = { rows: options.rows ?? side, columns: options.cols ?? side }
    terminal.progress.start('Measuring', 2 * group.devices.length - 1, 'measurements')
    const figures = await scaleJacobi(group, {
      ...shape,
      iterations,
      residualEvery,
      schedule,
      verify,
      samples,
      signal: terminal.signal,
      warmup,
      onFigure: () => terminal.progress.step(1),
    })
    const adapter = [...new Set(group.devices.map(({ info }) => info.name))].join(' + ')
    return {
      algorithm: 'jacobi',
      study: 'scaling',
      backend: group.backend,
      adapter,
      software: group.software,
      shape,
      iterations,
      figures,
    }
  })
  beginHandover(terminal)
  if (verify && !document.figures.every(({ verified }) => verified)) context.exit = exitCode.wrongAnswer
  terminal.out(options.json ? formatJson('jacobiScaling', document) : asText(document, verify))
}

/** Whether a footnote explains the blocks of a row. */
const isMarked = ({ devices, overlapsRows }: ScalingFigure) => devices > 1 && !overlapsRows

function asText(
  {
    shape,
    iterations,
    adapter,
    backend,
    figures,
  }: {
    readonly shape: { readonly rows: number; readonly columns: number }
    readonly iterations: number
    readonly adapter: string
    readonly backend: string
    readonly figures: readonly ScalingFigure[]
  },
  verify: boolean,
): string {
  const percent = (share: number | undefined) =>
    share === undefined ? undefined : `${formatNumber(share * 100)} %`
  const table = formatTable(
    [
      { title: 'devices', align: 'right' },
      { title: 'split' },
      { title: 'blocks' },
      { title: 'time', align: 'right' },
      { title: 'updates', align: 'right' },
      { title: 'efficiency', align: 'right' },
      { title: 'packing', align: 'right' },
      ...(verify ? [{ title: 'result' }] : []),
    ],
    figures.map((figure) => [
      String(figure.devices),
      figure.decomposition,
      `${figure.grid.join(' × ')}${isMarked(figure) ? ' *' : ''}`,
      formatSeconds(figure.seconds),
      `${formatNumber(figure.megaUpdatesPerSecond)} million per second`,
      percent(figure.efficiency),
      percent(figure.packShare),
      ...(verify ? [figure.verified ? 'verified' : 'WRONG'] : []),
    ]),
  )
  const mark = figures.some(isMarked)
    ? '* with neighbours only at the sides, no rows are sent while columns are packed.\n'
    : ''
  return `Jacobi of ${shape.rows} × ${shape.columns} cells, ${iterations} sweeps: ${adapter} (${backend})

${table}

efficiency: the time of one device divided by (number of devices × time). packing: the share of packing and unpacking in the time of all kernels.
${mark}`
}
