import { type Backend, GpuError, isGpuError } from '@tandem-gpu/core'
import type { Link, RankAdapter, Runtime } from '@tandem-gpu/core/backend'
import { LinkedDevices } from './linked-devices.ts'
import type { GroupOpening } from './opening.ts'
import type { RankDevices } from './rank-devices.ts'
import { ScheduledDevices } from './scheduled-devices.ts'
import type { MpiSession } from './session.ts'

/** Links that backends may have, the fastest first, and what a backend without the link cannot do. */
const knownLinks = {
  ipc: 'share memory between processes',
  nccl: 'exchange messages between processes',
  'gpu-aware': 'pass addresses of device memory to MPI',
} as const

/**
 * How data moves between ranks: through a link of the inner backend, or `staged` (messages of MPI through
 * host memory), which always works. `auto` uses the first that works.
 */
export type TransportName = 'auto' | keyof typeof knownLinks | 'staged'
export const transportNames: readonly string[] = ['auto', ...Object.keys(knownLinks), 'staged']

/**
 * Opens devices for the named transport, or with `auto` for the fastest one that works. All ranks make the
 * same choice. Throws `unsupported` on all ranks if the requested transport does not work.
 */
export async function openForTransport(
  session: MpiSession,
  opening: GroupOpening,
  backend: Backend<Runtime>,
  devices: readonly RankAdapter[],
  wanted: TransportName,
  label: string,
): Promise<RankDevices> {
  const said = await opening.gather(wanted)
  if (said.length > 1)
    throw new GpuError(
      'validation',
      `The ranks requested different transports: rank ${said[0]!.rank} requested ${said[0]!.message}, rank ${said[1]!.rank} requested ${said[1]!.message}.`,
    )
  const refused: { name: string; reason: string }[] = []
  const links = (backend.links ?? []).map(({ name }) => name)
  // Includes links that the backend lacks, so that the report explains why they are not used.
  const all = [...new Set([...links, ...Object.keys(knownLinks)])]
  const names = wanted === 'auto' ? all : wanted === 'staged' ? [] : [wanted]
  for (const name of names)
    try {
      const link = linkNamed(session, backend, name)
      const transport = { name, refused }
      if (link.plans === 'segments')
        return await ScheduledDevices.openAddressed(session, opening, link, devices, transport, label)
      return await LinkedDevices.open(session, opening, link, devices, transport, label)
    } catch (error) {
      if (!isGpuError(error) || error.code === 'device-lost') throw error
      const reason = error.message
      if (name === wanted)
        throw new GpuError('unsupported', `Transport ${name} does not work here: ${reason}`, { cause: error })
      refused.push({ name, reason })
    }
  return ScheduledDevices.open(session, backend, devices, { name: 'staged', refused }, label)
}

/**
 * Throws `unsupported` if the job or the backend does not support the link. All ranks have the same backend,
 * so it throws on all or on none.
 */
function linkNamed(session: MpiSession, backend: Backend, name: string): Link {
  const { ranks } = session
  if (ranks.length < 2) throw new GpuError('unsupported', 'The job has only one rank.')
  const link = backend.links?.find((link) => link.name === name)
  if (link === undefined)
    throw new GpuError(
      'unsupported',
      `The backend ${backend.name} does not ${knownLinks[name as keyof typeof knownLinks]}.`,
    )
  const other = ranks.find(({ machine }) => machine !== ranks[0]!.machine)
  if (link.reach === 'machine' && other !== undefined)
    throw new GpuError('unsupported', `${session.nameOf(other.rank)} is not on the same machine as rank 0.`)
  return link
}
