import {
  compareRing,
  measuredInSource,
  type RingComparison,
  type RingScheme,
  ringMatmul,
  ringSchemes,
} from '@tandem-gpu/algorithms'
import { selectAdapters } from '@tandem-gpu/core'
import { Option } from 'commander'
import { type AlgorithmCommandOptions, addAlgorithmOptions } from '../algorithm-options.ts'
import { runAlgorithm } from '../algorithm-run.ts'
import { npySink } from '../array-files.ts'
import type { CommandContext, CommandModule } from '../command.ts'
import { exitCode } from '../exit-code.ts'
import { openGroupOptions, wholeNumber, withGroup } from '../group-options.ts'
import { refuseIdleOptions, singleRunRules } from '../idle-options.ts'
import { formatJson } from '../json.ts'
import { addProductShapeOptions, type ProductShapeOptions, productShape } from '../product-shape.ts'
import { formatNumber, formatSeconds } from '../quantity.ts'
import type { ReportLine } from '../report-text.ts'
import { formatTable } from '../table.ts'
import { beginHandover } from '../terminal.ts'

interface RingCommandOptions extends AlgorithmCommandOptions, ProductShapeOptions {
  readonly output?: string
  readonly scheme: RingScheme
  readonly pieces: number
  readonly compare?: boolean
}

/**
 * Numbers of virtual devices on a software GPU: the largest number of nodes in the published comparison, and
 * the size of a single ring there.
 */
const softwareNodes = { compare: 16, run: 4 }

const accepted = ['f32'] as const

export const command: CommandModule = {
  name: 'ring',
  description:
    'multiply matrices on a ring of devices, and compare ways to overlap messages, uploads and products',
  examples: ['tandem ring --n 4096 --scheme interleaved', 'tandem ring --n 128 --compare'],
  documents: { ring: '--n 4', ringComparison: '--n 4 --devices 2 --compare' },
  define(command, context) {
    addProductShapeOptions(command)
      .option('--output <file>', 'write the product as .npy')
      .addOption(
        new Option('--scheme <name>', 'what overlaps in a step of the ring')
          .choices(ringSchemes)
          .default('interleaved'),
      )
      .option('--pieces <n>', 'pieces of a step in scheme streamed', wholeNumber(1), 16)
      .option('--compare', 'time every scheme on 1, 2, 4, 8 and 16 devices, up to the number available')
    addAlgorithmOptions(command)
    refuseIdleOptions(command, [
      {
        option: 'pieces',
        when: ({ scheme, compare }) => scheme !== 'streamed' && compare !== true,
        because: '--pieces is only for --scheme streamed; the steps of other schemes are not divided.',
      },
      ...singleRunRules('compare', [
        'a',
        'b',
        'output',
        'trace',
        'plan',
        'scheme',
        'schedule',
        'compareSchedules',
        'verbose',
      ]),
    ])
    command.action(async (options: RingCommandOptions) => {
      const devices = options.devices ?? (options.job ? undefined : await defaultDevices(options))
      await (options.compare ? compare : run)(context, { ...options, devices })
    })
  },
}

/** A software GPU opens any number of devices; of hardware GPUs, all are used. */
async function defaultDevices(options: RingCommandOptions): Promise<number | undefined> {
  const { chosen } = await selectAdapters(openGroupOptions(options))
  if (!chosen.every(({ software }) => software)) return undefined
  return options.compare ? softwareNodes.compare : softwareNodes.run
}

function run(context: CommandContext, options: RingCommandOptions): Promise<void> {
  return runAlgorithm(context, options, {
    async prepare(files) {
      const a = await files.input(options.a, accepted)
      const b = await files.input(options.b, accepted)
      return { a, b, shape: productShape(options, a, b), output: await files.output(options.output, 'npy') }
    },
    async compute(group, settings, { a, b, shape, output }) {
      return ringMatmul(group, {
        ...settings,
        ...shape,
        scheme: options.scheme,
        pieces: options.pieces,
        a: a?.rowMajor(),
        b: b?.rowMajor(),
        output: await npySink(output, 'f32', [shape.m, shape.n], context.terminal.progress),
      })
    },
    describe: ({ scheme, pieces, slices, columns }): readonly ReportLine[] => [
      ['scheme', pieces === undefined ? scheme : `${scheme}, ${pieces} pieces`],
      ['slices', `${slices.join(' + ')} rows of A circulate; ${columns.join(' + ')} columns of B stay`],
    ],
  })
}

