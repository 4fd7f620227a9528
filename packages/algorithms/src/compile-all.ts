import type { CompileOptions, DeviceGroup, Kernel } from '@tandem-gpu/core'

/** Compiles several kernels at once, by name; when one fails, none is left behind. A source that is undefined gives a kernel that is undefined. */
export async function compileAll<T extends Record<string, CompileOptions | undefined>>(
  group: DeviceGroup,
  sources: T,
): Promise<{
  kernels: { [K in keyof T]: undefined extends T[K] ? Kernel | undefined : Kernel }
  destroy(): void
}> {
  const names = Object.keys(sources)
  const results = await Promise.allSettled(names.map((name) => sources[name] && group.compile(sources[name])))
  const kernels = results.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
  const destroy = () => {
    for (const kernel of kernels) kernel?.destroy()
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    destroy()
    throw failed.reason
  }
  return { kernels: Object.fromEntries(names.map((name, i) => [name, kernels[i]])) as never, destroy }
}
