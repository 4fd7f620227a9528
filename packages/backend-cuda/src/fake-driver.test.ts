import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openFakeRuntime } from './testing/fake-runtime.ts'
import { testKernelSource } from './testing/test-kernels.ts'

/** The number of mappings of the libraries into which the fake NVRTC has compiled kernels. */
function mappedLibraries(): number {
  const maps = readFileSync('/proc/self/maps', 'latin1')
  return maps.split('\n').filter((line) => line.includes('/tmp/tandem-fake-')).length
}

it('the library of a kernel is unloaded with its last module: a process may have 65,530 mappings', async () => {
  const before = mappedLibraries()
  const runtime = await openFakeRuntime([0])
  const kernel = await runtime.compile(testKernelSource('add'))
  expect(mappedLibraries()).toBeGreaterThan(before)
  runtime.releaseKernel(kernel)
  expect(await runtime.dispose()).toEqual([])
  expect(mappedLibraries()).toBe(before)
})
