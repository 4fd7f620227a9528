import { type SelectBy, type Selection, selectAdapters } from '@tandem-gpu/core'
import type { BackendName } from '../backends.ts'
import type { CommandModule } from '../command.ts'
import {
  addBackendOption,
  addJsonOption,
  byOption,
  mostDevices,
  openGroupOptions,
  wholeNumber,
} from '../group-options.ts'
import { formatJson } from '../json.ts'
import { formatNumber } from '../quantity.ts'
import { formatTable } from '../table.ts'
import { adapterJson } from './devices.ts'

interface SelectOptions {
  readonly backend: BackendName
  readonly count: number
  readonly by: SelectBy
  readonly explain?: boolean
  readonly json?: boolean
}

export const command: CommandModule = {
  name: 'select',
  description: 'choose the least loaded devices',
  examples: ['tandem select --count 2 --by memory', 'tandem select --explain'],
  documents: { select: '' },
  define(command, context) {
    command
      .option('--count <n>', 'number of devices', wholeNumber(1, mostDevices), 1)
      .addOption(byOption('utilization'))
      .option('--explain', 'show the rank of every device, and the reason')
    addJsonOption(addBackendOption(command))
    command.action(async (options: SelectOptions) => {
      context.terminal.progress.start('Looking for devices')
      const selection = await selectAdapters(openGroupOptions({ ...options, devices: options.count }))
      context.terminal.out(options.json ? asJson(options, selection) : asText(options, selection))
    })
  },
}

function asJson({ by, count }: SelectOptions, { chosen, ranked, backends, reason }: Selection): string {
  return formatJson('select', {
    by,
    count,
    reason,
    chosen: chosen.map((adapter) => adapterJson(adapter)),
    ranked: ranked.map(({ adapter, telemetry, ...rest }) => ({
      ...rest,
      adapter: adapterJson(adapter, telemetry),
    })),
    backends,
  })
}

function asText({ explain }: SelectOptions, { chosen, ranked, backends, reason }: Selection): string {
  const lines = chosen.map((adapter) => [adapter.backend, adapter.id, adapter.name].join('  '))
  if (explain) {
    lines.push('', reason)
    lines.push(
      ...backends.map(({ name, adapters, absence }) => `${name}: ${absence?.reason ?? `${adapters} found`}`),
    )
    lines.push('', rankTable(ranked))
  }
  return `${lines.join('\n')}\n`
}

function rankTable(ranked: Selection['ranked']): string {
  return formatTable(
    [
      { title: 'rank', align: 'right' },
      { title: 'device' },
      { title: 'name' },
      { title: 'score', align: 'right' },
      { title: 'why' },
    ],
    ranked.map(({ adapter, rank, score, reason }) => [
      String(rank),
      adapter.id,
      adapter.name,
      score === undefined ? undefined : formatNumber(score),
      reason,
    ]),
  )
}
