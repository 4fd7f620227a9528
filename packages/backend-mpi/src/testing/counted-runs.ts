import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { observeRuntimes } from '@tandem-gpu/core/testing'

/** A backend, and the number of runs that its runtimes were asked for. */
export function countedRuns(inner: Backend<Runtime>): {
  readonly backend: Backend<Runtime>
  readonly runs: () => number
} {
  let runs = 0
  const backend = observeRuntimes(inner, (runtime) => {
    const run = runtime.run.bind(runtime)
    runtime.run = (...given) => {
      runs++
      return run(...given)
    }
  })
  return { backend, runs: () => runs }
}
