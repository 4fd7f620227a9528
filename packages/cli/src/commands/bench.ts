import { readFile } from 'node:fs/promises'
import { jacobi, matmul, type Report, reduce, transpose } from '@tandem-gpu/algorithms'
import { type DeviceGroup, openGroup, type Schedule } from '@tandem-gpu/core'
import { Command, InvalidArgumentError, Option } from 'commander'
import { backendsNamed } from '../backends.ts'
import { type BenchDocument, type BenchResult, benchResult } from '../bench/document.ts'
import { benchPage } from '../bench/page.ts'
import { exitCode, UsageError } from '../exit-code.ts'
import {
  addJsonOption,
  addSelectionOptions,
  type GroupOptions,
  openGroupOptions,
  wholeNumber,
} from '../group-options.ts'
import { formatJson } from '../json.ts'
import { fileReason, OutputFile } from '../output-file.ts'
import type { CommandContext } from '../program.ts'
import { formatNumber, formatSeconds } from '../quantity.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

const algorithmNames = ['transpose', 'reduce', 'matmul', 'jacobi'] as const
type AlgorithmName = (typeof algorithmNames)[number]

interface BenchOptions extends Omit<GroupOptions, 'devices'> {
  readonly algorithms: readonly AlgorithmName[]
  readonly devices?: readonly number[]
  readonly schedules: readonly Schedule[]
  readonly sizes: 'auto' | 'small' | 'medium' | 'large'
  readonly samples: number
  readonly verify: boolean
  readonly peers?: string
  readonly commit: string
  readonly report?: string
  readonly json?: boolean
}

interface SizeSet {
  readonly transpose: readonly number[]
  readonly reduce: readonly number[]
  readonly matmul: readonly number[]
  readonly jacobi: readonly { readonly side: number; readonly iterations: number }[]
}

/** Sides of squares, and elements. `small` suits a software GPU, `large` needs tens of GiB of device memory. */
const sizeSets: Readonly<Record<'small' | 'medium' | 'large', SizeSet>> = {
  small: {
    transpose: [256, 512, 1024],
    reduce: [2 ** 16, 2 ** 18, 2 ** 20],
    matmul: [64, 128, 256],
    jacobi: [
      { side: 65, iterations: 100 },
      { side: 129, iterations: 100 },
    ],
  },
  medium: {
    transpose: [2048, 4096, 8192],
    reduce: [2 ** 22, 2 ** 24, 2 ** 26],
    matmul: [1024, 2048, 4096],
    jacobi: [
      { side: 1024, iterations: 1000 },
      { side: 2048, iterations: 1000 },
    ],
  },
  large: {
    transpose: [2048, 8192, 16384, 32768],
    reduce: [2 ** 22, 2 ** 28, 2 ** 29, 2 ** 31],
    matmul: [1024, 2048, 4096, 8192, 16384],
    jacobi: [
      { side: 2048, iterations: 1000 },
      { side: 4096, iterations: 1000 },
      { side: 8192, iterations: 1000 },
      { side: 16384, iterations: 1000 },
    ],
  },
}

export function benchCommand(context: CommandContext): Command {
  const command = new Command('bench').description(
    'time the algorithms over sizes, device counts and schedules',
  )
  addSelectionOptions(command)
    .option('--devices <counts>', 'device counts, such as 1,2,4 (default: 1 and all)', wholeNumbers)
    .option('--algorithms <names>', `of ${algorithmNames.join(',')} (default: all)`, someOf(algorithmNames), [
      ...algorithmNames,
    ])
    .option('--schedules <names>', 'of serial,overlapped', someOf(['serial', 'overlapped'] as const), [
      'overlapped',
    ] as Schedule[])
    .addOption(
      new Option('--sizes <set>', 'auto is small on a software GPU, else medium')
        .choices(['auto', 'small', 'medium', 'large'])
        .default('auto'),
    )
    .option('--samples <n>', 'timed runs, of which the median counts', wholeNumber(1), 11)
    .option('--no-verify', 'do not check the results')
    .option('--peers <file>', 'put the results of tools/peers beside ours')
    .option('--commit <id>', 'what was measured, for the document', 'unknown')
    .option('--report <file>', 'write one page of plots (HTML)')
  addJsonOption(command)
  return command.action(async (options: BenchOptions) => {
    const { terminal } = context
    const page = options.report === undefined ? undefined : await OutputFile.create(options.report)
    try {
      const peers = options.peers === undefined ? [] : await readPeers(options.peers)
      const document = await runBench(options, peers, terminal)
      if (options.verify && !document.ours.every(({ verified }) => verified))
        context.exit = exitCode.wrongAnswer
      await page?.handle.writeFile(benchPage(document))
      await page?.commit()
      const { schema: _, ...fields } = document
      terminal.out(options.json ? formatJson(fields) : asText(document.ours))
    } finally {
      terminal.progress.stop()
      await page?.discard()
    }
  })
}

