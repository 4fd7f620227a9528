import { type TileTransport, type TransposeReport, transpose } from '@tandem-gpu/algorithms'
import { Command, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { type InputFile, npySink, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { wholeNumber } from '../group-options.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { OutputFile } from '../output-file.ts'
import type { ReportLine } from '../report-text.ts'
import { addTuneOption, type TuneOption, tuningOptions } from '../tune-option.ts'

interface TransposeCommandOptions extends AlgorithmOptions, TuneOption {
  readonly rows?: number
  readonly cols?: number
  readonly type?: NpyElementType
  readonly input?: string
  readonly output?: string
  readonly transport: 'auto' | TileTransport
}

export function transposeCommand(context: CommandContext): Command {
  const command = new Command('transpose')
    .description('transpose a matrix spread over the devices, tile by tile from peer to peer')
    .option('--rows <n>', 'rows of the generated matrix (default 768)', wholeNumber(0))
    .option('--cols <n>', 'columns of the generated matrix (default 1024)', wholeNumber(0))
    .addOption(new Option('--type <type>', 'element type (default f32, or the file’s)').choices(elementTypes))
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
  return command.action(async (options: TransposeCommandOptions) => {
    if (options.input !== undefined && (options.rows !== undefined || options.cols !== undefined)) {
      throw new UsageError('--rows and --cols cannot be used with --input: the file determines the shape.')
    }
    const { progress } = context.terminal
    let input: InputFile | undefined
    let output: OutputFile | undefined
    await runAlgorithm<TransposeReport>(context, options, {
      async prepare(files) {
        if (options.input !== undefined) {
          const accepted = options.type === undefined ? elementTypes : [options.type]
          input = await openInput(files, options.input, { accepted, cast: options.cast ?? false }, progress)
          input.matrixShape()
        }
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
      },
      async compute(group, settings) {
        const [rows, columns] = input?.matrixShape() ?? [options.rows ?? 768, options.cols ?? 1024]
        const type = input?.type ?? options.type ?? 'f32'
        return transpose(group, {
          ...settings,
          ...tuningOptions(options),
          rows,
          columns,
          type,
          transport: options.transport,
          ...(input === undefined ? {} : { input: input.rowMajor() }),
          ...(output === undefined ? {} : { output: await npySink(output, type, [columns, rows], progress) }),
        })
      },
      describe: describeTranspose,
    })
  })
}

function describeTranspose(report: TransposeReport): readonly ReportLine[] {
  const times = ([x, y]: readonly [number, number]) => `${x} × ${y}`
  return [
    ['type', report.type],
    ['slice', `${times(report.slice)} per device`],
    [
      'tile',
      `${times(report.tile)} from device to device, in ${report.stages} ${report.stages === 1 ? 'stage' : 'stages'}`,
    ],
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
