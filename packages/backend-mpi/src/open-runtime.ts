import { type Adapter, GpuError, type GpuErrorCode, isGpuError, type Runtime } from '@tandem-gpu/core'
import { MpiRuntime } from './mpi-runtime.ts'
import { settled } from './native-addon.ts'
import type { GroupOpening } from './opening.ts'
import type { MpiSession } from './session.ts'
import type { OpenedDevices } from './transport.ts'

/** Opens this rank's devices, and waits until all ranks have. */
export async function openRuntime(
  session: MpiSession,
  opening: GroupOpening,
  devices: readonly Adapter[],
  label: string,
  open: () => Promise<OpenedDevices>,
): Promise<Runtime> {
  const { rank } = session
  let opened: OpenedDevices | undefined
  let failure: unknown
  try {
    opened = await open()
  } catch (error) {
    failure = error
  }
  const inner = opened?.inner
  const own = devices.filter((device) => device.rank === rank)
  const said = await opening.gather(
    JSON.stringify({
      rank,
      devices: devices.map(({ id }) => id),
      peers:
        inner &&
        opened?.transport.name !== 'ipc' &&
        own.flatMap((_, reader) => own.map((_, owner) => inner.canAccessPeer(reader, owner))),
      ...(failure !== undefined && {
        code: isGpuError(failure) ? failure.code : 'driver',
        reason: failure instanceof Error ? failure.message : String(failure),
      }),
    }),
  )
  try {
    const peers = new Map<number, boolean[]>()
    for (const { message } of said) {
      const other = JSON.parse(message) as {
        rank: number
        devices: string[]
        peers?: boolean[] | false
        code?: GpuErrorCode
        reason?: string
      }
      if (other.code !== undefined)
        throw other.rank === rank
          ? failure
          : new GpuError(other.code, `${session.nameOf(other.rank)} cannot open its devices: ${other.reason}`)
      if (other.devices.join() !== devices.map(({ id }) => id).join())
        throw new GpuError(
          'validation',
          `The ranks open different devices: ${session.nameOf(other.rank)} opens ${other.devices.join(', ')}; ${session.nameOf(rank)} opens ${devices.map(({ id }) => id).join(', ')}.`,
        )
      if (other.peers) peers.set(other.rank, other.peers)
    }
    await openCommunicator(session, opening)
    return new MpiRuntime(session, opening.numberOf('group'), devices, opened!, peers, label)
  } catch (error) {
    await inner?.dispose()
    opened?.joined?.close()
    throw error
  } finally {
    opening.end()
  }
}

/** Throws on every rank alike. */
async function openCommunicator(session: MpiSession, opening: GroupOpening): Promise<void> {
  const failure = await settled(session.addon.openGroup(opening.numberOf('group'))).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (isGpuError(failure, 'device-lost')) throw failure
  const said = await opening.gather(failure instanceof Error ? failure.message : '')
  if (failure !== undefined) throw failure
  const refusal = said.find(({ message }) => message !== '')
  if (refusal !== undefined)
    throw new GpuError('out-of-memory', `${session.nameOf(refusal.rank)}: ${refusal.message}`)
}
