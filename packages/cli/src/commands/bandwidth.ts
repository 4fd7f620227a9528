import { measure } from '@tandem-gpu/algorithms'
import type { BufferView, DeviceGroup } from '@tandem-gpu/core'
import { Option } from 'commander'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import {
  addGroupOptions,
  addJsonOption,
  byteCount,
  type GroupOptions,
  wholeNumber,
  withGroup,
} from '../group-options.ts'
import { formatJson } from '../json.ts'
import { formatBytes, formatNumber, formatSeconds } from '../quantity.ts'
import { formatTable } from '../table.ts'
import { beginHandover } from '../terminal.ts'

interface BandwidthOptions extends GroupOptions {
  readonly bytes: number
  readonly samples: number
  readonly json?: boolean
}

interface PairFigures {
  readonly from: number
  readonly to: number
  readonly peerAccess: boolean
  /** In GB/s: 10^9 bytes that arrive per second. */
  readonly oneWay: number
  /** The sum of both directions at once, in GB/s; absent for a copy within a device. */
  readonly bothWays?: number
  /** Time of one copy of four bytes in a chain of copies. */
  readonly latencySeconds: number
}

export const command: CommandModule = {
  name: 'bandwidth',
  description: 'measure copies between every pair of devices: one way, both ways, latency',
  examples: ['tandem bandwidth', 'tandem bandwidth --json'],
  documents: { bandwidth: '--bytes 4 --samples 1' },
  define(command, context) {
    command
      .addOption(
        new Option('--bytes <size>', 'size of one copy')
          .argParser(byteCount)
          .default(256 * 1024 * 1024, '256MiB'),
      )
      .option('--samples <n>', 'measurements, whose median is reported', wholeNumber(1), 10)
    addJsonOption(addGroupOptions(command))
    command.action(async (options: BandwidthOptions) => {
      if (options.bytes % 4 !== 0)
        throw new UsageError(`--bytes is ${options.bytes}; it must be a multiple of 4.`)
      const { progress, signal } = context.terminal
      progress.start('Opening the devices')
      await withGroup(options, async (group) => {
        const count = group.devices.length
        progress.start('Measuring', count * count, 'pairs of devices')
        const pairs: PairFigures[] = []
        for (let from = 0; from < count; from++) {
          for (let to = 0; to < count; to++) {
            pairs.push(await measurePair(group, from, to, { ...options, signal }))
            progress.step(1)
          }
        }
        beginHandover(context.terminal)
        const names = group.devices.map(({ info }) => info.name)
        context.terminal.out(
          options.json
            ? formatJson('bandwidth', {
                backend: group.backend,
                software: group.software,
                devices: names,
                bytes: options.bytes,
                pairs,
              })
            : asText(pairs, count, options.bytes),
        )
      })
    })
  },
}

async function measurePair(
  group: DeviceGroup,
  from: number,
  to: number,
  options: BandwidthOptions & { readonly signal: AbortSignal },
): Promise<PairFigures> {
  const length = options.bytes / 4
  const allocate = (device: number) => group.devices[device]!.allocate('u32', length, { zero: false })
  const [source, target] = [await allocate(from), await allocate(to)]
  const [returnSource, returnTarget] = [await allocate(to), await allocate(from)]
  try {
    const seconds = async (copies: readonly (readonly [BufferView, BufferView])[], repetitions: number) => {
      const program = group.record((r) => {
        for (const [source, target] of copies) r.copy(source, target)
      })
      try {
        const { samples, signal } = options
        return (await measure(group, program, { samples, repetitions, signal, warmup: 2 })).seconds
      } finally {
        program.destroy()
      }
    }
    const oneWay = options.bytes / (await seconds([[source, target]], 4)) / 1e9
    const bothSeconds =
      from === to
        ? undefined
        : await seconds(
            [
              [source, target],
              [returnSource, returnTarget],
            ],
            4,
          )
    return {
      from,
      to,
      peerAccess: group.canAccessPeer(to, from),
      oneWay,
      ...(bothSeconds === undefined ? {} : { bothWays: (2 * options.bytes) / bothSeconds / 1e9 }),
      latencySeconds: await seconds([[source.slice(0, 1), target.slice(0, 1)]], 100),
    }
  } finally {
    for (const buffer of [source, target, returnSource, returnTarget]) buffer.destroy()
  }
}

function asText(pairs: readonly PairFigures[], count: number, byteLength: number): string {
  const matrix = (title: string, cell: (pair: PairFigures) => string | undefined) => {
    const table = formatTable(
      [
        { title: 'from' },
        ...Array.from({ length: count }, (_, to) => ({ title: `to ${to}`, align: 'right' as const })),
      ],
      Array.from({ length: count }, (_, from) => [
        String(from),
        ...pairs.filter((pair) => pair.from === from).map(cell),
      ]),
    )
    return `${title}\n${table}\n`
  }
  return [
    matrix(`One way, GB/s (copies of ${formatBytes(byteLength)})`, ({ oneWay }) => formatNumber(oneWay)),
    matrix('Both ways at once, GB/s in total', ({ bothWays }) =>
      bothWays === undefined ? undefined : formatNumber(bothWays),
    ),
    matrix('Latency of a copy of 4 bytes', ({ latencySeconds }) => formatSeconds(latencySeconds)),
  ].join('\n')
}
