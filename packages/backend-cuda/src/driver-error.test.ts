import { GpuError } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { toGpuError } from './driver-error.ts'

function native(nativeCode: string, message: string, result = 0): Error {
  return Object.assign(new Error(message), { nativeCode, result })
}

it.each([
  [2, 'out-of-memory', ''],
  [100, 'no-device', ''],
  [
    209,
    'unsupported',
    ' The kernel was compiled for another architecture or by a CUDA release newer than the driver: update the driver.',
  ],
  [
    222,
    'unsupported',
    ' The kernel was compiled by a CUDA release newer than the driver: update the driver.',
  ],
  [701, 'too-large', ' The kernel needs more registers or workgroup memory than one multiprocessor has.'],
  [801, 'unsupported', ''],
  [1, 'driver', ''],
] as const)('gives the result %i of the driver the code %s', (result, code, remedy) => {
  const cause = native('cuda', 'cuX returned Y.', result)
  const error = toGpuError(cause, "Loading kernel 'k'")
  expect(error).toBeInstanceOf(GpuError)
  expect(error).toMatchObject({ code, message: `Loading kernel 'k' failed: cuX returned Y.${remedy}`, cause })
})

it('says that a lost device needs a new process', () => {
  expect(toGpuError(native('device-lost', 'cuX returned Z.', 700), 'Reading 4 bytes')).toMatchObject({
    code: 'device-lost',
    message:
      'Reading 4 bytes failed: cuX returned Z. Such a fault destroys the CUDA contexts of all GPUs in this process, and CUDA cannot create new ones in it. Start a new process.',
  })
})

it('keeps the codes that the addon gives, and errors that are not its own', () => {
  expect(toGpuError(native('aborted', 'The run was aborted after 2 completed launches.'), 'x')).toMatchObject(
    {
      code: 'aborted',
      message: 'The run was aborted after 2 completed launches.',
    },
  )
  expect(toGpuError(native('no-driver', 'None.'), 'Opening 1 CUDA devices')).toMatchObject({
    code: 'no-driver',
    message: 'Opening 1 CUDA devices failed: None.',
  })
  const other = new TypeError('mine')
  expect(toGpuError(other, 'x')).toBe(other)
})
