import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'

export const backendNames = ['auto', 'cuda', 'webgpu'] as const
export type BackendName = (typeof backendNames)[number]

/** In order of preference; `auto` is every backend there is. The only place that names backends. */
export function backendsNamed(name: BackendName): Backend[] {
  const makers = { cuda: () => cuda(), webgpu: () => webgpu() }
  return name === 'auto' ? [makers.cuda(), makers.webgpu()] : [makers[name]()]
}
