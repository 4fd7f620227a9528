import {
  type Adapter,
  type Backend,
  GpuError,
  isGpuError,
  type Runtime,
  type SharingProcesses,
} from '@tandem-gpu/core'
import { innerAdapter } from './adapters.ts'
import type { GroupOpening } from './opening.ts'
import type { MpiSession } from './session.ts'

/** Transports in which the devices need no message of the host's. */
export type JoiningTransport = 'ipc' | 'nccl'

/** Devices that reach those of other ranks by themselves: their memory (`ipc`), or with messages (`nccl`). */
export interface JoinedDevices {
  readonly runtime: Runtime
  /** What is waiting for another rank waits in vain. */
  readonly break: () => void
  readonly close: () => void
}

/**
 * Opens this rank's devices so that they reach those of all ranks, through the inner backend. Throws `unsupported` on all ranks alike, with
 * the reason, where that cannot be.
 */
export async function openJoinedDevices(
  session: MpiSession,
  opening: GroupOpening,
  inner: Backend,
  devices: readonly Adapter[],
  name: JoiningTransport,
  label: string,
): Promise<JoinedDevices> {
  const { rank } = session
  requireDevices(session, devices)
  if (name === 'ipc') requireOneMachine(session)
  const open = (name === 'ipc' ? inner.openShared : inner.openConnected)?.bind(inner)
  // Every rank has the same backend, or the ranks make different calls.
  if (open === undefined)
    throw new GpuError(
      'unsupported',
      `The backend ${inner.name} does not ${name === 'ipc' ? 'share memory' : 'exchange messages'} between processes.`,
    )
  let breakOff!: () => void
  const broken = new Promise<void>((resolve) => {
    breakOff = resolve
  })
  const inVain = broken.then(() => {
    throw new GpuError('device-lost', 'Another rank cannot go on.')
  })
  inVain.catch(() => {})
  const group = opening.numberOf(name)
  session.watchGroup(group, breakOff)
  let key = 0
  const processes: SharingProcesses = {
    rank,
    broken,
    async exchange(message) {
      const text = JSON.stringify([rank, message])
      const said = await Promise.race([
        session.gatherIn(group, key++, text, `makes a call in group "${label}"`),
        inVain,
      ])
      const messages = said.map(({ message }) => JSON.parse(message) as [number, string])
      return messages.toSorted(([a], [b]) => a - b).map(([, text]) => text)
    },
  }
  const close = () => session.endGroup(group)
  try {
    const own = devices.map((device) => (device.rank === rank ? { ...innerAdapter(device), rank } : device))
    return { runtime: await open(own, processes, { label }), break: breakOff, close }
  } catch (error) {
    close()
    throw error
  }
}

function requireOneMachine(session: MpiSession): void {
  const { ranks } = session
  const other = ranks.find(({ machine }) => machine !== ranks[0]!.machine)
  if (other !== undefined)
    throw new GpuError('unsupported', `${session.nameOf(other.rank)} is on another machine than rank 0.`)
}

function requireDevices(session: MpiSession, devices: readonly Adapter[]): void {
  const { ranks } = session
  if (ranks.length < 2) throw new GpuError('unsupported', 'The job has one rank.')
  const without = ranks.find(({ rank }) => devices.every((device) => device.rank !== rank))
  if (without !== undefined)
    throw new GpuError('unsupported', `${session.nameOf(without.rank)} has no device in the group.`)
}

/** The reason of a refusal; throws what is none. */
export function refusalOf(error: unknown): string {
  if (isGpuError(error) && error.code !== 'device-lost') return error.message
  throw error
}
