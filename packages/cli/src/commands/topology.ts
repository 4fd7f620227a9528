import { GpuError, type Topology, type TopologyLink } from '@tandem-gpu/core'
import { type BackendName, backendsNamed } from '../backends.ts'
import type { CommandModule } from '../command.ts'
import { addBackendOption, addJsonOption } from '../group-options.ts'
import { formatJson } from '../json.ts'
import { formatTable } from '../table.ts'
import { adapterJson } from './devices.ts'

export const command: CommandModule = {
  name: 'topology',
  description: 'show the links between the devices, and which device can access the memory of which',
  examples: ['tandem topology'],
  documents: { topology: '' },
  define(command, context) {
    addJsonOption(addBackendOption(command))
    command.action(async (options: { backend: BackendName; json?: boolean }) => {
      context.terminal.progress.start('Looking for devices')
      const { backend, topology } = await findTopology(options.backend)
      const { adapters, links } = topology
      if (options.json) {
        context.terminal.out(
          formatJson('topology', {
            backend,
            adapters: adapters.map((adapter) => adapterJson(adapter)),
            links,
          }),
        )
        return
      }
      const label = (i: number) => String(adapters[i]!.index ?? i)
      const table = formatTable(
        [{ title: 'from' }, { title: 'device' }, ...adapters.map((_, i) => ({ title: `to ${label(i)}` }))],
        links.map((row, i) => [
          label(i),
          adapters[i]!.pciBusId ?? adapters[i]!.name,
          ...row.map(describeLink),
        ]),
      )
      context.terminal.out(
        `${table}\nNVn: n NVLinks · PCIe: through a PCIe switch or bridge · SYS: between sockets\n`,
      )
    })
  },
}

function describeLink({ kind, linkCount, peerAccess }: TopologyLink): string {
  if (kind === 'self') return '·'
  const names = { nvlink: `NV${linkCount ?? ''}`, pcie: 'PCIe', system: 'SYS', unknown: '?' }
  return `${names[kind]}${peerAccess ? '' : ' (no peer access)'}`
}

async function findTopology(name: BackendName): Promise<{ backend: string; topology: Topology }> {
  const reasons: string[] = []
  for (const backend of backendsNamed(name)) {
    const { adapters, absence } = await backend.adapters()
    if (adapters.length === 0) {
      reasons.push(`${backend.name}: ${absence?.reason ?? 'no devices'}`)
    } else if (backend.topology === undefined) {
      reasons.push(`${backend.name} cannot report the links between its devices.`)
    } else {
      return { backend: backend.name, topology: await backend.topology() }
    }
  }
  throw new GpuError('no-device', `No backend here can report links between devices. ${reasons.join(' ')}`)
}
