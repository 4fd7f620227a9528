import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { createBackend } from './backend.ts'
import { dawnPlatform } from './dawn-platform.ts'
import type { WebGpuOptions } from './options.ts'

export type { WebGpuOptions } from './options.ts'

/**
 * WebGPU through Dawn (npm package `webgpu`) in Node. The search for adapters starts with `adapters()`:
 * hardware first, then, unless `software` forbids it, an adapter on the CPU. All virtual devices on one
 * adapter share one `GPUDevice`.
 */
export function webgpu(options: WebGpuOptions = {}): Backend<Runtime> {
  return createBackend(options, dawnPlatform)
}
