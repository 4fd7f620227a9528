import {
  type HalfMatmulReport,
  type MatmulPrecision,
  type MatmulReport,
  matmul,
} from '@tandem-gpu/algorithms'
import { counted } from '@tandem-gpu/core'
import { Option } from 'commander'
import { type AlgorithmCommandOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { type InputFile, npySink } from '../array-files.ts'
import { benchWork } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { byteCount, wholeNumber } from '../group-options.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { OutputFile } from '../output-file.ts'
import { addProductShapeOptions, type ProductShapeOptions, productShape } from '../product-shape.ts'
import { formatBytes } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import { addTuneOption, type TuneOption, tuningOptions } from '../tune-option.ts'

interface MatmulCommandOptions extends AlgorithmCommandOptions, TuneOption, ProductShapeOptions {
  readonly type?: MatrixElementType
  readonly resultType?: 'f16' | 'f32'
  readonly output?: string
  readonly streamWidth?: number
  readonly memoryLimit?: number
  readonly mode?: 'resident' | 'streamed'
  readonly precision?: MatmulPrecision
  readonly measureModel?: boolean
}

type MatrixElementType = NpyElementType | 'f16'
const types: readonly MatrixElementType[] = [...elementTypes, 'f16']

interface MatmulFiles {
  readonly a: InputFile<MatrixElementType> | undefined
  readonly b: InputFile<MatrixElementType> | undefined
  readonly type: MatrixElementType
  readonly shape: { readonly m: number; readonly n: number; readonly k: number }
  readonly output: OutputFile | undefined
}

export const command: CommandModule = {
  name: 'matmul',
  description: 'multiply an m × k matrix by a k × n matrix, in the devices’ memory or streamed through it',
  examples: [
    'tandem matmul --a a.npy --b b.npy --output c.npy',
    'tandem matmul --n 8192 --memory-limit 2GiB',
  ],
  documents: { matmul: '--m 8 --n 8 --k 8 --mode streamed --devices 2 --no-tune' },
  define(command, context) {
    addProductShapeOptions(command)
      .addOption(new Option('--type <type>', 'element type (default f32, or the files’)').choices(types))
      .addOption(
        new Option(
          '--result-type <type>',
          'element type of a product of f16 matrices: f32 keeps the sums, and f16 rounds them (default f16)',
        ).choices(['f16', 'f32']),
      )
      .option('--output <file>', 'write the product as .npy')
      .addOption(
        new Option(
          '--mode <mode>',
          'resident: the matrices stay on the devices; streamed: they pass through',
        ).choices(['resident', 'streamed']),
      )
      .addOption(
        new Option(
          '--precision <precision>',
          'ieee: sums of f32; split: products of f16 parts on tensor cores; auto: by size and device (default ieee)',
        ).choices(['ieee', 'split', 'auto']),
      )
      .option('--stream-width <columns>', 'columns of B in one panel of the stream', wholeNumber(1))
      .option(
        '--memory-limit <bytes>',
        'device memory that the product may use on each device, such as 150000 or 2GiB',
        byteCount,
      )
      .option('--measure-model', 'measure the devices first, to predict the fastest number of devices')
    addTuneOption(addAlgorithmOptions(command))
    command.action((options: MatmulCommandOptions) =>
      runAlgorithm<MatmulReport | HalfMatmulReport, MatmulFiles>(context, options, {
        async prepare(files) {
          const accepted = options.type === undefined ? types : [options.type]
          const a = await files.input(options.a, accepted)
          const b = await files.input(options.b, a ? [a.type] : accepted)
          const type = a?.type ?? b?.type ?? options.type ?? 'f32'
          refuseOptionsOf(type, options)
          const shape = productShape(options, a, b)
          return { a, b, type, shape, output: await files.output(options.output, 'npy') }
        },
        async compute(group, settings, { a, b, type, shape, output }) {
          const { resultType = 'f16' } = options
          const written = type === 'f16' ? resultType : type
          const common = {
            ...settings,
            ...shape,
            // Without --devices, the prediction may choose fewer devices than there are.
            devices: options.devices ?? ('auto' as const),
            model: options.measureModel ? ('measure' as const) : undefined,
            a: a?.rowMajor(),
            b: b?.rowMajor(),
            output: await npySink(output, written, [shape.m, shape.n], context.terminal.progress),
          }
          if (type === 'f16') return matmul(group, { ...common, type, resultType })
          const { mode, precision, streamWidth, memoryLimit: memoryLimitBytes } = options
          return matmul(group, {
            ...common,
            ...tuningOptions(options),
            type,
            mode,
            precision,
            streamWidth,
            memoryLimitBytes,
          })
        },
        describe: describeMatmul,
      }),
    )
  },
  works: {
    matmul: benchWork(
      'gemm',
      {
        small: [64, 128, 256].map(cube),
        medium: [1024, 2048, 4096].map(cube),
        large: [
          ...[1024, 2048, 4096, 8192, 16384].map(cube),
          ...[64, 128, 256, 512].flatMap((narrow) => [
            { m: narrow, n: 8192, k: 8192 },
            { m: 8192, n: narrow, k: 8192 },
          ]),
        ],
      },
      (group, settings, shape) =>
        matmul(group, { ...settings, ...shape, devices: group.devices.length, mode: 'resident' }),
    ),
    // Matrices that are streamed through the devices from host memory.
    streamed: benchWork(
      'gemm-streamed',
      { small: [128], medium: [2048], large: [8192, 16384, 32768] },
      (group, settings, side) =>
        matmul(group, { ...settings, ...cube(side), devices: group.devices.length, mode: 'streamed' }),
    ),
  },
}

function cube(side: number) {
  return { m: side, n: side, k: side }
}

/** Options that have no effect for a type. The type may be known only after the files have been opened. */
function refuseOptionsOf(type: MatrixElementType, options: MatmulCommandOptions): void {
  if (type !== 'f16') {
    if (options.resultType !== undefined)
      throw new UsageError(`--result-type is for products of f16, but the type is ${type}.`)
    return
  }
  const { precision, streamWidth, memoryLimit, mode } = options
  const stay = 'which stay on the devices'
  if (precision !== undefined)
    throw new UsageError('--precision is for products of f32, but the type is f16.')
  if (streamWidth !== undefined)
    throw new UsageError(`--stream-width cannot be used with matrices of f16, ${stay}.`)
  if (memoryLimit !== undefined)
    throw new UsageError(`--memory-limit cannot be used with matrices of f16, ${stay}.`)
  if (mode === 'streamed')
    throw new UsageError(`--mode streamed cannot be used with matrices of f16, ${stay}.`)
}

function describeMatmul(report: MatmulReport | HalfMatmulReport): readonly ReportLine[] {
  const slices = ['slices', `${report.slices.join(' + ')} rows of A`] as const
  // A prediction that contradicts the choice is already reported as a note.
  const reasons = report.reasons
    .filter((reason) => !report.notes.includes(reason))
    .map((reason): ReportLine => ['reason', reason])
  if (report.type === 'f16')
    return [
      ['type', `f16, result ${report.resultType}`],
      ['kernels', report.body === 'tensor' ? 'tensor cores' : 'products of f32'],
      ['mode', report.mode],
      slices,
      ...reasons,
    ]
  const { stream } = report
  return [
    ['type', report.type],
    ...(report.precision === 'split' ? [['precision', 'split: products of f16 parts'] as const] : []),
    ['mode', stream === undefined ? report.mode : describeStream(stream)],
    slices,
    ...reasons,
  ]
}

function describeStream(stream: NonNullable<MatmulReport['stream']>): string {
  const { panels, width, rounds, rowBlock, byteLength } = stream
  return `streamed in ${counted(panels, 'panel')} of ${width} columns, ${counted(rounds, 'round')} of ${rowBlock} rows, ${formatBytes(byteLength)} per device`
}
