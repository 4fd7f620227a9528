import {
  type Decomposition,
  type HaloTransport,
  type JacobiReport,
  jacobi,
  type MeasureProgress,
} from '@tandem-gpu/algorithms'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm, showRuns } from '../algorithm-run.ts'
import { bothSinks, type InputFile, npySink, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { finiteNumber, wholeNumber } from '../group-options.ts'
import { refuseIdleOptions, singleRunRules } from '../idle-options.ts'
import { runScaling } from '../jacobi-scaling.ts'
import type { OutputFile } from '../output-file.ts'
import { bordersOf, FieldPicture } from '../picture.ts'
import { printable } from '../printable.ts'
import { formatNumber } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import type { Terminal } from '../terminal.ts'

interface JacobiCommandOptions extends AlgorithmOptions {
  readonly rows?: number
  readonly cols?: number
  readonly input?: string
  readonly source?: string
  readonly output?: string
  readonly image?: string
  readonly iterations: number
  readonly startIteration: number
  readonly tolerance?: number
  readonly residualEvery: number
  readonly scaling?: boolean
  readonly decomposition?: Decomposition
  readonly transport: HaloTransport | 'auto'
}

const accepted = ['f32'] as const

export function jacobiCommand(context: CommandContext): Command {
  const command = new Command('jacobi')
    .description('solve Poisson’s equation on a grid by Jacobi’s iteration')
    .option('--rows <n>', 'rows of the grid, including its fixed outer ring (default 257)', wholeNumber(0))
    .option('--cols <n>', 'columns of the grid, including its fixed outer ring (default 257)', wholeNumber(0))
    .option(
      '--input <file>',
      'start from this .npy grid: its outer ring is the fixed boundary, its inner cells are the first guess',
    )
    .addOption(new Option('--boundary <file>', 'the former name of --input').conflicts('input').hideHelp())
    .option(
      '--source <file>',
      'right-hand side f of Δu = -f, times the square of the spacing, as a .npy grid',
    )
    .option('--iterations <n>', 'number of sweeps, or the most with --tolerance', wholeNumber(0), 1000)
    .option(
      '--start-iteration <n>',
      'number of sweeps that were already applied to the --input grid',
      wholeNumber(0),
      0,
    )
    .option('--tolerance <change>', 'stop when no cell changes by more than this in one sweep', finiteNumber)
    .option('--residual-every <n>', 'sweeps between two reads of the residual', wholeNumber(1), 100)
    .addOption(
      new Option(
        '--decomposition <kind>',
        'bands of rows (1d) or blocks (2d) (default: depends on the devices)',
      ).choices(['1d', '2d']),
    )
    .addOption(
      new Option(
        '--transport <way>',
        'how halos are exchanged: copied (copy), or read by the kernels from the neighbour (direct)',
      )
        .choices(['auto', 'copy', 'direct'])
        .argParser(transportNamed)
        .default('auto'),
    )
    .option(
      '--scaling',
      'compare the times of bands and blocks on 1, 2, 3, … devices (default grid 10000 × 10000)',
    )
    .option('--output <file>', 'write the solution as .npy')
    .option(
      '--image <file>',
      'draw the solution as .png, with a colour bar and the borders of the devices’ blocks',
    )
  addAlgorithmOptions(command, { seed: false })
  refuseIdleOptions(command, [
    {
      option: 'startIteration',
      when: ({ input, boundary }) => input === undefined && boundary === undefined,
      because: '--start-iteration counts the sweeps of an --input grid, but there is no --input.',
    },
    ...singleRunRules('scaling', [
      ...['input', 'boundary', 'source', 'output', 'image', 'trace', 'plan'],
      ...['tolerance', 'decomposition', 'transport', 'compareSchedules', 'verbose'],
    ]),
  ])
  return command.action(async ({ boundary, ...given }: JacobiCommandOptions & { boundary?: string }) => {
    const options = boundary === undefined ? given : { ...given, input: boundary }
    if (options.input !== undefined && (options.rows !== undefined || options.cols !== undefined)) {
      throw new UsageError('--rows and --cols cannot be used with --input: the file determines the shape.')
    }
    if (options.scaling) return runScaling(context, options)
    const { progress } = context.terminal
    let input: InputFile<'f32'> | undefined
    let source: InputFile<'f32'> | undefined
    let output: OutputFile | undefined
    let image: OutputFile | undefined
    let shape: readonly [rows: number, columns: number]
    await runAlgorithm<JacobiReport>(context, options, {
      async prepare(files) {
        const read = { accepted, cast: options.cast ?? false }
        if (options.input !== undefined) input = await openInput(files, options.input, read, progress)
        if (options.source !== undefined) source = await openInput(files, options.source, read, progress)
        shape = gridShape(options, input, source)
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
        if (options.image !== undefined) image = await files.output(options.image, 'png')
      },
      async compute(group, settings) {
        const [rows, columns] = shape
        const picture = image && new FieldPicture(rows, columns)
        const file = output && (await npySink(output, 'f32', shape, progress))
        const report = await jacobi(group, {
          ...settings,
          ...iterationOptions(options),
          rows,
          columns,
          ...(input === undefined ? {} : { input: input.rowMajor() }),
          ...(source === undefined ? {} : { source: source.rowMajor() }),
          ...(picture === undefined && file === undefined ? {} : { output: bothSinks(picture, file) }),
          ...showSweeps(options, context.terminal),
        })
        if (picture !== undefined) await image?.write(picture.encode(bordersOf(report)))
        return report
      },
      describe: (report) => describeJacobi(report, options.tolerance),
    })
  })
}

const transports: readonly string[] = ['auto', 'copy', 'direct']

/** `copies` is the former name of `copy`. */
function transportNamed(name: string): HaloTransport | 'auto' {
  const transport = name === 'copies' ? 'copy' : name
  if (!transports.includes(transport))
    throw new InvalidArgumentError(`Allowed choices are ${transports.join(', ')}.`)
  return transport as HaloTransport | 'auto'
}

function gridShape(
  options: JacobiCommandOptions,
  input: InputFile<'f32'> | undefined,
  source: InputFile<'f32'> | undefined,
) {
  const shape = input?.matrixShape() ?? ([options.rows ?? 257, options.cols ?? 257] as const)
  const sourceShape = source?.matrixShape() ?? shape
  if (sourceShape[0] !== shape[0] || sourceShape[1] !== shape[1]) {
    throw new UsageError(
      `${printable(options.source!)} is ${sourceShape.join(' × ')}, but the grid is ${shape.join(' × ')}.`,
      'bad-input',
    )
  }
  return shape
}

function iterationOptions(options: JacobiCommandOptions) {
  const { iterations, startIteration, tolerance, residualEvery, decomposition, transport } = options
  const common = {
    iterations,
    startIteration,
    residualEvery,
    transport,
    ...(decomposition === undefined ? {} : { decomposition }),
  }
  return tolerance === undefined ? common : { ...common, tolerance }
}

/** Counts the sweeps of all runs. */
function showSweeps({ iterations, startIteration, verify }: JacobiCommandOptions, terminal: Terminal) {
  const { progress } = terminal
  let before = 0
  let comparing = false
  const behind = showRuns(terminal, verify)
  return {
    onRun({ done, total }: MeasureProgress) {
      comparing ||= before > 0 && done === 0
      before = done
      if (comparing || done === total) behind({ done, total })
      else if (done === 0) progress.start('Sweeping', total * iterations, 'sweeps')
      else progress.reach(done * iterations)
    },
    onProgress: ({ iteration }: { iteration: number }) =>
      progress.reach(before * iterations + iteration - startIteration),
  }
}

function describeJacobi(report: JacobiReport, tolerance: number | undefined): readonly ReportLine[] {
  const { residual } = report
  return [
    [
      'blocks',
      `${report.grid.join(' × ')} (${report.decomposition}), halos ${report.transport === 'copy' ? 'copied' : 'read from the peer'}`,
    ],
    ['iterations', String(report.iterations)],
    ['residual', residual === undefined ? 'no sweep ran' : formatNumber(residual)],
    ...convergence(report, tolerance),
    ['updates', `${formatNumber(report.megaUpdatesPerSecond)} million per second`],
  ]
}

function convergence({ converged, residual }: JacobiReport, tolerance: number | undefined): ReportLine[] {
  if (converged !== undefined)
    return [['converged', `at iteration ${converged.iteration}, with ${formatNumber(converged.residual)}`]]
  if (tolerance === undefined || residual === undefined) return []
  return [['converged', `no: a cell still changes by ${formatNumber(residual)} per sweep`]]
}
