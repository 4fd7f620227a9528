import {
  type FftDirection,
  type FftNorm,
  type FftOrder,
  type FftPlanOptions,
  type FftReport,
  fft,
  fftShapes,
} from '@tandem-gpu/algorithms'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { bothSinks, type InputFile, npySink, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import type { OutputFile } from '../output-file.ts'
import { printable } from '../printable.ts'
import { parseCount } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import { SpectrumPicture } from '../spectrum-picture.ts'

interface FftCommandOptions extends AlgorithmOptions {
  readonly shape?: readonly number[]
  readonly axes?: readonly number[]
  readonly inverse?: boolean
  readonly real?: boolean
  readonly norm: FftNorm
  readonly order: FftOrder
  /** The length of the real axis, where it is odd. */
  readonly odd?: boolean
  readonly input?: string
  readonly output?: string
  readonly image?: string
}

export function fftCommand(context: CommandContext): Command {
  const command = new Command('fft')
    .description('Fourier transform of an array spread over the devices, along any of its axes')
    .option(
      '--shape <n x n…>',
      'shape of the generated array, such as 4096 or 512x512x512 (default 512x512); with --real, the shape of the real array',
      shapeOf,
    )
    .option('--axes <list>', 'axes to transform, such as 0,2 or -1 (default: all)', axesOf)
    .option('--inverse', 'transform back')
    .option(
      '--real',
      'transform real numbers to the first half of their spectrum; with --inverse, back to real numbers',
    )
    .option('--odd', 'with --real --inverse: the last axis of --axes has an odd length in the result')
    .addOption(
      new Option(
        '--norm <name>',
        'where the result is scaled: by 1/n going back (backward), by 1/n going forward (forward), or by 1/√n both ways (ortho)',
      )
        .choices(['backward', 'ortho', 'forward'])
        .default('backward'),
    )
    .addOption(
      new Option(
        '--order <name>',
        'transposed: exchange the first two axes of the result, which saves the devices an exchange of data',
      )
        .choices(['natural', 'transposed'])
        .default('natural'),
    )
    .option('--input <file>', 'transform this .npy array instead: complex64, or float32 with --real')
    .option('--output <file>', 'write the result as .npy: complex64, or float32 with --real --inverse')
    .option(
      '--image <file>',
      'draw the magnitudes of the result: for one axis as .svg, for two axes their logarithm as .png',
    )
  addAlgorithmOptions(command)
  return command.action(async (options: FftCommandOptions) => {
    if (options.input !== undefined && options.shape !== undefined)
      throw new UsageError('--shape cannot be used with --input: the file determines the shape.')
    const { real = false, axes, norm, order } = options
    const direction: FftDirection = options.inverse ? 'inverse' : 'forward'
    const { progress } = context.terminal
    if (options.odd && !(real && options.inverse && options.input !== undefined))
      throw new UsageError(
        '--odd is only for --real --inverse of a file, whose shape does not tell the length of the result.',
      )
    let input: InputFile<'f32'> | undefined
    let transform: Omit<FftPlanOptions, 'limits'>
    let output: OutputFile | undefined
    let image: OutputFile | undefined
    await runAlgorithm<FftReport>(context, options, {
      async prepare(files) {
        if (options.input !== undefined) {
          const complex = !(real && direction === 'forward')
          const cast = options.cast ?? false
          const accepted = complex ? [] : (['f32'] as const)
          input = await openInput(files, options.input, { accepted, complex, cast }, progress)
          input.requireOrder()
        }
        const shape =
          input === undefined ? (options.shape ?? [512, 512]) : realShape(input.shape, options, direction)
        transform = { shape, axes, real, direction, norm, order }
        if (options.image !== undefined) requireImage(options.image, fftShapes(transform).outputShape)
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
        if (options.image !== undefined) image = await files.output(options.image)
      },
      async compute(group, settings) {
        const { outputShape, realOutput } = fftShapes(transform)
        const picture = image && new SpectrumPicture(outputShape, !realOutput)
        const file = output && (await npySink(output, realOutput ? 'f32' : 'c64', outputShape, progress))
        const report = await fft(group, {
          ...settings,
          ...transform,
          ...(input === undefined ? {} : { input: input.fileOrder() }),
          ...(picture === undefined && file === undefined ? {} : { output: bothSinks(picture, file) }),
        })
        if (picture !== undefined) await image?.write(picture.encode())
        return report
      },
      describe: describeFft,
    })
  })
}

/** The shape of the array on the real side, of which a file may hold half of the spectrum. */
function realShape(
  shape: readonly number[],
  { real, axes, odd }: FftCommandOptions,
  direction: FftDirection,
): readonly number[] {
  if (!real || direction === 'forward') return shape
  const axis = axes?.at(-1) ?? -1
  const half = shape.at(axis)
  if (half === undefined || half === 0) return shape
  return shape.with(axis, odd || half === 1 ? 2 * half - 1 : 2 * half - 2)
}

/** A picture has as many axes as the result: bars for one, pixels for two. */
function requireImage(path: string, { length: axes }: readonly number[]): void {
  if (axes > 2) throw new UsageError(`--image draws results with one or two axes, not with ${axes}.`)
  const ending = axes === 1 ? '.svg' : '.png'
  if (!path.toLowerCase().endsWith(ending))
    throw new UsageError(
      `--image draws a result of ${axes === 1 ? 'one axis' : 'two axes'} as ${ending}, but ${printable(path)} has another ending.`,
    )
}

function describeFft(report: FftReport): readonly ReportLine[] {
  const { inputShape, outputShape, direction, real, order, norm, passes } = report
  const side = (shape: readonly number[], isReal: boolean) =>
    `${shape.join(' × ')} ${isReal ? 'real' : 'complex'}`
  return [
    [
      'transform',
      `${direction}, ${side(inputShape, real && direction === 'forward')} to ${side(outputShape, real && direction === 'inverse')}, norm ${norm}, order ${order}`,
    ],
    ...passes.map(({ axis, method }): ReportLine => [`axis ${axis}`, method]),
  ]
}

function shapeOf(text: string): readonly number[] {
  const shape = text.split('x').map(parseCount)
  if (shape.some((length) => length === undefined))
    throw new InvalidArgumentError('It must be the lengths of the axes, such as 4096 or 512x512x512.')
  return shape as number[]
}

function axesOf(text: string): readonly number[] {
  const axes = text.split(',').map((axis) => (/^-?\d{1,9}$/.test(axis.trim()) ? Number(axis) : undefined))
  if (axes.some((axis) => axis === undefined))
    throw new InvalidArgumentError('It must be whole numbers, such as 0,2 or -1.')
  return axes as number[]
}
