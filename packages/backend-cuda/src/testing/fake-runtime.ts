import { afterEach, expect } from 'vitest'
import { findAdapters } from '../adapters.ts'
import type { CudaRuntimeOptions } from '../cuda-runtime.ts'
import { KernelCache } from '../kernel-cache.ts'
import { KernelCompiler } from '../kernel-compiler.ts'
import { LocalRuntime } from '../local-runtime.ts'
import { nativeAddon } from '../native-addon.ts'
import { fakeLibraries } from './fake-driver.ts'
import { translateTestKernel } from './test-kernels.ts'

/**
 * Opens a runtime on the fake driver with the test kernels. `indices`: the CUDA device of each opened device;
 * repeated ones become virtual devices.
 */
export async function openFakeRuntime(
  indices: readonly number[],
  { cacheDirectory, ...options }: Partial<CudaRuntimeOptions> & { readonly cacheDirectory?: string } = {},
): Promise<LocalRuntime> {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const libraries = fakeLibraries()
  const { adapters, probe } = await findAdapters(addon, libraries)
  const ordinals = [...new Set(indices)]
  return new LocalRuntime({
    native: await addon.openGroup(libraries.cuda, ordinals),
    adapters: indices.map((index) => adapters[index]!),
    gpuOfDevice: indices.map((index) => ordinals.indexOf(index)),
    compiler: new KernelCompiler({
      addon,
      nvrtc: libraries.nvrtc,
      driverVersion: probe!.driverVersion,
      fmad: true,
      cache: cacheDirectory === undefined ? undefined : new KernelCache({ directory: cacheDirectory }),
      shippedKernels: undefined,
    }),
    translate: translateTestKernel,
    peerAccess: true,
    lowering: 'graph-per-gpu',
    label: 'test',
    ...options,
  })
}

/**
 * Opens such runtimes for the tests of a file; after each test, they are closed and must leave nothing
 * behind.
 */
export function fakeRuntimesOfTests(
  options: Parameters<typeof openFakeRuntime>[1] = {},
): typeof openFakeRuntime {
  const opened: LocalRuntime[] = []
  afterEach(async () => {
    for (const runtime of opened.splice(0)) expect(await runtime.dispose()).toEqual([])
  })
  return async (indices, more) => {
    const runtime = await openFakeRuntime(indices, { ...options, ...more })
    opened.push(runtime)
    return runtime
  }
}
