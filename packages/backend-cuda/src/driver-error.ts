import { GpuError, type GpuErrorCode } from '@tandem-gpu/core'

/** Properties that the addon sets on its errors. */
interface NativeErrorFields {
  /**
   * Either a GpuErrorCode, of which `device-lost` is a fault that destroys the contexts of the process; or
   * `cuda` if the code depends on `result`; `peer-lost` if another process cannot continue; `group-lost` if
   * only this group cannot.
   */
  readonly nativeCode: string
  readonly result: number
}

const newProcess =
  'Such a fault destroys the CUDA contexts of all GPUs in this process, and CUDA cannot create new ones in it. Start a new process.'

/** CUresult values with a specific code; all others are `driver`. */
const codeOfResult: Readonly<Record<number, GpuErrorCode>> = {
  2: 'out-of-memory',
  100: 'no-device',
  200: 'unsupported', // invalid image
  209: 'unsupported', // no binary for this GPU
  221: 'unsupported', // no PTX compiler in the driver
  222: 'unsupported', // PTX is newer than the driver
  701: 'too-large', // out of launch resources
  801: 'unsupported',
}

const remedyOfResult: Readonly<Record<number, string>> = {
  209: 'The kernel was compiled for another architecture or by a CUDA release newer than the driver: update the driver.',
  222: 'The kernel was compiled by a CUDA release newer than the driver: update the driver.',
  701: 'The kernel needs more registers or workgroup memory than one multiprocessor has.',
}

export function isNativeError(error: unknown): error is Error & NativeErrorFields {
  return error instanceof Error && 'nativeCode' in error
}

/**
 * Turns an error of the addon into a GpuError; other errors pass through. `doing` names the failed operation:
 * "Allocating 'a'".
 */
export function toGpuError(error: unknown, doing: string): unknown {
  if (!isNativeError(error)) return error
  if (error.nativeCode === 'device-lost') {
    return new GpuError('device-lost', `${doing} failed: ${error.message} ${newProcess}`, { cause: error })
  }
  if (error.nativeCode === 'peer-lost' || error.nativeCode === 'group-lost')
    return new GpuError('device-lost', `${doing} failed: ${error.message}`, { cause: error })
  if (error.nativeCode === 'aborted') return new GpuError('aborted', error.message, { cause: error })
  const code =
    error.nativeCode === 'cuda'
      ? (codeOfResult[error.result] ?? 'driver')
      : (error.nativeCode as GpuErrorCode)
  const remedy = remedyOfResult[error.result]
  return new GpuError(code, `${doing} failed: ${error.message}${remedy === undefined ? '' : ` ${remedy}`}`, {
    cause: error,
  })
}
