import type { Device } from '@tandem-gpu/core'
import { languageFeatures } from '@tandem-gpu/wgsl'
import { GPUAdapter, toAdapterOptions } from './adapter.ts'
import { WGSLLanguageFeatures } from './features.ts'
import { creation, nameInterface, requireCreation } from './interfaces.ts'

/** `navigator.gpu` for one device. */
export class GPU {
  readonly #device: Device
  readonly #timeoutSeconds: number
  readonly #languageFeatures = new WGSLLanguageFeatures(creation, languageFeatures)

  constructor(token: unknown, device: Device, timeoutSeconds: number) {
    requireCreation(token)
    this.#device = device
    this.#timeoutSeconds = timeoutSeconds
  }

  get wgslLanguageFeatures(): WGSLLanguageFeatures {
    return this.#languageFeatures
  }

  getPreferredCanvasFormat(): 'bgra8unorm' {
    return 'bgra8unorm'
  }

  /** Resolves to null if there is no matching adapter. A fallback adapter is one that computes on the CPU. */
  async requestAdapter(options?: unknown): Promise<GPUAdapter | null> {
    const { featureLevel, forceFallbackAdapter } = toAdapterOptions(options)
    if (featureLevel !== 'core' && featureLevel !== 'compatibility') return null
    if (forceFallbackAdapter && !this.#device.info.software) return null
    return new GPUAdapter(creation, this.#device, this.#timeoutSeconds)
  }
}
nameInterface(GPU)
