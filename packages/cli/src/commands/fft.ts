import {
  type FftDirection,
  type FftNorm,
  type FftOrder,
  type FftReport,
  fft,
  fftShapes,
} from '@tandem-gpu/algorithms'
import { InvalidArgumentError, Option } from 'commander'
import { type AlgorithmCommandOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { bothSinks, npySink } from '../array-files.ts'
import { benchWork } from '../bench/case.ts'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import { printable } from '../printable.ts'
import { parseCount } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import { SpectrumPicture } from '../spectrum-picture.ts'

interface FftCommandOptions extends AlgorithmCommandOptions {
  readonly shape?: readonly number[]
  readonly axes?: readonly number[]
  readonly inverse?: boolean
  readonly real?: boolean
  readonly norm: FftNorm
  readonly order: FftOrder
  /** The length of the real axis, if it is odd. */
  readonly odd?: boolean
  readonly input?: string
  readonly output?: string
  readonly image?: string
}

export const command: CommandModule = {
  name: 'fft',
  description: 'Fourier transform of an array spread over the devices, along any of its axes',
  examples: [
    'tandem fft --input a.npy --output spectrum.npy --devices 4',
    'tandem fft --shape 512x512x512 --order transposed',
    'tandem fft --input signals.npy --axes 1 --real --norm ortho --output spectra.npy',
  ],
  documents: { fft: '--shape 4x6 --real --devices 2' },
  define(command, context) {
    command
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
        'draw the magnitudes of the result: for one axis as .svg, for two axes as .png, with colours by their base-10 logarithm',
      )
    addAlgorithmOptions(command)
    refuseIdleOptions(command, [
      ...fileRules('shape', ['shape']),
      {
        option: 'odd',
        when: ({ real, inverse, input }) => !real || !inverse || input === undefined,
        because:
          '--odd is only for --real --inverse of a file, whose shape does not tell the length of the result.',
      },
    ])
    command.action((options: FftCommandOptions) =>
      runAlgorithm(context, options, {
        async prepare(files) {
          const { real = false, axes, norm, order } = options
          const direction: FftDirection = options.inverse ? 'inverse' : 'forward'
          const complex = !(real && direction === 'forward')
          const input = await files.input(options.input, complex ? [] : (['f32'] as const), complex)
          input?.requireOrder()
          const shape =
            input === undefined ? (options.shape ?? [512, 512]) : realShape(input.shape, options, direction)
          const transform = { shape, axes, real, direction, norm, order }
          if (options.image !== undefined) requireImage(options.image, fftShapes(transform).outputShape)
          return {
            input,
            transform,
            output: await files.output(options.output, 'npy'),
            image: await files.output(options.image, 'svg', 'png'),
          }
        },
        async compute(group, settings, { input, transform, output, image }) {
          const { outputShape, realOutput } = fftShapes(transform)
          const picture = image && new SpectrumPicture(outputShape, !realOutput)
          const file = await npySink(
            output,
            realOutput ? 'f32' : 'c64',
            outputShape,
            context.terminal.progress,
          )
          const report = await fft(group, {
            ...settings,
            ...transform,
            input: input?.fileOrder(),
            output: bothSinks(picture, file),
          })
          if (picture !== undefined) await image?.write(picture.encode())
          return report
        },
        describe: describeFft,
      }),
    )
  },
  works: {
    fft: benchWork(
      'fft',
      {
        small: [...lines(2 ** 14, [64, 1000]), [128, 128], [16, 32, 32]],
        medium: [...lines(2 ** 24, [64, 1024, 1009, 4096, 2 ** 16]), [2048, 2048], [256, 256, 256]],
        large: [
          ...lines(2 ** 27, [64, 256, 512, 1000, 1009, 1024, 4096, 8192, 2 ** 16, 2 ** 20]),
          [8192, 8192],
          [512, 512, 512],
        ],
      },
      // All axes are transformed, except in arrays of two axes that are not square: there, only the last
      // axis.
      (group, settings, shape) =>
        fft(group, {
          ...settings,
          shape,
          axes: shape.length === 2 && shape[0] !== shape[1] ? [1] : undefined,
        }),
    ),
  },
}

/** Lines of these lengths, as many as hold `values` complex numbers. */
function lines(values: number, lengths: readonly number[]): number[][] {
  return lengths.map((length) => [Math.floor(values / length), length])
}

/** The shape of the real array, of whose spectrum a file may hold half. */
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
