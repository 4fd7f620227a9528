import { type HistogramReport, histogram } from '@tandem-gpu/algorithms'
import { elementArray } from '@tandem-gpu/core'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type AlgorithmOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { type InputFile, npySink, openInput } from '../array-files.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { wholeNumber } from '../group-options.ts'
import { histogramPicture } from '../histogram-picture.ts'
import { elementTypes, type NpyElementType } from '../npy/element-conversion.ts'
import type { OutputFile } from '../output-file.ts'
import { formatNumber } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'

interface HistogramCommandOptions extends AlgorithmOptions {
  readonly elements?: number
  readonly type?: NpyElementType
  readonly bins?: number
  readonly range?: readonly [low: number, high: number]
  readonly edges?: string
  readonly input?: string
  readonly output?: string
  readonly image?: string
}

export function histogramCommand(context: CommandContext): Command {
  const command = new Command('histogram')
    .description('count the elements of an array spread over the devices that fall into each bin')
    .option('--elements <n>', 'length of the generated vector (default 4194304)', wholeNumber(0))
    .addOption(new Option('--type <type>', 'element type (default f32, or the file’s)').choices(elementTypes))
    .option('--bins <n>', 'bins of equal width (default 10)', wholeNumber(1))
    .option(
      '--range <low,high>',
      'where the bins begin and end (default: the smallest and the largest element)',
      range,
    )
    .addOption(
      new Option('--edges <file>', 'take the edges of the bins from this .npy array instead').conflicts([
        'bins',
        'range',
      ]),
    )
    .option('--input <file>', 'count all elements of this .npy array instead')
    .option('--output <file>', 'write the counts as .npy')
    .option('--image <file>', 'draw the counts (.svg)')
  addAlgorithmOptions(command)
  return command.action(async (options: HistogramCommandOptions) => {
    if (options.input !== undefined && options.elements !== undefined)
      throw new UsageError('--elements cannot be used with --input: the file determines the length.')
    const { progress } = context.terminal
    let [input, edges]: (InputFile | undefined)[] = []
    let [output, image]: (OutputFile | undefined)[] = []
    await runAlgorithm<HistogramReport>(context, options, {
      async prepare(files) {
        const cast = options.cast ?? false
        if (options.input !== undefined) {
          const accepted = options.type === undefined ? elementTypes : [options.type]
          input = await openInput(files, options.input, { accepted, cast }, progress)
        }
        if (options.edges !== undefined) {
          edges = await openInput(files, options.edges, { accepted: elementTypes, cast }, progress)
          edges.vectorLength()
        }
        if (options.output !== undefined) output = await files.output(options.output, 'npy')
        if (options.image !== undefined) image = await files.output(options.image, 'svg')
      },
      async compute(group, settings) {
        const [low, high] = options.range ?? []
        const given = edges && elementArray(edges.type, edges.length)
        if (given !== undefined) await edges!.fileOrder()(0, given)
        const bins = given === undefined ? (options.bins ?? 10) : Math.max(0, given.length - 1)
        const report = await histogram(group, {
          ...settings,
          elements: input?.length ?? options.elements ?? 4_194_304,
          type: input?.type ?? options.type ?? 'f32',
          ...(given === undefined ? { bins, low, high } : { edges: given }),
          // The order of elements does not matter.
          ...(input === undefined ? {} : { input: input.fileOrder() }),
          ...(output === undefined ? {} : { output: await npySink(output, 'u32', [bins], progress) }),
        })
        await image?.write(Buffer.from(histogramPicture(report)))
        return report
      },
      describe: describeHistogram,
    })
  })
}

function range(text: string): readonly [number, number] {
  const ends = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [low, high] = ends
  if (ends.length === 2 && Number.isFinite(low) && Number.isFinite(high)) return [low!, high!]
  throw new InvalidArgumentError('It must be two numbers separated by a comma, such as -1,1.')
}

function describeHistogram(report: HistogramReport): readonly ReportLine[] {
  const { counts, edges, outside, notANumber } = report
  const fullest = counts.reduce((best, count, bin) => (count > counts[best]! ? bin : best), 0)
  return [
    ['type', report.type],
    ['bins', `${counts.length}, from ${formatNumber(edges[0]!)} to ${formatNumber(edges.at(-1)!)}`],
    [
      'fullest bin',
      `${counts[fullest]} elements from ${formatNumber(edges[fullest]!)} to ${formatNumber(edges[fullest + 1]!)}`,
    ],
    ['apart', `${outside} outside the bins, ${notANumber} not a number`],
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
