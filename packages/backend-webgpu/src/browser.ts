import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { createBackend } from './backend.ts'
import { browserPlatform } from './browser-platform.ts'
import type { WebGpuOptions } from './options.ts'

export type { WebGpuOptions } from './options.ts'

/**
 * WebGPU through `navigator.gpu`: browsers, workers, Deno. All virtual devices on one adapter share one
 * `GPUDevice`.
 */
export function webgpu(options: WebGpuOptions = {}): Backend<Runtime> {
  return createBackend(options, browserPlatform)
}
