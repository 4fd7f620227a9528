import { type Adapter, type AdapterReport, counted, type Telemetry } from '@tandem-gpu/core'
import { type BackendName, backendsNamed } from '../backends.ts'
import type { CommandModule } from '../command.ts'
import { exitCode } from '../exit-code.ts'
import { addBackendOption, addJsonOption } from '../group-options.ts'
import type { Job } from '../job.ts'
import { formatJson } from '../json.ts'
import { formatBytes, formatNumber } from '../quantity.ts'
import { formatTable } from '../table.ts'

interface DevicesOptions {
  readonly backend: BackendName
  readonly json?: boolean
  readonly job?: Job | undefined
}

interface BackendListing extends AdapterReport {
  readonly name: string
  readonly readings: readonly (Telemetry | undefined)[]
}

export const command: CommandModule = {
  name: 'devices',
  description: 'list every device that each backend finds, with its sensors',
  examples: ['tandem devices', 'tandem devices --backend cuda --json'],
  documents: { devices: '' },
  define(command, context) {
    addJsonOption(addBackendOption(command))
    command.action(async (options: DevicesOptions) => {
      context.terminal.progress.start('Looking for devices')
      const listings = await Promise.all(backendsNamed(options.backend, options.job).map(list))
      if (!listings.some(({ adapters }) => adapters.length > 0)) context.exit = exitCode.noDevice
      context.terminal.out(
        options.json ? formatJson('devices', { backends: listings.map(asJson) }) : asText(listings),
      )
    })
  },
}

async function list(backend: { name: string; adapters(): Promise<AdapterReport> }): Promise<BackendListing> {
  const report = await backend.adapters()
  const readings = await Promise.all(report.adapters.map((adapter) => adapter.telemetry?.()))
  return { name: backend.name, ...report, readings }
}

function asJson({ adapters, readings, ...listing }: BackendListing) {
  return {
    ...listing,
    readings: undefined,
    adapters: adapters.map((adapter, i) => adapterJson(adapter, readings[i])),
  }
}

/** An adapter as JSON data, with its sensor reading, if any, as `telemetry`. */
export function adapterJson(adapter: Adapter, reading?: Telemetry) {
  return { ...adapter, features: [...adapter.features], telemetry: reading }
}

function asText(listings: readonly BackendListing[]): string {
  return listings.map(listingText).join('\n')
}

function listingText({ name, adapters, readings, absence, notes }: BackendListing): string {
  const remarks = [absence?.reason, absence?.remedy, ...(notes ?? [])].filter(
    (remark) => remark !== undefined,
  )
  const heading = `${name}: ${adapters.length === 0 ? 'no devices' : counted(adapters.length, 'device')}`
  const lines = [heading, ...remarks.map((remark) => `  ${remark}`)]
  if (adapters.length > 0) {
    lines.push(deviceTable(adapters))
    if (readings.some((reading) => reading !== undefined)) lines.push(sensorTable(adapters, readings))
    lines.push(...processLines(adapters, readings))
  }
  return `${lines.join('\n')}\n`
}

function deviceTable(adapters: readonly Adapter[]): string {
  return formatTable(
    [
      { title: 'index', align: 'right' },
      { title: 'NVML', align: 'right' },
      { title: 'name' },
      { title: 'kind' },
      { title: 'memory', align: 'right' },
      { title: 'PCI bus id' },
      { title: 'UUID' },
      { title: 'driver' },
    ],
    adapters.map((adapter, i) => [
      String(adapter.index ?? i),
      adapter.nvmlIndex?.toString(),
      adapter.name,
      adapter.software ? 'software' : 'hardware',
      adapter.memoryByteLength === undefined ? undefined : formatBytes(adapter.memoryByteLength),
      adapter.pciBusId,
      adapter.uuid,
      adapter.driver,
    ]),
  )
}

/** A table of sensors with one row per device, for `devices` and `monitor`. */
export function sensorTable(
  adapters: readonly Adapter[],
  readings: readonly (Telemetry | undefined)[],
): string {
  return formatTable(
    [
      { title: 'index', align: 'right' },
      { title: 'name' },
      { title: 'busy', align: 'right' },
      { title: 'memory used', align: 'right' },
      { title: 'free', align: 'right' },
      { title: 'power', align: 'right' },
      { title: 'limit', align: 'right' },
      { title: 'temperature', align: 'right' },
      { title: 'fan', align: 'right' },
      { title: 'processes', align: 'right' },
    ],
    adapters.map((adapter, i) => {
      const reading = readings[i] ?? {}
      return [
        String(adapter.index ?? i),
        adapter.name,
        withUnit(
          reading.computeUtilization === undefined ? undefined : reading.computeUtilization * 100,
          '%',
        ),
        reading.memoryUsedByteLength === undefined ? undefined : formatBytes(reading.memoryUsedByteLength),
        reading.memoryFreeByteLength === undefined ? undefined : formatBytes(reading.memoryFreeByteLength),
        withUnit(reading.powerWatts, 'W'),
        withUnit(reading.powerLimitWatts, 'W'),
        withUnit(reading.temperatureCelsius, '°C'),
        withUnit(reading.fanPercent, '%'),
        reading.processes?.length.toString(),
      ]
    }),
  )
}

function processLines(adapters: readonly Adapter[], readings: readonly (Telemetry | undefined)[]): string[] {
  return adapters.flatMap((adapter, i) =>
    (readings[i]?.processes ?? []).map(({ pid, name, memoryByteLength }) => {
      const memory = memoryByteLength === undefined ? 'memory unknown' : formatBytes(memoryByteLength)
      return `  device ${adapter.index ?? i}: process ${pid}${name === undefined ? '' : ` (${name})`}, ${memory}`
    }),
  )
}

function withUnit(value: number | undefined, unit: string): string | undefined {
  return value === undefined ? undefined : `${formatNumber(value)} ${unit}`
}
