import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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
      found = { version: bundled ? undefined : digestOf(fileURLToPath(new URL('.', moduleUrl))) }
    } catch {
      found = { version: undefined }
    }
  }
  return found.version
}

/** A digest of the modules below a folder. `folder` ends with a slash. */
export function digestOf(folder: string): string {
  const hash = createHash('sha256')
  for (const path of modulesIn(folder)) {
    const code = readFileSync(path)
    hash.update(`${path.slice(folder.length)}:${code.length}:`).update(code)
  }
  return hash.digest('hex')
}

/** The modules below a folder, except for tests and what they use. */
function* modulesIn(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry
    if (entry.isDirectory()) {
      if (name !== 'testing' && name !== 'reference') yield* modulesIn(`${folder}${name}/`)
    } else if (/\.[jt]s$/.test(name) && !/\.(test|d)\.[jt]s$/.test(name)) yield `${folder}${name}`
  }
}
