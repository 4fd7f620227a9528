import { type ScanOperation, type ScanReport, scan } from '@tandem-gpu/algorithms'
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
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import type { ReportLine } from '../report-text.ts'

interface ScanCommandOptions extends VectorOptions {
  readonly operation: ScanOperation
  readonly exclusive?: boolean
  readonly output?: string
}

const usual = { elements: 4_194_304, type: 'f32' } as const

export const command: CommandModule = {
  name: 'scan',
  description: 'running sums, minima or maxima of a vector spread over the devices',
  examples: [
    'tandem scan --input a.npy --output sums.npy',
    'tandem scan --elements 64Mi --type f32 --operation max --exclusive',
  ],
  documents: { scan: '--elements 9 --devices 2' },
  define(command, context) {
    addVectorOptions(command, usual)
      .addOption(
        new Option('--operation <name>', 'operation to compute')
          .choices(['sum', 'min', 'max'])
          .default('sum'),
      )
      .option('--exclusive', 'leave each element out of its own result')
      .option('--input <file>', 'scan this .npy array of one dimension instead')
      .option('--output <file>', 'write the result as .npy')
    addAlgorithmOptions(command)
    refuseIdleOptions(command, fileRules('length', ['elements']))
    command.action((options: ScanCommandOptions) =>
      runAlgorithm(context, options, {
        async prepare(files) {
          const input = await files.input(options.input, acceptedTypes(options.type))
          input?.vectorLength()
          return { input, output: await files.output(options.output, 'npy') }
        },
        async compute(group, settings, { input, output }) {
          const vector = vectorOf(options, input, usual)
          return scan(group, {
            ...settings,
            ...vector,
            operation: options.operation,
            exclusive: options.exclusive,
            output: await npySink(output, vector.type, [vector.elements], context.terminal.progress),
          })
        },
        describe: describeScan,
      }),
    )
  },
  works: {
    scan: benchWork('scan', vectorLengths, (group, settings, elements) =>
      scan(group, { ...settings, elements, type: 'f32' }),
    ),
  },
}

function describeScan(report: ScanReport): readonly ReportLine[] {
  return [
    ['type', report.type],
    ['operation', `${report.operation}, ${report.exclusive ? 'exclusive' : 'inclusive'}`],
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
