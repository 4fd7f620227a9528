import { GpuError } from '@tandem-gpu/core'
import { isNativeError } from './driver-error.ts'
import type { NativeAddon } from './native-addon.ts'

const remedy =
  "Install NVIDIA's package libnccl2 or nvidia-nccl-cu13. If the library is elsewhere, give its path in libraries.nccl of cuda()."

/** The first version in which a communicator's configuration states how graphs use it. */
const takesGraphUsage = 22_900

/**
 * Loads NCCL, with settings that NCCL only reads from the environment when it creates its first communicator.
 * Settings of the user are kept. NVLS serves collectives only, and reserves multicast memory. With graph
 * mixing, graphs may run concurrently with each other and with operations outside graphs, but each exchange
 * would wait for an event and record one. Rejects with `unsupported`.
 */
export async function loadNccl(addon: NativeAddon, libraries: readonly string[]): Promise<void> {
  process.env.NCCL_NVLS_ENABLE ??= '0'
  try {
    if ((await addon.ncclVersion(libraries)) < takesGraphUsage) process.env.NCCL_GRAPH_MIXING_SUPPORT ??= '0'
  } catch (error) {
    if (!isNativeError(error) || error.nativeCode !== 'unsupported') throw error
    throw new GpuError('unsupported', `${error.message} ${remedy}`, { cause: error })
  }
}
