import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { openedOnce } from '@tandem-gpu/core/testing'

let first: Backend<Runtime> | undefined

/**
 * The first WebGPU backend of this process, for all commands that tests run in it: each kernel is compiled
 * only once, which takes seconds on a CPU.
 */
export function sharedWebGpu(backend: Backend): Backend<Runtime> {
  // Only for one process: this backend cannot be part of a job.
  first ??= backend as Backend<Runtime>
  return openedOnce(first)
}
