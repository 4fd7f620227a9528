import { type Adapter, type Backend, GpuError, type Runtime, type Transport } from '@tandem-gpu/core'
import { innerAdapter } from './adapters.ts'
import { openAddressableDevices } from './addressable-devices.ts'
import { HostRuntime } from './host-runtime.ts'
import { type JoinedDevices, openJoinedDevices, refusalOf } from './joined-devices.ts'
import type { GroupOpening } from './opening.ts'
import type { MpiSession } from './session.ts'

/**
 * Ways in which data moves between ranks, the quickest first: `ipc` (each rank maps the devices' memory of all), `nccl` (messages between devices,
 * inside their programs), `gpu-aware` (messages of MPI from device memory), `staged` (messages of MPI from host memory). `auto` takes the first that works.
 */
export const transportNames = ['auto', 'ipc', 'nccl', 'gpu-aware', 'staged'] as const
/** What `auto` tries, in this order, before `staged`, which always works. */
const quickest = ['ipc', 'nccl', 'gpu-aware'] as const
export type TransportName = (typeof transportNames)[number]

/** A rank's devices, and how the ranks reach each other. */
export interface OpenedDevices {
  readonly inner: Runtime
  /** Where the devices need no message of the host's. */
  readonly joined?: JoinedDevices
  readonly transport: Transport
}

/**
 * Opens devices for the transport of that name, or with `auto` for the quickest one that works. All ranks choose alike. Throws `unsupported` on all ranks where
 * the one that is asked for does not work.
 */
export async function openForTransport(
  session: MpiSession,
  opening: GroupOpening,
  backend: Backend,
  devices: readonly Adapter[],
  wanted: TransportName,
  label: string,
): Promise<OpenedDevices> {
  const said = await opening.gather(wanted)
  if (said.length > 1)
    throw new GpuError(
      'validation',
      `The ranks ask for different transports: rank ${said[0]!.rank} for ${said[0]!.message}, rank ${said[1]!.rank} for ${said[1]!.message}.`,
    )
  const own = devices.filter(({ rank }) => rank === session.rank).map(innerAdapter)
  const tried = wanted === 'auto' ? quickest : [wanted]
  const refused: { name: string; reason: string }[] = []
  for (const name of tried)
    try {
      if (name === 'staged') break
      if (name === 'gpu-aware') {
        const inner = await openAddressableDevices(session, opening, backend, own, label)
        return { inner, transport: { name, refused } }
      }
      const joined = await openJoinedDevices(session, opening, backend, devices, name, label)
      return { inner: joined.runtime, joined, transport: { name, refused } }
    } catch (error) {
      const reason = refusalOf(error)
      if (name === wanted)
        throw new GpuError('unsupported', `Transport ${name} does not work here: ${reason}`, { cause: error })
      refused.push({ name, reason })
    }
  const inner = own.length > 0 ? await backend.open(own, { label }) : new HostRuntime()
  return { inner, transport: { name: 'staged', refused } }
}
