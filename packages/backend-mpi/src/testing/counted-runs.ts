import type { Backend, Runtime } from '@tandem-gpu/core'

/** The backend, and how often its runtimes have been asked to run something. */
export function countedRuns(inner: Backend): { readonly backend: Backend; readonly runs: () => number } {
  let runs = 0
  const counting = (runtime: Runtime) => {
    const run = runtime.run.bind(runtime)
    runtime.run = (...given) => {
      runs++
      return run(...given)
    }
    return runtime
  }
  const { openAddressable, openShared, openConnected } = inner
  const backend: Backend = {
    ...inner,
    adapters: () => inner.adapters(),
    open: async (...args) => counting(await inner.open(...args)),
    ...(openAddressable && {
      openAddressable: async (...args) => counting(await openAddressable.apply(inner, args)),
    }),
    ...(openShared && { openShared: async (...args) => counting(await openShared.apply(inner, args)) }),
    ...(openConnected && {
      openConnected: async (...args) => counting(await openConnected.apply(inner, args)),
    }),
  }
  return { backend, runs: () => runs }
}
