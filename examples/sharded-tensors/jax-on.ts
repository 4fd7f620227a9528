import { createRequire } from 'node:module'
import type { Device } from '@tandem-gpu/core'
import { createGPU, install } from '@tandem-gpu/webgpu-api'

export type Jax = typeof import('@jax-js/jax')
export type JaxArray = ReturnType<Jax['numpy']['array']>

const require = createRequire(import.meta.url)

/** A jax-js that computes on one device of a group. */
export interface JaxOnDevice {
  readonly jax: Jax
  /**
   * Puts back what was at `navigator.gpu` before; jax-js does not compute any more. The last one that was
   * made goes first.
   */
  readonly uninstall: () => void
}

/**
 * jax-js asks `navigator.gpu` for one device when it starts, and keeps that for good: so that each device has
 * one, its modules are loaded again for each.
 */
export async function jaxOn(device: Device): Promise<JaxOnDevice> {
  const uninstall = install(await createGPU(device))
  for (const path of Object.keys(require.cache)) if (/@jax-js.jax/.test(path)) delete require.cache[path]
  const jax = require('@jax-js/jax') as Jax
  await jax.init('webgpu')
  jax.defaultDevice('webgpu')
  return { jax, uninstall }
}