async function compare(context: CommandContext, options: RingCommandOptions): Promise<void> {
  const { terminal } = context
  const shape = productShape(options, undefined, undefined)
  const { warmup, samples, seed, verify } = options
  terminal.progress.start('Opening the devices')
  const document = await withGroup(options, async (group) => {
    const counts = [1, 2, 4, 8, 16].filter((count) => count <= group.devices.length)
    terminal.progress.start('Measuring', counts.length * ringSchemes.length, 'measurements')
    const rings = await compareRing(group, {
      ...shape,
      samples,
      seed,
      verify,
      pieces: options.pieces,
      nodeCounts: counts,
      signal: terminal.signal,
      warmup,
      onFigure: () => terminal.progress.step(1),
    })
    return {
      algorithm: 'ring',
      backend: group.backend,
      adapter: [...new Set(group.devices.map(({ info }) => info.name))].join(' + '),
      software: group.software,
      shape,
      measuredInSource,
      rings,
    }
  })
  beginHandover(terminal)
  if (verify && document.rings.some(({ schemes }) => schemes.some(({ verified }) => !verified)))
    context.exit = exitCode.wrongAnswer
  terminal.out(options.json ? formatJson('ringComparison', document) : asText(document, verify))
}

function asText(
  {
    rings,
    shape,
    adapter,
    backend,
    software,
  }: {
    readonly rings: readonly RingComparison[]
    readonly shape: { readonly m: number; readonly n: number; readonly k: number }
    readonly adapter: string
    readonly backend: string
    readonly software: boolean
  },
  verify: boolean,
): string {
  const table = formatTable(
    [
      { title: 'devices', align: 'right' },
      { title: 'scheme' },
      { title: 'time', align: 'right' },
      { title: 'rate', align: 'right' },
      ...(software ? [] : modelColumns),
      ...(verify ? [{ title: 'result' }] : []),
    ],
    rings.flatMap(({ nodes, schemes }) =>
      schemes.map(({ scheme, seconds, rate, boundSeconds, hidden, verified }) => [
        String(nodes),
        measuredInSource.includes(scheme) ? `${scheme} *` : scheme,
        formatSeconds(seconds),
        `${formatNumber(rate)} GFLOP/s`,
        ...(software
          ? []
          : [
              boundSeconds === undefined ? undefined : formatSeconds(boundSeconds),
              hidden === undefined ? undefined : `${Math.round(hidden * 100)} %`,
            ]),
        ...(verify ? [verified ? 'verified' : 'WRONG'] : []),
      ]),
    ),
  )
  const heading = `Product ${shape.m} × ${shape.k} by ${shape.k} × ${shape.n} on a ring of devices: ${adapter} (${backend}${software ? ', software' : ''})`
  if (software)
    return `${heading}

${table}

* a scheme of the published comparison. A software GPU computes on the CPU, which also does the copies, so there is nothing to overlap.
`
  const steps = formatTable(
    [
      { title: 'devices', align: 'right' },
      ...['message', 'upload', 'product'].map((title) => ({ title, align: 'right' as const })),
    ],
    rings.map(({ nodes, step }) => [
      String(nodes),
      formatSeconds(step.message),
      formatSeconds(step.upload),
      formatSeconds(step.product),
    ]),
  )
  return `${heading}

${table}

Parts of a step, each alone:
${steps}

* a scheme of the published comparison. model: the time of the scheme if each part took as long as it takes alone, and the parts overlapped perfectly.
The model ignores that the parts of a program share the cost of starting them, so small products may be faster than the model.
hidden: the share of the hideable time that the scheme hides, (t_none − t) / (t_none − model).
`
}

const modelColumns = ['model', 'hidden'].map((title) => ({ title, align: 'right' as const }))
