import type { Adapter } from '@tandem-gpu/core'
import { nameInterface, requireCreation } from './interfaces.ts'

/** Identifies the device of an adapter. */
export class GPUAdapterInfo {
  readonly #adapter: Adapter
  readonly #device = ''

  constructor(token: unknown, adapter: Adapter) {
    requireCreation(token)
    this.#adapter = adapter
  }

  get vendor(): string {
    return identifier(this.#adapter.vendor)
  }

  get architecture(): string {
    return identifier(this.#adapter.architecture ?? '')
  }

  get device(): string {
    return this.#device
  }

  get description(): string {
    return this.#adapter.name
  }

  get subgroupMinSize(): number {
    const { features, subgroupMinSize } = this.#adapter
    return (features.has('subgroups') ? subgroupMinSize : undefined) ?? 4
  }

  get subgroupMaxSize(): number {
    const { features, subgroupMaxSize } = this.#adapter
    return (features.has('subgroups') ? subgroupMaxSize : undefined) ?? 128
  }

  get isFallbackAdapter(): boolean {
    return this.#adapter.software
  }
}
nameInterface(GPUAdapterInfo)

/** The specification's normalized identifier string: lower case letters, digits, and dashes between them. */
function identifier(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
