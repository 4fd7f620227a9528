import { GpuError } from '@tandem-gpu/core'
import type { HostAllocation } from '@tandem-gpu/core/backend'
import type { NativeGroup } from './native-addon.ts'

/**
 * Host memory that is page-locked on the group's native thread, or reused, still locked, from freed memory of
 * the same size: unlocking waits for the GPU.
 */
export interface CudaHostAllocation extends HostAllocation {
  readonly locked: Promise<void>
  readonly mapped: boolean
  readonly address: number
}

/**
 * Above this size, host memory is an ordinary ArrayBuffer: Node 20 creates no external ones above 4 GiB, and
 * its allocator uses separate pages for such sizes.
 */
const largestMappedByteLength = 2 ** 30

/** `guarded` wraps the locking: it turns native errors into `GpuError`s. Throws `out-of-memory`. */
export function allocateHost(
  native: NativeGroup,
  byteLength: number,
  guarded: (lock: () => Promise<void>) => Promise<void>,
): CudaHostAllocation {
  let mapping: ReturnType<NativeGroup['mapHost']>
  let arrayBuffer: ArrayBuffer
  try {
    mapping = byteLength <= largestMappedByteLength ? native.mapHost(byteLength) : undefined
    arrayBuffer = mapping?.arrayBuffer ?? new ArrayBuffer(byteLength)
  } catch (error) {
    throw new GpuError('out-of-memory', `The host does not have ${byteLength} bytes of free memory.`, {
      cause: error,
    })
  }
  if (mapping?.locked)
    return { arrayBuffer, locked: Promise.resolve(), mapped: true, address: mapping.address }
  let address = 0
  const locked = guarded(() => {
    const locking = native.lockHost(arrayBuffer)
    address = locking.address
    return locking.locked
  })
  // Users of the memory await `locked`.
  locked.catch(() => {})
  return { arrayBuffer, locked, mapped: mapping !== undefined, address }
}

/**
 * Detaches the ArrayBuffer at once. When the work queued so far is done, its pages are released, or reused
 * for the next allocation of the same size.
 */
export function freeHost(native: NativeGroup, { arrayBuffer, mapped, address }: CudaHostAllocation): void {
  // The pages must stay until they are unlocked. Those of a mapped buffer do; those of an ordinary buffer are
  // transferred to an array that only the native job holds. The caller may have detached it.
  const moves = !mapped && arrayBuffer.byteLength > 0
  const held = moves ? structuredClone(arrayBuffer, { transfer: [arrayBuffer] }) : arrayBuffer
  void native.unlockHost(address, held, mapped).catch(() => {})
}
