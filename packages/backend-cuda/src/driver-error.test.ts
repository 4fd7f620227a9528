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
  const cause = native('cuda', 'cuX returns Y.', result)
  const error = toGpuError(cause, "Loading kernel 'k'")
  expect(error).toBeInstanceOf(GpuError)
  expect(error).toMatchObject({ code, message: `Loading kernel 'k' fails: cuX returns Y.${remedy}`, cause })
})

it('says that a lost device needs a new process', () => {
  expect(toGpuError(native('device-lost', 'cuX returns Z.', 700), 'Reading 4 bytes')).toMatchObject({
    code: 'device-lost',
    message:
      'Reading 4 bytes fails: cuX returns Z. Such a fault destroys the contexts of every GPU in this process, and CUDA cannot make new ones here: start a new process.',
  })
})

it('keeps the codes that the addon gives, and errors that are not its own', () => {
  expect(toGpuError(native('aborted', 'The run is aborted after 2 completed launches.'), 'x')).toMatchObject({
    code: 'aborted',
    message: 'The run is aborted after 2 completed launches.',
  })
  expect(toGpuError(native('no-driver', 'None.'), 'Opening 1 CUDA devices')).toMatchObject({
    code: 'no-driver',
    message: 'Opening 1 CUDA devices fails: None.',
  })
  const other = new TypeError('mine')
  expect(toGpuError(other, 'x')).toBe(other)
})