async function runBench(
  options: BenchOptions,
  peers: readonly BenchResult[],
  terminal: Terminal,
): Promise<BenchDocument> {
  const { devices: _, ...groupOptions } = options
  const all = await openGroup(openGroupOptions(groupOptions))
  const counts = options.devices ?? [...new Set([1, all.devices.length])]
  const { software, backend } = all
  const adapters = all.devices.map(({ info }) => ({ name: info.name, driver: info.driver }))
  await all.destroy()

  const sizes = sizeSets[options.sizes === 'auto' ? (software ? 'small' : 'medium') : options.sizes]
  const cases = options.algorithms.flatMap((name) => casesOf(name, sizes, options.samples))
  terminal.progress.start('Measuring', cases.length * counts.length * options.schedules.length)
  const ours: BenchResult[] = []
  for (const devices of counts) {
    const group = await openGroup({
      ...openGroupOptions({ ...groupOptions, devices }),
      backends: backendsNamed(options.backend),
    })
    try {
      for (const run of cases) {
        for (const schedule of options.schedules) {
          terminal.signal.throwIfAborted()
          const report = await run(group, { schedule, verify: options.verify, signal: terminal.signal })
          ours.push(benchResult(report, options.schedules.length > 1 ? schedule : undefined))
          terminal.progress.step(1)
        }
      }
    } finally {
      await group.destroy()
    }
  }
  terminal.progress.stop()
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
  }
}

interface CaseSettings {
  readonly schedule: Schedule
  readonly verify: boolean
  readonly signal: AbortSignal
}

type BenchCase = (group: DeviceGroup, settings: CaseSettings) => Promise<Report>

function casesOf(name: AlgorithmName, sizes: SizeSet, samples: number): BenchCase[] {
  const timing = { warmup: 2, samples, seed: Date.now() % 2 ** 31 }
  switch (name) {
    case 'transpose':
      return sizes.transpose.map((side) => (group, settings) => {
        return transpose(group, { ...timing, ...settings, rows: side, columns: side, type: 'f32' })
      })
    case 'reduce':
      return sizes.reduce.map((elements) => (group, settings) => {
        return reduce(group, { ...timing, ...settings, elements, type: 'f32' })
      })
    case 'matmul':
      return sizes.matmul.map((side) => (group, settings) => {
        return matmul(group, {
          ...timing,
          ...settings,
          m: side,
          n: side,
          k: side,
          devices: group.devices.length,
        })
      })
    case 'jacobi':
      return sizes.jacobi.map(({ side, iterations }) => (group, settings) => {
        return jacobi(group, {
          ...timing,
          samples: Math.min(samples, 3),
          ...settings,
          rows: side,
          columns: side,
          iterations,
        })
      })
  }
}

async function readPeers(path: string): Promise<readonly BenchResult[]> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`${path} cannot be read: ${fileReason(error)}.`, 'bad-input')
  })
  try {
    const document = JSON.parse(text)
    if (document.schema === 1 && document.kind === 'peers' && Array.isArray(document.results))
      return document.results
  } catch {
    // Said below.
  }
  throw new UsageError(`${path} is no document of tools/peers.`, 'bad-input')
}

function asText(results: readonly BenchResult[]): string {
  const table = formatTable(
    [
      { title: 'work' },
      { title: 'variant' },
      { title: 'devices', align: 'right' },
      { title: 'shape' },
      { title: 'time', align: 'right' },
      { title: 'rate', align: 'right' },
      { title: 'verified' },
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
      result.verified ? 'yes' : 'no',
    ]),
  )
  return `${table}\n`
}

function wholeNumbers(text: string): number[] {
  return text.split(',').map(wholeNumber(1))
}

function someOf<T extends string>(names: readonly T[]) {
  return (text: string): T[] => {
    const chosen = text.split(',') as T[]
    const unknown = chosen.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is none of ${names.join(', ')}.`)
    return chosen
  }
}
