import { type ScanOperation, type ScanReport, scan } from '@tandem-gpu/algorithms'
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

interface ScanCommandOptions extends AlgorithmOptions {
  readonly elements?: number
  readonly type?: NpyElementType
  readonly operation: ScanOperation
  readonly exclusive?: boolean
  readonly input?: string
  readonly output?: string
}

export function scanCommand(context: CommandContext): Command {
  const command = new Command('scan')
    .description('running sums, minima or maxima of a vector spread over the devices')
    .option('--elements <n>', 'length of the generated vector (default 4194304)', wholeNumber(0))
    .addOption(new Option('--type <type>', 'element type (default f32, or the file’s)').choices(elementTypes))
    .addOption(
      new Option('--operation <name>', 'operation to compute').choices(['sum', 'min', 'max']).default('sum'),
    )
    .option('--exclusive', 'leave each element out of its own result')
    .option('--input <file>', 'scan this .npy array of one dimension instead')
    .option('--output <file>', 'write the result as .npy')
  addAlgorithmOptions(command)
  return command.action(async (options: ScanCommandOptions) => {
    if (options.input !== undefined && options.elements !== undefined)
      throw new UsageError('--elements cannot be used with --input: the file determines the length.')
    const { progress } = context.terminal
    let input: InputFile | undefined
    let output: OutputFile | undefined
    await runAlgorithm<ScanReport>(context, options, {
      async prepare(files) {
        if (options.input !== undefined) {
          const accepted = options.type === undefined ? elementTypes : [options.type]
          input = await openInput(files, options.input, { accepted, cast: options.cast ?? false }, progress)
          input.vectorLength()
        }
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
      },
      async compute(group, settings) {
        const elements = input?.length ?? options.elements ?? 4_194_304
        const type = input?.type ?? options.type ?? 'f32'
        return scan(group, {
          ...settings,
          ...{ elements, type, operation: options.operation, exclusive: options.exclusive ?? false },
          ...(input === undefined ? {} : { input: input.fileOrder() }),
          ...(output === undefined ? {} : { output: await npySink(output, type, [elements], progress) }),
        })
      },
      describe: describeScan,
    })
  })
}

function describeScan(report: ScanReport): readonly ReportLine[] {
  return [
    ['type', report.type],
    ['operation', `${report.operation}, ${report.exclusive ? 'exclusive' : 'inclusive'}`],
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
