import { type Adapter, type Backend, GpuError, type Runtime } from '@tandem-gpu/core'
import { HostRuntime } from './host-runtime.ts'
import type { GroupOpening } from './opening.ts'
import type { MpiSession } from './session.ts'

/**
 * Opens this rank's devices so that MPI takes messages from their memory and puts them there. Throws `unsupported` on all ranks alike, with the
 * reason, where that cannot be on one of them.
 */
export async function openAddressableDevices(
  session: MpiSession,
  opening: GroupOpening,
  backend: Backend,
  own: readonly Adapter[],
  label: string,
): Promise<Runtime> {
  if (session.ranks.length < 2) throw new GpuError('unsupported', 'The job has one rank.')
  let opened: Runtime | undefined
  let failure: unknown
  try {
    if (backend.openAddressable === undefined)
      throw new GpuError(
        'unsupported',
        `The backend ${backend.name} does not give an MPI addresses of device memory.`,
      )
    requireGpuAware(session)
    opened = own.length > 0 ? await backend.openAddressable(own, { label }) : new HostRuntime()
  } catch (error) {
    failure = error
  }
  const reason = failure === undefined ? '' : failure instanceof Error ? failure.message : String(failure)
  const said = await opening.gather(reason)
  const refusal = said.find(({ message }) => message !== '')
  if (refusal === undefined) return opened!
  await opened?.dispose()
  if (failure !== undefined) throw failure
  throw new GpuError('unsupported', `${session.nameOf(refusal.rank)}: ${refusal.message}`)
}

function requireGpuAware({ gpuAware, library }: MpiSession): void {
  if (gpuAware?.supported) return
  const name = `${library.family} (${library.path})`
  throw new GpuError(
    'unsupported',
    gpuAware === undefined
      ? `${name} does not say whether it takes addresses of GPU memory.`
      : `${name} does not take addresses of GPU memory: ${gpuAware.asked} says so.`,
  )
}
