import {
  type ReductionKernelName,
  type ReductionReport,
  reduce,
  reductionKernelNames,
} from '@tandem-gpu/algorithms'
import { Command, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { type InputFile, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { wholeNumber } from '../group-options.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { ReportLine } from '../report-text.ts'

interface ReduceCommandOptions extends AlgorithmOptions {
  readonly elements?: number
  readonly type?: NpyElementType
  readonly kernel: ReductionKernelName
  readonly operation: 'sum' | 'min' | 'max'
  readonly input?: string
  readonly timeUploads?: boolean
}

export function reduceCommand(context: CommandContext): Command {
  const command = new Command('reduce')
    .description('sum, minimum or maximum of a vector spread over the devices')
    .option('--elements <n>', 'length of the generated vector (default 4194304)', wholeNumber(0))
    .addOption(new Option('--type <type>', 'element type (default i32, or the file’s)').choices(elementTypes))
    .addOption(
      new Option('--kernel <name>', 'kernel to use, from the slowest of the series to the best')
        .choices(reductionKernelNames)
        .default('best'),
    )
    .addOption(
      new Option('--operation <name>', 'operation to compute').choices(['sum', 'min', 'max']).default('sum'),
    )
    .option('--input <file>', 'reduce all elements of this .npy array instead')
    .option('--time-uploads', 'start in host memory and include the transfer to the devices in the time')
  addAlgorithmOptions(command)
  return command.action(async (options: ReduceCommandOptions) => {
    if (options.input !== undefined && options.elements !== undefined) {
      throw new UsageError('--elements cannot be used with --input: the file determines the length.')
    }
    let input: InputFile | undefined
    await runAlgorithm<ReductionReport>(context, options, {
      async prepare(files) {
        if (options.input === undefined) return
        const accepted = options.type === undefined ? elementTypes : [options.type]
        input = await openInput(
          files,
          options.input,
          { accepted, cast: options.cast ?? false },
          context.terminal.progress,
        )
      },
      compute(group, settings) {
        return reduce(group, {
          ...settings,
          elements: input?.length ?? options.elements ?? 4_194_304,
          type: input?.type ?? options.type ?? 'i32',
          kernel: options.kernel,
          operation: options.operation,
          timeUploads: options.timeUploads ?? false,
          // An array of several dimensions is reduced in the order of the file.
          ...(input === undefined ? {} : { input: input.fileOrder() }),
        })
      },
      describe: describeReduction,
    })
  })
}

function describeReduction(report: ReductionReport): readonly ReportLine[] {
  return [
    ['type', report.type],
    ['kernel', report.kernel],
    [report.operation, `${report.value} (bits ${report.valueBits})`],
    ['slices', `${report.slices.join(' + ')} elements${report.uploads ? ', uploaded in every run' : ''}`],
  ]
}
