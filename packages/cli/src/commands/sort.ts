import { type SortReport, sort } from '@tandem-gpu/algorithms'
import { Option } from 'commander'
import {
  acceptedTypes,
  addAlgorithmOptions,
  addVectorOptions,
  type VectorOptions,
  vectorOf,
} from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { npySink } from '../array-files.ts'
import { benchWork, vectorLengths } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { ReportLine } from '../report-text.ts'

interface SortCommandOptions extends VectorOptions {
  readonly descending?: boolean
  readonly output?: string
  readonly values?: string
  readonly valuesOutput?: string
  readonly indices?: string
}

const usual = { elements: 1_048_576, type: 'f32' } as const

export const command: CommandModule = {
  name: 'sort',
  description: 'sort a vector, stably, with values that move with it or its indices',
  examples: [
    'tandem sort --input a.npy --output sorted.npy --indices order.npy',
    'tandem sort --input keys.npy --values values.npy --values-output moved.npy --descending',
  ],
  documents: { sort: '--elements 9 --devices 1' },
  define(command, context) {
    addVectorOptions(command, usual)
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
    refuseIdleOptions(command, [
      ...fileRules('length', ['elements']),
      {
        option: 'valuesOutput',
        when: ({ values }) => values === undefined,
        because: '--values-output writes the values of --values, but there is no --values.',
      },
    ])
    command.action((options: SortCommandOptions) =>
      runAlgorithm(context, options, {
        async prepare(files) {
          const input = await files.input(options.input, acceptedTypes(options.type))
          input?.vectorLength()
          const vector = vectorOf(options, input, usual)
          const values = await files.input(options.values, elementTypes)
          if (values !== undefined && values.vectorLength() !== vector.elements)
            throw new UsageError(
              `${values.name} has ${values.length} values for ${vector.elements} elements; it needs the same number.`,
              'bad-input',
            )
          return {
            vector,
            values,
            output: await files.output(options.output, 'npy'),
            valuesOutput: await files.output(options.valuesOutput, 'npy'),
            indices: await files.output(options.indices, 'npy'),
          }
        },
        async compute(group, settings, { vector, values, output, valuesOutput, indices }) {
          const { elements, type } = vector
          return sort<NpyElementType, NpyElementType>(group, {
            ...settings,
            ...vector,
            descending: options.descending,
            output: await npySink(output, type, [elements], context.terminal.progress),
            ...(values && {
              values: values.fileOrder(),
              valueType: values.type,
              valuesOutput: await npySink(valuesOutput, values.type, [elements], context.terminal.progress),
            }),
            indices: await npySink(indices, 'u32', [elements], context.terminal.progress),
          })
        },
        describe: describeSort,
      }),
    )
  },
  works: {
    sort: (set) => [
      ...benchWork('sort', vectorLengths, (group, settings, elements) =>
        sort(group, { ...settings, elements, type: 'u32' }),
      )(set),
      // The indices move with the elements, as any values of 32 bits would.
      ...benchWork('sort-pairs', vectorLengths, (group, settings, elements) =>
        sort(group, { ...settings, elements, type: 'u32', indices: () => {} }),
      )(set),
    ],
  },
}

function describeSort(report: SortReport): readonly ReportLine[] {
  const { values } = report
  return [
    ['type', report.type],
    ['order', report.descending ? 'descending' : 'ascending'],
    ...(values === undefined ? [] : [['values', values] as const]),
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
