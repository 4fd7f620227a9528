import type { Allocation, Extent } from '@tandem-gpu/core/backend'
import { bufferUsage } from './constants.ts'
import type { PhysicalDevice } from './physical-device.ts'

/**
 * Memory on one physical device. The GPU's buffer is padded to a multiple of 4 bytes; the padding's contents
 * are unspecified.
 */
export interface PaddedBuffer {
  readonly physical: PhysicalDevice
  readonly gpu: GPUBuffer
  readonly byteLength: number
}

/** An allocation of core: a buffer that one virtual device owns. */
export interface DeviceAllocation extends Allocation, PaddedBuffer {}

/** A part of a buffer. */
export interface DeviceRegion extends Extent {
  readonly buffer: PaddedBuffer
}

export function padTo4(byteLength: number): number {
  return Math.ceil(byteLength / 4) * 4
}

/** A buffer that kernels and copies read and write. Must be called inside an error scope. */
export function createStorageBuffer(
  physical: PhysicalDevice,
  byteLength: number,
  label: string,
): PaddedBuffer {
  const gpu = physical.gpu.createBuffer({
    label,
    size: padTo4(byteLength),
    usage: bufferUsage.storage | bufferUsage.copySource | bufferUsage.copyTarget,
  })
  return { physical, gpu, byteLength }
}

/** A buffer that holds `rows` rows without gaps. */
export function denseRegion(
  buffer: PaddedBuffer,
  like: { rows: number; rowByteLength: number },
): DeviceRegion {
  const { rows, rowByteLength } = like
  return { buffer, byteOffset: 0, rowByteLength, rows, rowByteStride: rowByteLength }
}
