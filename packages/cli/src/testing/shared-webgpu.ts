import type { Backend } from '@tandem-gpu/core'
import { openedOnce } from '@tandem-gpu/core/testing'

let first: Backend | undefined

/** The first WebGPU backend of this process, for all commands that tests run in it: each kernel is compiled once, which takes a CPU seconds. */
export function sharedWebGpu(backend: Backend): Backend {
  first ??= backend
  return openedOnce(first)
}
