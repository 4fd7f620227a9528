import { openGroup, type Schedule } from '@tandem-gpu/core'
import { InvalidArgumentError, Option } from 'commander'
import { backendsNamed } from '../backends.ts'
import { type BenchWork, type SizeSetName, sizeSetNames } from '../bench/case.ts'
import { copyLimits } from '../bench/copy-limits.ts'
import type { BenchDocument, BenchResult } from '../bench/document.ts'
import { benchPage } from '../bench/page.ts'
import type { CommandModule } from '../command.ts'
import { exitCode, UsageError } from '../exit-code.ts'
import {
  addJsonOption,
  addSelectionOptions,
  type GroupOptions,
  mostDevices,
  openGroupOptions,
  requireDeviceIds,
  wholeNumber,
} from '../group-options.ts'
import { readInputText } from '../input-file.ts'
import { formatJson } from '../json.ts'
import { OutputFile } from '../output-file.ts'
import { printable } from '../printable.ts'
import { formatNumber, formatSeconds } from '../quantity.ts'
import { verdictOf } from '../report-text.ts'
import { requireEnding } from '../run-files.ts'
import { formatTable } from '../table.ts'
import { beginHandover, type Terminal } from '../terminal.ts'
import { addTuneOption, type TuneOption, tuningOptions } from '../tune-option.ts'

interface BenchOptions extends Omit<GroupOptions, 'devices'>, TuneOption {
  readonly works?: readonly string[]
  readonly devices?: readonly number[]
  readonly schedules: readonly Schedule[]
  readonly sizes: 'auto' | SizeSetName
  readonly samples: number
  readonly verify: boolean
  readonly peers?: string
  readonly commit: string
  readonly report?: string
  readonly json?: boolean
}

export const command: CommandModule = {
  name: 'bench',
  description: 'time the algorithms over sizes, device counts and schedules',
  examples: ['tandem bench --works transpose,reduce', 'tandem bench --report report.html'],
  documents: { bench: '--works reduce --sizes small --devices 1 --samples 1' },
  define(command, context) {
    const works = new Map(context.commands.flatMap(({ works = {} }) => Object.entries(works)))
    const workNames = [...works.keys()]
    addSelectionOptions(command)
      .option('--devices <counts>', 'device counts, such as 1,2,4 (default: 1 and all)', wholeNumbers)
      .option(
        '--works <names>',
        `some of ${workNames.join(',')} (default: all); ladder: every kernel of reduce; streamed: matmul from host memory`,
        someOf(workNames),
      )
      .addOption(
        new Option('--schedules <names>', 'one or both of serial,overlapped')
          .argParser(someOf(['serial', 'overlapped'] as const))
          .default(['overlapped'] as Schedule[], 'overlapped'),
      )
      .addOption(
        new Option('--sizes <set>', 'sizes to measure; auto is small on a software GPU and medium on others')
          .choices(['auto', ...sizeSetNames])
          .default('auto'),
      )
      .option('--samples <n>', 'timed runs, whose median is reported', wholeNumber(1), 11)
      .option('--no-verify', 'do not check the results')
      .option('--peers <file>', 'include these results of other libraries')
      .option('--commit <id>', 'commit that is measured, to be named in the document', 'unknown')
      .option('--report <file>', 'write a page of plots (HTML)')
    addJsonOption(addTuneOption(command))
    command.action(async (options: BenchOptions) => {
      const { terminal } = context
      if (options.report !== undefined) await requireEnding(options.report, 'html')
      const page = options.report === undefined ? undefined : await OutputFile.create(options.report)
      try {
        const peers = options.peers === undefined ? [] : await readPeers(options.peers)
        const document = await runBench(options, works, peers, terminal)
        if (options.verify && !document.ours.every(({ verified }) => verified))
          context.exit = exitCode.wrongAnswer
        const drawn = page && (await benchPage(document))
        beginHandover(terminal)
        if (drawn !== undefined) await page?.write(drawn)
        await page?.commit()
        const { schema: _, ...fields } = document
        terminal.out(options.json ? formatJson('bench', fields) : asText(document.ours, options.verify))
      } finally {
        terminal.progress.stop()
        await page?.discard()
      }
    })
  },
}

