import { type CompiledKernels, type CompileOptions, compileAll, type DeviceGroup } from '@tandem-gpu/core'

/**
 * Compiles kernels of this package as `compileAll` does, and marks them as terminating: their loops run over
 * the elements that they are given.
 */
export function compileTerminating<T extends Readonly<Record<string, CompileOptions | undefined>>>(
  group: DeviceGroup,
  sources: T,
): Promise<CompiledKernels<T>> {
  const entries = Object.entries(sources).map(
    ([name, source]) => [name, source && { ...source, terminates: true }] as const,
  )
  return compileAll(group, Object.fromEntries(entries) as T)
}
