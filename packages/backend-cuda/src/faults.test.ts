// In a separate file, because after a fault nothing runs on any GPU of the process, and each test file has
// its own process.
import { isGpuError } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { openFakeRuntime } from './testing/fake-runtime.ts'
import { dispatch, plan, region } from './testing/plan-text.ts'
import { testKernelSource } from './testing/test-kernels.ts'

it('loses every group of the process at an illegal access, and says that a new process is needed', async () => {
  const [first, second] = [await openFakeRuntime([0]), await openFakeRuntime([1])]
  const kernel = await first.compile(testKernelSource('faulting'))
  const a = await first.allocate(0, 64, { label: 'a', zero: true })
  const b = await second.allocate(0, 64, { label: 'b', zero: true })
  const whole = region(0, 0, 64)
  const executable = await first.instantiate(plan([a], [dispatch(0, whole, whole, 0)], [kernel], [1]))
  const running = first.run(executable, { times: 3 }).catch((e: unknown) => e)
  const pending = first
    .read({ allocation: a, byteOffset: 0, rowByteLength: 64, rows: 1, rowByteStride: 64 }, new Uint8Array(64))
    .catch((e: unknown) => e)
  const error = await running
  expect(isGpuError(error, 'device-lost')).toBe(true)
  expect(String(error)).toMatch(/CUDA_ERROR_ILLEGAL_ADDRESS.*all GPUs in this process.*Start a new process/)
  expect(isGpuError(await pending, 'device-lost')).toBe(true)
  for (const runtime of [first, second]) {
    expect(await runtime.lost).toMatchObject({
      reason: 'unknown',
      message: expect.stringMatching(/new process/),
    })
  }
  const later = await second
    .write({ allocation: b, byteOffset: 0, rowByteLength: 4, rows: 1, rowByteStride: 4 }, new Uint8Array(4))
    .catch((e: unknown) => e)
  expect(isGpuError(later, 'device-lost')).toBe(true)
  const reopened = await openFakeRuntime([0]).catch((e: unknown) => e)
  expect(String(reopened)).toMatch(/CUDA_ERROR_ILLEGAL_ADDRESS/)
  await first.dispose()
  await second.dispose()
})
