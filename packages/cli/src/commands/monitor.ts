import { setTimeout } from 'node:timers/promises'
import { type Adapter, counted, GpuError } from '@tandem-gpu/core'
import { type BackendName, backendsNamed } from '../backends.ts'
import type { CommandModule } from '../command.ts'
import { addBackendOption, wholeNumber } from '../group-options.ts'
import { formatJson } from '../json.ts'
import { beginHandover } from '../terminal.ts'
import { adapterJson, sensorTable } from './devices.ts'

/** The longest delay, in milliseconds, of a timer in Node: longer ones fire immediately. */
const longestInterval = 2 ** 31 - 1

interface MonitorOptions {
  readonly backend: BackendName
  readonly interval: number
  readonly count?: number
  readonly json?: boolean
}

export const command: CommandModule = {
  name: 'monitor',
  description: 'show the sensors of every device until Ctrl-C',
  examples: ['tandem monitor'],
  documents: { monitor: '--count 1 --interval 1' },
  define(command, context) {
    command
      .option('--interval <ms>', 'milliseconds between readings', wholeNumber(1, longestInterval), 1000)
      .option('--count <n>', 'number of readings (default: until Ctrl-C)', wholeNumber(1))
    addBackendOption(command).option('--json', 'print one JSON document per reading instead of text')
    command.action(async (options: MonitorOptions) => {
      const { terminal } = context
      const { out, interactive, signal } = terminal
      terminal.progress.start('Looking for devices')
      const adapters = await adaptersWithSensors(options.backend)
      // The command runs until Ctrl-C.
      beginHandover(terminal)
      for (let reading = 1; !signal.aborted; reading++) {
        const readings = await Promise.all(adapters.map((adapter) => adapter.telemetry?.()))
        if (options.json) {
          const devices = adapters.map((adapter, i) => adapterJson(adapter, readings[i]))
          out(formatJson('monitor', { time: new Date().toISOString(), devices }))
        } else {
          const home = interactive ? '\u001b[H\u001b[2J' : ''
          out(`${home}${new Date().toISOString()}\n${sensorTable(adapters, readings)}\n`)
        }
        if (reading === options.count) return
        // Ctrl-C ends the wait and the command.
        await setTimeout(options.interval, undefined, { signal }).catch(() => {})
        if (signal.aborted) terminal.error(`Stopped after ${counted(reading, 'reading')}.\n`)
      }
    })
  },
}

async function adaptersWithSensors(name: BackendName): Promise<readonly Adapter[]> {
  const reasons: string[] = []
  for (const backend of backendsNamed(name)) {
    const { adapters, absence } = await backend.adapters()
    const readable = adapters.filter(({ telemetry }) => telemetry !== undefined)
    if (readable.length > 0) return readable
    reasons.push(`${backend.name}: ${absence?.reason ?? 'its devices have no sensors that it can read.'}`)
  }
  throw new GpuError('no-device', `No device here has sensors. ${reasons.join(' ')}`)
}
