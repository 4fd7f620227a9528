import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface KernelCacheOptions {
  /** Default: `tandem/kernels` in the user's cache folder. */
  readonly directory?: string | undefined
  /** Default 256 MiB. The least recently used entries go first. */
  readonly maxByteLength?: number | undefined
}

const defaultMaxByteLength = 256 * 1024 * 1024
const suffix = '.cubin'
const digestByteLength = 32
/** What an interrupted process leaves behind goes after an hour. */
const staleMilliseconds = 3_600_000

/**
 * Compiled kernels on disk, shared by concurrent processes. Entries appear by rename, carry a digest of their contents, and a damaged
 * one is a miss. Trouble with the disk is never an error: the kernel is compiled again.
 */
export class KernelCache {
  readonly directory: string
  readonly #maxByteLength: number

  constructor({ directory, maxByteLength = defaultMaxByteLength }: KernelCacheOptions = {}) {
    this.directory = directory ?? defaultDirectory()
    this.#maxByteLength = maxByteLength
  }

  /** The name of an entry: a digest of everything that its contents depend on. */
  static key(parts: readonly string[]): string {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(`${part.length}:`).update(part)
    return hash.digest('hex')
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const path = this.#path(key)
    try {
      const file = await readFile(path)
      const contents = new Uint8Array(file.subarray(digestByteLength))
      if (!digest(contents).equals(file.subarray(0, digestByteLength))) {
        await rm(path, { force: true })
        return undefined
      }
      const now = new Date()
      await utimes(path, now, now).catch(() => undefined)
      return contents
    } catch {
      return undefined
    }
  }

  async set(key: string, contents: Uint8Array): Promise<void> {
    const temporary = join(this.directory, `${key}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
    try {
      await mkdir(this.directory, { recursive: true })
      await writeFile(temporary, Buffer.concat([digest(contents), contents]))
      await rename(temporary, this.#path(key))
      await this.#evict()
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined)
    }
  }

  #path(key: string): string {
    return join(this.directory, key + suffix)
  }

  async #evict(): Promise<void> {
    const entries = []
    for (const name of await readdir(this.directory)) {
      const path = join(this.directory, name)
      // Another process may remove the file first.
      const info = await stat(path).catch(() => undefined)
      if (info === undefined) continue
      if (name.endsWith(suffix)) entries.push({ path, size: info.size, used: info.mtimeMs })
      else if (name.endsWith('.tmp') && Date.now() - info.mtimeMs > staleMilliseconds)
        await rm(path, { force: true })
    }
    let total = entries.reduce((sum, entry) => sum + entry.size, 0)
    entries.sort((a, b) => a.used - b.used)
    for (const entry of entries) {
      if (total <= this.#maxByteLength) break
      await rm(entry.path, { force: true })
      total -= entry.size
    }
  }
}

function digest(contents: Uint8Array): Buffer {
  return createHash('sha256').update(contents).digest()
}

/** Where each system keeps caches. Environment variables are the caller's business (`directory`). */
function defaultDirectory(): string {
  const home = homedir()
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'tandem', 'kernels')
  if (process.platform === 'win32') return join(home, 'AppData', 'Local', 'tandem', 'kernels')
  return join(home, '.cache', 'tandem', 'kernels')
}
