import {
  type Decomposition,
  type HaloTransport,
  type JacobiReport,
  jacobi,
  type MeasureProgress,
} from '@tandem-gpu/algorithms'
import { Option } from 'commander'
import { type AlgorithmCommandOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm, showRuns } from '../algorithm-run.ts'
import { bothSinks, type InputFile, npySink } from '../array-files.ts'
import { benchWork } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { finiteNumber, wholeNumber } from '../group-options.ts'
import { fileRules, refuseIdleOptions, singleRunRules } from '../idle-options.ts'
import { runScaling } from '../jacobi-scaling.ts'
import { bordersOf, FieldPicture } from '../picture.ts'
import { formatNumber } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import type { Terminal } from '../terminal.ts'

interface JacobiCommandOptions extends AlgorithmCommandOptions {
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

export const command: CommandModule = {
  name: 'jacobi',
  description: 'solve Poisson’s equation on a grid by Jacobi’s iteration',
  examples: [
    'tandem jacobi --rows 257 --cols 129 --iterations 1e4 --image solution.png',
    'tandem jacobi --input grid.npy --tolerance 1e-6 --output solution.npy',
  ],
  documents: {
    jacobi: '--rows 5 --cols 6 --iterations 4 --tolerance 1 --residual-every 2 --devices 2',
    jacobiScaling: '--scaling --rows 9 --cols 10 --iterations 2 --devices 2',
  },
  define(command, context) {
    command
      .option('--rows <n>', 'rows of the grid, including its fixed outer ring (default 257)', wholeNumber(0))
      .option(
        '--cols <n>',
        'columns of the grid, including its fixed outer ring (default 257)',
        wholeNumber(0),
      )
      .option(
        '--input <file>',
        'start from this .npy grid: its outer ring is the fixed boundary, its inner cells are the first guess',
      )
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
      .option(
        '--tolerance <change>',
        'stop when no cell changes by more than this in one sweep',
        finiteNumber,
      )
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
          .default('auto'),
      )
      .option(
        '--scaling',
        'compare the times of bands and blocks on 1, 2, 3, … devices (default grid 10000 × 10000, or 512 × 512 on a software GPU)',
      )
      .option('--output <file>', 'write the solution as .npy')
      .option(
        '--image <file>',
        'draw the solution as .png, with a colour bar and the borders of the devices’ blocks',
      )
    addAlgorithmOptions(command, { seed: false })
    refuseIdleOptions(command, [
      ...fileRules('shape', ['rows', 'cols']),
      {
        option: 'startIteration',
        when: ({ input }) => input === undefined,
        because: '--start-iteration counts the sweeps of an --input grid, but there is no --input.',
      },
      ...singleRunRules('scaling', [
        'input',
        'source',
        'output',
        'image',
        'trace',
        'plan',
        'tolerance',
        'decomposition',
        'transport',
        'compareSchedules',
        'verbose',
      ]),
    ])
    command.action((options: JacobiCommandOptions) => {
      if (options.scaling) return runScaling(context, options)
      return runAlgorithm(context, options, {
        async prepare(files) {
          const input = await files.input(options.input, accepted)
          const source = await files.input(options.source, accepted)
          return {
            input,
            source,
            shape: gridShape(options, input, source),
            output: await files.output(options.output, 'npy'),
            image: await files.output(options.image, 'png'),
          }
        },
        async compute(group, settings, { input, source, shape, output, image }) {
          const [rows, columns] = shape
          const picture = image && new FieldPicture(rows, columns)
          const file = await npySink(output, 'f32', shape, context.terminal.progress)
          const { iterations, startIteration, tolerance, residualEvery, decomposition, transport } = options
          const report = await jacobi(group, {
            ...settings,
            iterations,
            startIteration,
            tolerance,
            residualEvery,
            decomposition,
            transport,
            rows,
            columns,
            input: input?.rowMajor(),
            source: source?.rowMajor(),
            output: bothSinks(picture, file),
            ...showSweeps(options, context.terminal),
          })
          if (picture !== undefined) await image?.write(picture.encode(bordersOf(report)))
          return report
        },
        describe: (report) => describeJacobi(report, options.tolerance),
      })
    })
  },
  works: {
    jacobi: benchWork(
      'jacobi',
      {
        small: sweeps([65, 129], 100),
        medium: sweeps([1024, 2048], 1000),
        large: sweeps([2048, 4096, 8192, 16384], 1000),
      },
      // One run consists of many sweeps, so few samples are enough.
      (group, settings, size) =>
        jacobi(group, { ...settings, ...size, samples: Math.min(settings.samples, 3) }),
    ),
  },
}

function sweeps(sides: readonly number[], iterations: number) {
  return sides.map((side) => ({ rows: side, columns: side, iterations }))
}

function gridShape(
  options: JacobiCommandOptions,
  input: InputFile<'f32'> | undefined,
  source: InputFile<'f32'> | undefined,
) {
  const shape = input?.matrixShape() ?? ([options.rows ?? 257, options.cols ?? 257] as const)
  const sourceShape = source?.matrixShape() ?? shape
  if (source && (sourceShape[0] !== shape[0] || sourceShape[1] !== shape[1]))
    throw new UsageError(
      `${source.name} is ${sourceShape.join(' × ')}, but the grid is ${shape.join(' × ')}.`,
      'bad-input',
    )
  return shape
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
