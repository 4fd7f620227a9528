import { GpuError } from '@tandem-gpu/core'
import { isNativeError } from './driver-error.ts'
import type { NativeAddon } from './native-addon.ts'

const remedy =
  "Install NVIDIA's package libnccl2 or nvidia-nccl-cu13. If the library is elsewhere, give its path in libraries.nccl of cuda()."

/** From this version on a communicator takes by its configuration how graphs use it. */
const takesGraphUsage = 22_900

/**
 * Loads NCCL, with settings that it takes from the environment alone, when its first communicator is made.
 * What the user has set stays. NVLS is for collectives, and reserves multicast memory. Mixing lets graphs run
 * beside each other and beside operations outside graphs: each exchange would wait for an event and record
 * one. Rejects with `unsupported`.
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
