import type { Adapter } from '@tandem-gpu/core'
import { nameInterface, requireCreation } from './interfaces.ts'

/** Identifies the device of an adapter. */
export class GPUAdapterInfo {
  readonly #adapter: Adapter

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
    return ''
  }

  get description(): string {
    return this.#adapter.name
  }

  get subgroupMinSize(): number {
    return this.#adapter.subgroupMinSize ?? 32
  }

  get subgroupMaxSize(): number {
    return this.#adapter.subgroupMaxSize ?? 32
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
