import {
  type HalfMatmulReport,
  type MatmulPrecision,
  type MatmulReport,
  matmul,
} from '@tandem-gpu/algorithms'
import { Command, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { type InputFile, npySink, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { byteCount, wholeNumber } from '../group-options.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { OutputFile } from '../output-file.ts'
import { addProductShapeOptions, type ProductShapeOptions, productShape } from '../product-shape.ts'
import { formatBytes } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import { addTuneOption, type TuneOption, tuningOptions } from '../tune-option.ts'

interface MatmulCommandOptions extends AlgorithmOptions, TuneOption, ProductShapeOptions {
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

export function matmulCommand(context: CommandContext): Command {
  const command = new Command('matmul').description(
    'multiply an m × k matrix by a k × n matrix, in the devices’ memory or streamed through it',
  )
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
  return command.action(async (options: MatmulCommandOptions) => {
    const { progress } = context.terminal
    let a: InputFile<MatrixElementType> | undefined
    let b: InputFile<MatrixElementType> | undefined
    let output: OutputFile | undefined
    let shape = { m: 0, n: 0, k: 0 }
    let type: MatrixElementType = 'f32'
    await runAlgorithm<MatmulReport | HalfMatmulReport>(context, options, {
      async prepare(files) {
        const cast = options.cast ?? false
        const accepted = options.type === undefined ? types : [options.type]
        if (options.a !== undefined) a = await openInput(files, options.a, { accepted, cast }, progress)
        if (options.b !== undefined)
          b = await openInput(files, options.b, { accepted: a ? [a.type] : accepted, cast }, progress)
        type = a?.type ?? b?.type ?? options.type ?? 'f32'
        refuseOptionsOf(type, options)
        shape = productShape(options, a, b)
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
      },
      async compute(group, settings) {
        const of = type
        const { m, n } = shape
        const { resultType = 'f16' } = options
        const written = of === 'f16' ? resultType : of
        const common = {
          ...settings,
          ...shape,
          // Without --devices, the prediction may choose fewer devices than there are.
          devices: options.devices ?? ('auto' as const),
          ...(options.measureModel ? { model: 'measure' as const } : {}),
          ...(a === undefined ? {} : { a: a.rowMajor() }),
          ...(b === undefined ? {} : { b: b.rowMajor() }),
          ...(output === undefined ? {} : { output: await npySink(output, written, [m, n], progress) }),
        }
        if (of === 'f16') return matmul(group, { ...common, type: of, resultType })
        return matmul(group, {
          ...common,
          ...tuningOptions(options),
          type: of,
          ...(options.mode === undefined ? {} : { mode: options.mode }),
          ...(options.precision === undefined ? {} : { precision: options.precision }),
          ...(options.streamWidth === undefined ? {} : { streamWidth: options.streamWidth }),
          ...(options.memoryLimit === undefined ? {} : { memoryLimitBytes: options.memoryLimit }),
        })
      },
      describe: describeMatmul,
    })
  })
}

/** Options that do nothing for a type. Which type it is may be known only when the files are open. */
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
  // A prediction that contradicts the choice is already a note.
  const predicted = report.notes.includes(report.prediction.reason)
    ? []
    : [['prediction', report.prediction.reason] as const]
  if (report.type === 'f16')
    return [
      ['type', `f16, result ${report.resultType}`],
      ['kernels', report.body === 'tensor' ? 'tensor cores' : 'products of f32'],
      ['mode', report.mode],
      slices,
      ...predicted,
    ]
  const { stream } = report
  return [
    ['type', report.type],
    ...(report.precision === 'split' ? [['precision', 'split: products of f16 parts'] as const] : []),
    ['mode', stream === undefined ? report.mode : describeStream(stream)],
    slices,
    ...predicted,
  ]
}

function describeStream(stream: NonNullable<MatmulReport['stream']>): string {
  const { panels, width, rounds, rowBlock, byteLength } = stream
  return `streamed in ${panels} panels of ${width} columns, ${rounds} rounds of ${rowBlock} rows, ${formatBytes(byteLength)} per device`
}
