import { type SortReport, sort } from '@tandem-gpu/algorithms'
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

interface SortCommandOptions extends AlgorithmOptions {
  readonly elements?: number
  readonly type?: NpyElementType
  readonly descending?: boolean
  readonly input?: string
  readonly output?: string
  readonly values?: string
  readonly valuesOutput?: string
  readonly indices?: string
}

export function sortCommand(context: CommandContext): Command {
  const command = new Command('sort')
    .description('sort a vector, stably, with values that move with it or its indices')
    .option('--elements <n>', 'length of the generated vector (default 1048576)', wholeNumber(0))
    .addOption(new Option('--type <type>', 'element type (default f32, or the file’s)').choices(elementTypes))
    .option('--descending', 'put the largest first, and NaN before everything')
    .option('--input <file>', 'sort this .npy array of one dimension instead')
    .option('--output <file>', 'write the sorted elements as .npy')
    .option(
      '--values <file>',
      'reorder the elements of this .npy array of the same length along with the keys',
    )
    .option('--values-output <file>', 'write the moved values as .npy')
    .addOption(
      new Option('--indices <file>', 'write the indices of the sorted elements as .npy').conflicts([
        'values',
        'valuesOutput',
      ]),
    )
  addAlgorithmOptions(command)
  return command.action(async (options: SortCommandOptions) => {
    if (options.input !== undefined && options.elements !== undefined)
      throw new UsageError('--elements cannot be used with --input: the file determines the length.')
    if (options.valuesOutput !== undefined && options.values === undefined)
      throw new UsageError('--values-output writes the values of --values, but there is no --values.')
    const { progress } = context.terminal
    let [input, values]: (InputFile | undefined)[] = []
    let [output, valuesOutput, indices]: (OutputFile | undefined)[] = []
    await runAlgorithm<SortReport>(context, options, {
      async prepare(files) {
        const cast = options.cast ?? false
        if (options.input !== undefined) {
          const accepted = options.type === undefined ? elementTypes : [options.type]
          input = await openInput(files, options.input, { accepted, cast }, progress)
          input.vectorLength()
        }
        if (options.values !== undefined) {
          values = await openInput(files, options.values, { accepted: elementTypes, cast }, progress)
          const wanted = input?.length ?? options.elements ?? defaultElements
          if (values.vectorLength() !== wanted)
            throw new UsageError(
              `${options.values} has ${values.length} values for ${wanted} elements; it needs the same number.`,
              'bad-input',
            )
        }
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
        if (options.valuesOutput !== undefined) valuesOutput = await files.output(options.valuesOutput, 'npy')
        if (options.indices !== undefined) indices = await files.output(options.indices, 'npy')
      },
      async compute(group, settings) {
        const elements = input?.length ?? options.elements ?? defaultElements
        const type = input?.type ?? options.type ?? 'f32'
        return sort<NpyElementType, NpyElementType>(group, {
          ...settings,
          ...{ elements, type, descending: options.descending ?? false },
          ...(input && { input: input.fileOrder() }),
          ...(output && { output: await npySink(output, type, [elements], progress) }),
          ...(values && { values: values.fileOrder(), valueType: values.type }),
          ...(valuesOutput && {
            valuesOutput: await npySink(valuesOutput, values!.type, [elements], progress),
          }),
          ...(indices && { indices: await npySink(indices, 'u32', [elements], progress) }),
        })
      },
      describe: describeSort,
    })
  })
}

const defaultElements = 1_048_576

function describeSort(report: SortReport): readonly ReportLine[] {
  const { values } = report
  return [
    ['type', report.type],
    ['order', report.descending ? 'descending' : 'ascending'],
    ...(values === undefined ? [] : [['values', values] as const]),
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
