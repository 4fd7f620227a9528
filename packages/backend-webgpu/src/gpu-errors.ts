import { GpuError } from '@tandem-gpu/core'

/**
 * Converts an error that a WebGPU error scope caught to a `GpuError`. `action` completes the sentence "The
 * device failed to ...".
 */
export function toGpuError(error: GPUError, device: string, action: string): GpuError {
  // Removes Dawn's stack of its own source, which does not help users.
  const message = error.message.replace(/\n +at .*/g, '').trim()
  if (isKind(error, 'GPUOutOfMemoryError')) {
    return new GpuError(
      'out-of-memory',
      `The device "${device}" has no memory left to ${action}: ${message}`,
      {
        cause: error,
      },
    )
  }
  return new GpuError('driver', `The device "${device}" failed to ${action}: ${message}`, { cause: error })
}

/** Dawn in Node has no global error classes, so they are distinguished by name. */
function isKind(error: GPUError, name: string): boolean {
  return error.constructor.name === name || Object.prototype.toString.call(error) === `[object ${name}]`
}

export function lostError(device: string, info: { reason: string; message: string }): GpuError {
  const why = info.message.trim() || 'the driver gave no reason'
  return new GpuError('device-lost', `The device "${device}" was lost (${info.reason}): ${why}`)
}
