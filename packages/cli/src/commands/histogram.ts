import { type HistogramReport, histogram } from '@tandem-gpu/algorithms'
import { elementArray } from '@tandem-gpu/core'
import { InvalidArgumentError, Option } from 'commander'
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
import { wholeNumber } from '../group-options.ts'
import { histogramPicture } from '../histogram-picture.ts'
import { fileRules, refuseIdleOptions } from '../idle-options.ts'
import { elementTypes } from '../npy/element-conversion.ts'
import { formatNumber } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'

interface HistogramCommandOptions extends VectorOptions {
  readonly bins?: number
  readonly range?: readonly [low: number, high: number]
  readonly edges?: string
  readonly output?: string
  readonly image?: string
}

const usual = { elements: 4_194_304, type: 'f32' } as const

export const command: CommandModule = {
  name: 'histogram',
  description: 'count the elements of an array spread over the devices that fall into each bin',
  examples: [
    'tandem histogram --input a.npy --bins 256 --range -1,1 --image counts.svg',
    'tandem histogram --input a.npy --edges edges.npy --output counts.npy',
  ],
  documents: { histogram: '--elements 9 --devices 2' },
  define(command, context) {
    addVectorOptions(command, usual)
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
    refuseIdleOptions(command, fileRules('length', ['elements']))
    command.action((options: HistogramCommandOptions) =>
      runAlgorithm(context, options, {
        async prepare(files) {
          const input = await files.input(options.input, acceptedTypes(options.type))
          const edges = await files.input(options.edges, elementTypes)
          edges?.vectorLength()
          return {
            input,
            edges,
            output: await files.output(options.output, 'npy'),
            image: await files.output(options.image, 'svg'),
          }
        },
        async compute(group, settings, { input, edges, output, image }) {
          const [low, high] = options.range ?? []
          const given = edges && elementArray(edges.type, edges.length)
          if (edges && given) await edges.fileOrder()(0, given)
          const bins = given === undefined ? (options.bins ?? 10) : Math.max(0, given.length - 1)
          const report = await histogram(group, {
            ...settings,
            // The order of the elements does not matter.
            ...vectorOf(options, input, usual),
            ...(given === undefined ? { bins, low, high } : { edges: given }),
            output: await npySink(output, 'u32', [bins], context.terminal.progress),
          })
          await image?.write(Buffer.from(histogramPicture(report)))
          return report
        },
        describe: describeHistogram,
      }),
    )
  },
  works: {
    histogram: benchWork('histogram', vectorLengths, (group, settings, elements) =>
      histogram(group, { ...settings, elements, type: 'f32', bins: 256, low: -1, high: 1 }),
    ),
  },
}

function range(text: string): readonly [number, number] {
  const ends = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [low = Number.NaN, high = Number.NaN] = ends
  if (ends.length === 2 && Number.isFinite(low) && Number.isFinite(high)) return [low, high]
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
    ['not counted', `${outside} outside the bins, ${notANumber} NaN`],
    ['slices', `${report.slices.join(' + ')} elements`],
  ]
}
