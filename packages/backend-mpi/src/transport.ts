import { type Adapter, type Backend, GpuError, type Runtime, type Transport } from '@tandem-gpu/core'
import type { MpiSession } from './session.ts'
import { openSharedDevices, refusalOf, type SharedDevices } from './shared-devices.ts'

/** Ways in which data moves between ranks: `ipc` (each rank maps the devices' memory of all), `staged` (messages of host memory), or the first that works. */
export const transportNames = ['auto', 'ipc', 'staged'] as const
export type TransportName = (typeof transportNames)[number]

/** A rank's devices, and how the ranks reach each other. */
export interface OpenedDevices {
  readonly inner: Runtime
  /** Where the transport is `ipc`. */
  readonly shared?: SharedDevices
  readonly transport: Transport
}

/**
 * Opens devices for the transport of that name, or with `auto` for the quickest one that works. All ranks choose alike. Throws `unsupported` on all ranks where
 * the one that is asked for does not work.
 */
export async function openForTransport(
  session: MpiSession,
  backend: Backend,
  devices: readonly Adapter[],
  wanted: TransportName,
  label: string,
  openOwn: () => Promise<Runtime>,
): Promise<OpenedDevices> {
  const said = await session.gather(wanted)
  if (said.length > 1)
    throw new GpuError(
      'validation',
      `The ranks ask for different transports: rank ${said[0]!.rank} for ${said[0]!.message}, rank ${said[1]!.rank} for ${said[1]!.message}.`,
    )
  if (wanted === 'staged') return { inner: await openOwn(), transport: { name: 'staged', refused: [] } }
  try {
    const shared = await openSharedDevices(session, backend, devices, label)
    return { inner: shared.runtime, shared, transport: { name: 'ipc', refused: [] } }
  } catch (error) {
    const reason = refusalOf(error)
    if (wanted === 'ipc')
      throw new GpuError('unsupported', `Transport ipc does not work here: ${reason}`, { cause: error })
    return { inner: await openOwn(), transport: { name: 'staged', refused: [{ name: 'ipc', reason }] } }
  }
}
