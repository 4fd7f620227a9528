import {
  type ReductionKernelName,
  type ReductionReport,
  reduce,
  reductionKernelNames,
} from '@tandem-gpu/algorithms'
import { Option } from 'commander'
import {
  acceptedTypes,
  addAlgorithmOptions,
  addVectorOptions,
  type VectorOptions,
  vectorOf,
} from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { benchWork } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import type { ReportLine } from '../report-text.ts'

interface ReduceCommandOptions extends VectorOptions {
  readonly kernel: ReductionKernelName
  readonly operation: 'sum' | 'min' | 'max'
  readonly timeUploads?: boolean
}

const usual = { elements: 4_194_304, type: 'i32' } as const

export const command: CommandModule = {
  name: 'reduce',
  description: 'sum, minimum or maximum of a vector spread over the devices',
  examples: ['tandem reduce --input a.npy --operation max', 'tandem reduce --elements 64Mi --type f32'],
  documents: { reduce: '--elements 5' },
  define(command, context) {
    addVectorOptions(command, usual)
      .addOption(
        new Option('--kernel <name>', 'kernel to use, from the slowest of the series to the best')
          .choices(reductionKernelNames)
          .default('best'),
      )
      .addOption(
        new Option('--operation <name>', 'operation to compute')
          .choices(['sum', 'min', 'max'])
          .default('sum'),
      )
      .option('--input <file>', 'reduce all elements of this .npy array instead')
      .option('--time-uploads', 'start in host memory and include the transfer to the devices in the time')
    addAlgorithmOptions(command)
    refuseIdleOptions(command, fileRules('length', ['elements']))
    command.action((options: ReduceCommandOptions) =>
      runAlgorithm(context, options, {
        prepare: (files) => files.input(options.input, acceptedTypes(options.type)),
        compute: (group, settings, input) =>
          reduce(group, {
            ...settings,
            // An array of several dimensions is reduced in the order of the file.
            ...vectorOf(options, input, usual),
            kernel: options.kernel,
            operation: options.operation,
            timeUploads: options.timeUploads,
          }),
        describe: describeReduction,
      }),
    )
  },
  works: {
    reduce: benchWork(
      'sum',
      {
        small: [2 ** 16, 2 ** 18, 2 ** 20],
        medium: [2 ** 22, 2 ** 24, 2 ** 26],
        large: [2 ** 22, 2 ** 28, 2 ** 29, 2 ** 31],
      },
      (group, settings, elements) => reduce(group, { ...settings, elements, type: 'f32' }),
    ),
    ladder: benchWork(
      'sum-i32',
      { small: ladder(2 ** 14), medium: ladder(2 ** 22), large: ladder(2 ** 22) },
      (group, settings, size) => reduce(group, { ...settings, ...size, type: 'i32' }),
      ({ kernel }) => kernel,
    ),
  },
}

function ladder(elements: number) {
  return reductionKernelNames.map((kernel) => ({ elements, kernel }))
}

function describeReduction(report: ReductionReport): readonly ReportLine[] {
  return [
    ['type', report.type],
    ['kernel', report.kernel],
    [report.operation, `${report.value} (bits ${report.valueBits})`],
    ['slices', `${report.slices.join(' + ')} elements${report.uploads ? ', uploaded in every run' : ''}`],
  ]
}
