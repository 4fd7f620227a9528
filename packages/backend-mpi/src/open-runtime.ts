import { GpuError, isGpuError } from '@tandem-gpu/core'
import { allOrNone, type RankAdapter, type RankedRuntime } from '@tandem-gpu/core/backend'
import { MpiRuntime } from './mpi-runtime.ts'
import { settled } from './native-addon.ts'
import type { GroupOpening } from './opening.ts'
import type { RankDevices } from './rank-devices.ts'
import type { MpiSession } from './session.ts'

/** Opens this rank's devices, and waits until all ranks have. */
export async function openRuntime(
  session: MpiSession,
  opening: GroupOpening,
  devices: readonly RankAdapter[],
  label: string,
  open: () => Promise<RankDevices>,
): Promise<RankedRuntime> {
  const { rank } = session
  const ids = devices.map(({ id }) => id)
  const own = devices.filter((device) => device.rank === rank)
  const say = (message: string) => opening.gather(message)
  const ready = open()
  try {
    const said = await allOrNone(
      async () => {
        const { inner, sharesMemory } = await ready
        const pairs = own.flatMap((_, reader) => own.map((_, owner) => ({ reader, owner })))
        const peers = sharesMemory ? [] : pairs.map(({ reader, owner }) => inner.canAccessPeer(reader, owner))
        return { rank, ids, peers }
      },
      {
        say,
        sentence: (rank, message) => `${session.nameOf(rank)} cannot open its devices: ${message}`,
      },
    )
    for (const { result } of said)
      if (result.ids.join() !== ids.join())
        throw new GpuError(
          'validation',
          `The ranks opened different devices: ${session.nameOf(result.rank)} opened ${result.ids.join(', ')}; ${session.nameOf(rank)} opened ${ids.join(', ')}.`,
        )
    await openCommunicator(session, opening)
    const peers = new Map(said.map(({ result }) => [result.rank, result.peers]))
    return new MpiRuntime(session, opening.numberOf('group'), devices, await ready, peers, label)
  } catch (error) {
    const opened = await ready.catch(() => undefined)
    await opened?.inner.dispose()
    opened?.close()
    throw error
  } finally {
    opening.end()
  }
}

/** If it throws, it throws the same error on every rank. */
async function openCommunicator(session: MpiSession, opening: GroupOpening): Promise<void> {
  const failure: unknown = await settled(session.addon.openGroup(opening.numberOf('group'))).catch(
    (error: unknown) => error,
  )
  // Every rank then gets this error itself.
  if (isGpuError(failure, 'device-lost')) throw failure
  await allOrNone(
    async () => {
      if (failure !== undefined) throw failure
    },
    {
      say: (message) => opening.gather(message),
      sentence: (rank, message) => `${session.nameOf(rank)}: ${message}`,
    },
  )
}
