import {
  type Adapter,
  type AdapterReport,
  type Backend,
  describedValue,
  GpuError,
  isGpuError,
  requireOptions,
} from '@tandem-gpu/core'
import type { RankAdapter, RankedRuntime, Runtime } from '@tandem-gpu/core/backend'
import { gatherAdapters, openingOf } from './adapters.ts'
import { openRuntime } from './open-runtime.ts'
import { mpiSession } from './session.ts'
import { openForTransport, type TransportName, transportNames } from './transport.ts'

export interface MpiOptions {
  /**
   * If a host has fewer GPUs than ranks, true lets ranks share a GPU as virtual devices; with false, some
   * ranks have no device. Default false. Software adapters belong to every rank.
   */
  readonly virtual?: boolean | undefined
  /**
   * How data moves between ranks. The default `auto` uses the first of the following that works on all ranks.
   * `ipc`: the ranks of one machine map each other's GPU memory, so that kernels and copies access it as
   * within one process. `nccl`: GPUs send each other messages through NVIDIA's library during their programs,
   * on one or several machines. `gpu-aware`: messages of an MPI that accepts GPU memory itself. `staged`:
   * messages through host memory, which always works. If you name a transport that does not work, opening a
   * group rejects with `unsupported`.
   */
  readonly transport?: TransportName | undefined
  /** Names or paths of MPI libraries, tried before the usual ones. */
  readonly libraries?: readonly string[] | undefined
}

/**
 * The devices of all ranks of an MPI job as one backend; each rank opens its own through `inner`. Every rank
 * must make the same calls in the same order. Nothing is loaded before the first call, which starts MPI once
 * for the process; MPI ends with the process.
 */
export function mpi(inner: Backend<Runtime>, options: MpiOptions = {}): Backend<RankedRuntime> {
  if (typeof inner !== 'object' || inner === null || !('adapters' in inner && 'open' in inner))
    throw new GpuError(
      'validation',
      `The backend of mpi is ${describedValue(inner)}; it must be a backend, as in mpi(cuda()).`,
    )
  requireOptions(options, 'mpi', { virtual: 'boolean', transport: transportNames, libraries: 'object' })
  const { libraries = [] } = options
  if (!(Array.isArray(libraries) && libraries.every((name) => typeof name === 'string')))
    throw new GpuError('validation', 'The option libraries of mpi must be an array of names or paths.')
  return {
    name: `mpi(${inner.name})`,
    async adapters(): Promise<AdapterReport> {
      try {
        const session = await mpiSession(options.libraries)
        return await gatherAdapters(session, inner, options.virtual ?? false)
      } catch (error) {
        // A missing library is reported as an absence; a job that is set up wrongly is an error.
        if (!isGpuError(error, 'no-driver')) throw error
        return { adapters: [], absence: { code: error.code, reason: error.message } }
      }
    },
    async open(adapters, { label = 'mpi' } = {}) {
      const session = await mpiSession(options.libraries)
      if (!adapters.every(isRankAdapter)) {
        const foreign = adapters.find(({ rank }) => rank === undefined)
        throw new GpuError('validation', `Adapter "${foreign?.id}" does not come from ${this.name}.`)
      }
      const opening = openingOf(session, adapters).beginGroup()
      return openRuntime(session, opening, adapters, label, () =>
        openForTransport(session, opening, inner, adapters, options.transport ?? 'auto', label),
      )
    },
  }
}

function isRankAdapter(adapter: Adapter): adapter is RankAdapter {
  return adapter.rank !== undefined
}
