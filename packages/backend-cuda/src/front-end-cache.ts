import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import type { FrontEndCache } from '@tandem-gpu/core/backend'
import { isBundled } from '@tandem-gpu/core/native'
import { moduleUrl } from '@tandem-gpu/wgsl'
import { KernelCache } from './kernel-cache.ts'

/** Results of the front end, among the compiled kernels. Keeps nothing if the translator has no version. */
export class DiskFrontEndCache implements FrontEndCache {
  readonly #kernels: KernelCache
  readonly #version: () => string | undefined

  constructor(kernels: KernelCache, version = translatorVersion) {
    this.#kernels = kernels
    this.#version = version
  }

  get(key: readonly string[]): unknown {
    const name = this.#name(key)
    const contents = name === undefined ? undefined : this.#kernels.get(name)
    if (contents === undefined) return undefined
    try {
      return deserialize(contents)
    } catch {
      // A newer version of Node wrote it.
      return undefined
    }
  }

  set(key: readonly string[], result: unknown): void {
    const name = this.#name(key)
    if (name !== undefined) void this.#kernels.set(name, serialize(result))
  }

  #name(key: readonly string[]): string | undefined {
    const version = this.#version()
    return version && KernelCache.key(['front end', version, ...key])
  }
}

let found: { readonly version: string | undefined } | undefined

/**
 * A digest of the code of `@tandem-gpu/wgsl`: its version number does not change while someone works on it.
 * Undefined if the code is bundled into another file or cannot be read.
 */
export function translatorVersion(): string | undefined {
  if (found === undefined) {
    try {
      const bundled = isBundled('@tandem-gpu/wgsl', moduleUrl)
      found = { version: bundled ? undefined : digestOf(new URL('.', moduleUrl)) }
    } catch {
      found = { version: undefined }
    }
  }
  return found.version
}

function digestOf(folder: URL): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.[jt]s$/.test(name) || /\.(test|d)\.[jt]s$/.test(name)) continue
    const code = readFileSync(new URL(name, folder))
    hash.update(`${name}:${code.length}:`).update(code)
  }
  return hash.digest('hex')
}
