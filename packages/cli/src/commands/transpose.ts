import { type TileTransport, type TransposeReport, transpose } from '@tandem-gpu/algorithms'
import { counted } from '@tandem-gpu/core'
import { Option } from 'commander'
import {
  type AlgorithmCommandOptions,
  acceptedTypes,
  addAlgorithmOptions,
  typeOption,
} from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { npySink } from '../array-files.ts'
import { benchWork } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { wholeNumber } from '../group-options.ts'
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import type { NpyElementType } from '../npy/element-conversion.ts'
import type { ReportLine } from '../report-text.ts'
import { addTuneOption, type TuneOption, tuningOptions } from '../tune-option.ts'

interface TransposeCommandOptions extends AlgorithmCommandOptions, TuneOption {
  readonly rows?: number
  readonly cols?: number
  readonly type?: NpyElementType
  readonly input?: string
  readonly output?: string
  readonly transport: 'auto' | TileTransport
}

export const command: CommandModule = {
  name: 'transpose',
  description: 'transpose a matrix spread over the devices, tile by tile from peer to peer',
  examples: [
    'tandem transpose --input a.npy --output at.npy',
    'tandem transpose --rows 1e4 --cols 2e4 --devices 4 --compare-schedules',
    'tandem transpose --rows 768 --cols 1024 --devices 4 --plan plan.svg',
  ],
  documents: { transpose: '--rows 5 --cols 3 --devices 2 --compare-schedules' },
  define(command, context) {
    command
      .option('--rows <n>', 'rows of the generated matrix (default 768)', wholeNumber(0))
      .option('--cols <n>', 'columns of the generated matrix (default 1024)', wholeNumber(0))
      .addOption(typeOption())
      .option('--input <file>', 'transpose this .npy matrix instead')
      .option('--output <file>', 'write the transposed matrix as .npy')
      .addOption(
        new Option(
          '--transport <way>',
          'how tiles move: by copies (copy), by kernels that read the sender’s memory (direct), or by kernels that write the memory of all receivers (scatter)',
        )
          .choices(['auto', 'copy', 'direct', 'scatter'])
          .default('auto'),
      )
    addTuneOption(addAlgorithmOptions(command))
    refuseIdleOptions(command, fileRules('shape', ['rows', 'cols']))
    command.action((options: TransposeCommandOptions) =>
      runAlgorithm(context, options, {
        async prepare(files) {
          const input = await files.input(options.input, acceptedTypes(options.type))
          const shape = input?.matrixShape() ?? ([options.rows ?? 768, options.cols ?? 1024] as const)
          return { input, shape, output: await files.output(options.output, 'npy') }
        },
        async compute(group, settings, { input, shape: [rows, columns], output }) {
          const type = input?.type ?? options.type ?? 'f32'
          return transpose(group, {
            ...settings,
            ...tuningOptions(options),
            rows,
            columns,
            type,
            transport: options.transport,
            input: input?.rowMajor(),
            output: await npySink(output, type, [columns, rows], context.terminal.progress),
          })
        },
        describe: describeTranspose,
      }),
    )
  },
  works: {
    transpose: benchWork(
      'transpose',
      { small: [256, 512, 1024], medium: [2048, 4096, 8192], large: [2048, 8192, 16384, 32768] },
      (group, settings, side) => transpose(group, { ...settings, rows: side, columns: side, type: 'f32' }),
    ),
  },
}

function describeTranspose(report: TransposeReport): readonly ReportLine[] {
  const times = ([x, y]: readonly [number, number]) => `${x} × ${y}`
  return [
    ['type', report.type],
    ['slice', `${times(report.slice)} per device`],
    ['tile', `${times(report.tile)} from device to device, in ${counted(report.stages, 'stage')}`],
    ['transport', describeTransports(report)],
    [
      'kernel',
      `tiles of ${times(report.kernelTile)}, workgroups of ${times(report.workgroup)}, grid ${times(report.grid)}`,
    ],
  ]
}

function describeTransports({ transports: { direct, scatter, copy }, choice }: TransposeReport): string {
  const ways = [`${direct} tiles read from the peer`, `${scatter} written to it`, `${copy} copied`]
  return `${ways.join(', ')}${choice === undefined ? '' : ` (choice: ${choice})`}`
}
