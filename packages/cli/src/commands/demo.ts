import { join, resolve } from 'node:path'
import { jacobi, matmul, type Report, reduce, transpose } from '@tandem-gpu/algorithms'
import type { DeviceGroup, ProgramSpan, Schedule } from '@tandem-gpu/core'
import { makeFolder } from '@tandem-gpu/core/native'
import type { CommandModule } from '../command.ts'
import { exitCode, UsageError } from '../exit-code.ts'
import type { Borders } from '../figure.ts'
import { fileReason } from '../file-error.ts'
import {
  addGroupOptions,
  addJsonOption,
  devicesOf,
  type GroupOptions,
  requireDeviceIds,
  withGroup,
} from '../group-options.ts'
import { formatJson } from '../json.ts'
import { writeOutputFile } from '../output-file.ts'
import { bordersOf, FieldPicture } from '../picture.ts'
import { printable } from '../printable.ts'
import { formatNumber, formatSeconds } from '../quantity.ts'
import { describeDevices, verdictOf } from '../report-text.ts'
import { formatTable } from '../table.ts'
import { beginHandover, type Terminal } from '../terminal.ts'
import { chromeTrace, type TraceTrack } from '../trace.ts'

interface DemoOptions extends GroupOptions {
  readonly folder: string
  readonly json?: boolean
}

/** The number of virtual devices of a software GPU. */
const softwareDevices = 4

interface DemoSizes {
  readonly transpose: { readonly rows: number; readonly columns: number }
  readonly elements: number
  readonly side: number
  readonly grid: { readonly rows: number; readonly columns: number; readonly iterations: number }
}

const softwareSizes: DemoSizes = {
  transpose: { rows: 768, columns: 1024 },
  elements: 1 << 22,
  side: 300,
  grid: { rows: 97, columns: 129, iterations: 1500 },
}

const hardwareSizes: DemoSizes = {
  transpose: { rows: 8192, columns: 8192 },
  elements: 1 << 26,
  side: 4096,
  grid: { rows: 769, columns: 1025, iterations: 2000 },
}

export const command: CommandModule = {
  name: 'demo',
  description: 'run four of the algorithms on the best backend found, check each result, and draw one',
  examples: ['tandem demo', 'tandem demo --devices 4 --virtual --folder /tmp/demo'],
  documents: { demo: '' },
  define(command, context) {
    command.option('--folder <path>', 'folder for the picture and the trace', 'tandem-demo')
    addJsonOption(addGroupOptions(command, { software: `${softwareDevices} software devices` }))
    command.action(async (options: DemoOptions) => {
      const { terminal } = context
      const folder = resolve(options.folder)
      try {
        makeFolder(folder)
      } catch (error) {
        throw new UsageError(`${printable(folder)} cannot be created: ${fileReason(error)}.`)
      }
      await requireDeviceIds(options)
      const devices = await devicesOf(options, softwareDevices)
      const group = { ...options, devices }
      terminal.progress.start('Opening the devices')
      const { reports, tracks, picture } = await withGroup(group, (opened) => runAll(opened, terminal))

      beginHandover(terminal)
      const paths = { picture: join(folder, 'jacobi.png'), trace: join(folder, 'trace.json') }
      if (options.job === undefined || options.job.rank === 0) {
        await writeOutputFile(paths.picture, picture)
        await writeOutputFile(paths.trace, chromeTrace(tracks))
      }
      if (!reports.every(({ verified }) => verified)) context.exit = exitCode.wrongAnswer
      terminal.out(
        options.json
          ? formatJson('demo', { folder, ...paths, reports })
          : asText(reports, paths, terminal.colors),
      )
    })
  },
}

async function runAll(group: DeviceGroup, { signal, progress }: Terminal) {
  const sizes = group.software ? softwareSizes : hardwareSizes
  const tracks: TraceTrack[] = []
  const settings = (name: string) => ({
    signal,
    schedule: 'overlapped' as Schedule,
    samples: 3,
    trace(spans: readonly ProgramSpan[]) {
      tracks.push({ name, devices: group.devices.map(({ info }) => info.name), spans })
    },
  })
  const picture = new FieldPicture(sizes.grid.rows, sizes.grid.columns)
  let borders: Borders | undefined
  const output = (offset: number, cells: Float32Array) => picture.add(offset, cells)
  const { iterations } = sizes.grid
  const steps: readonly (readonly [label: string, run: () => Promise<Report>])[] = [
    ['Transposing', () => transpose(group, { ...settings('transpose'), ...sizes.transpose, type: 'f32' })],
    ['Adding up', () => reduce(group, { ...settings('reduce'), elements: sizes.elements, type: 'i32' })],
    [
      'Multiplying',
      () => matmul(group, { ...settings('matmul'), m: sizes.side, n: sizes.side, k: sizes.side }),
    ],
    [
      'Preparing the grid',
      async () => {
        const report = await jacobi(group, {
          ...settings('jacobi'),
          samples: 1,
          ...sizes.grid,
          decomposition: '2d',
          output,
          onRun({ done, total }) {
            if (done === total) progress.start('Checking the result')
            else progress.start('Sweeping', iterations, 'sweeps')
          },
          onProgress: ({ iteration }) => progress.reach(iteration),
        })
        borders = bordersOf(report)
        return report
      },
    ],
  ]
  const reports: Report[] = []
  for (const [label, run] of steps) {
    progress.start(label)
    reports.push(await run())
  }
  return { reports, tracks, picture: picture.encode(borders) }
}

function asText(
  reports: readonly Report[],
  paths: { picture: string; trace: string },
  colors: Terminal['colors'],
): string {
  const color = { verified: colors.green, WRONG: colors.red, 'not checked': colors.yellow }
  const table = formatTable(
    [
      { title: 'algorithm' },
      { title: 'shape' },
      { title: 'result' },
      { title: 'largest error', align: 'right' },
      { title: 'time', align: 'right' },
      { title: 'rate', align: 'right' },
    ],
    reports.map((report) => [
      report.algorithm,
      Object.values(report.shape).join(' × '),
      color[verdictOf(report)](verdictOf(report)),
      formatNumber(report.maxError),
      formatSeconds(report.seconds),
      `${formatNumber(report.rate)} ${report.unit}`,
    ]),
  )
  const software = reports.some((report) => report.software)
    ? 'A software GPU runs on the CPU: its figures say nothing about hardware.\n'
    : ''
  return `${describeDevices(reports[0]!)}\n\n${table}\n\nPicture of the Jacobi solution: ${printable(paths.picture)}\nTrace, for ui.perfetto.dev: ${printable(paths.trace)}\n${software}`
}