async function runBench(
  options: BenchOptions,
  works: ReadonlyMap<string, BenchWork>,
  peers: readonly BenchResult[],
  terminal: Terminal,
): Promise<BenchDocument> {
  const { devices: _, ...groupOptions } = options
  terminal.progress.start('Opening the devices')
  await requireDeviceIds(groupOptions)
  const all = await openGroup(openGroupOptions(groupOptions))
  const counts = options.devices ?? [...new Set([1, all.devices.length])]
  const { software, backend } = all
  const adapters = all.devices.map(({ info }) => ({ name: info.name, driver: info.driver }))
  await all.destroy()

  const sizes = options.sizes === 'auto' ? (software ? 'small' : 'medium') : options.sizes
  const cases = (options.works ?? [...works.keys()]).flatMap((work) => works.get(work)!(sizes))
  terminal.progress.start(
    'Measuring',
    cases.length * counts.length * options.schedules.length,
    'measurements',
  )
  const { verify, samples } = options
  const settings = {
    verify,
    samples,
    warmup: 2,
    // All processes of a job need the same matrices.
    seed: options.job === undefined ? Date.now() % 2 ** 31 : 1,
    signal: terminal.signal,
    ...tuningOptions(options),
  }
  const ours: BenchResult[] = []
  const limits: BenchResult[] = []
  for (const devices of counts) {
    const group = await openGroup({
      ...openGroupOptions({ ...groupOptions, devices }),
      backends: backendsNamed(options.backend, options.job, options.virtual, options.rankTransport),
    })
    try {
      limits.push(...(await copyLimits(group, { samples, signal: terminal.signal })))
      for (const run of cases) {
        for (const schedule of options.schedules) {
          terminal.signal.throwIfAborted()
          ours.push(await run(group, { ...settings, schedule }))
          terminal.progress.step(1)
        }
      }
    } finally {
      await group.destroy()
    }
  }
  const machine = {
    backend,
    software,
    adapters,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  }
  return {
    schema: 1,
    kind: 'bench',
    date: new Date().toISOString(),
    commit: options.commit,
    machine,
    ours,
    peers,
    limits,
  }
}

async function readPeers(path: string): Promise<readonly BenchResult[]> {
  const text = await readInputText(path)
  try {
    const document = JSON.parse(text)
    if (document.schema === 1 && document.kind === 'peers' && Array.isArray(document.results))
      return document.results
  } catch {
    // The error below reports it.
  }
  throw new UsageError(
    `${printable(path)} is not a document of results of other libraries, which the scripts in tools/peers of the repository write.`,
    'bad-input',
  )
}

function asText(results: readonly BenchResult[], checked: boolean): string {
  const table = formatTable(
    [
      { title: 'work' },
      { title: 'variant' },
      { title: 'devices', align: 'right' },
      { title: 'shape' },
      { title: 'time', align: 'right' },
      { title: 'rate', align: 'right' },
      { title: 'result' },
    ],
    results.map((result) => [
      result.work,
      result.variant,
      String(result.devices),
      Object.entries(result.shape)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
      formatSeconds(result.seconds),
      `${formatNumber(result.rate / 1e9)} G${result.unit}`,
      verdictOf({ checked, verified: result.verified }),
    ]),
  )
  return `${table}\n`
}

function wholeNumbers(text: string): number[] {
  return text.split(',').map(wholeNumber(1, mostDevices))
}

function someOf<T extends string>(names: readonly T[]) {
  return (text: string): T[] => {
    const chosen = text.split(',') as T[]
    const unknown = chosen.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is not one of ${names.join(', ')}.`)
    return chosen
  }
}
