import { createHash, randomBytes } from 'node:crypto'
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeFolder, readRegularFile } from '@tandem-gpu/core/native'

export interface KernelCacheOptions {
  /**
   * Default: `~/.cache/tandem/kernels`; environment variables are left to the caller. Files in this folder
   * run on the GPU, so a folder that another user owns or can write to is not used.
   */
  readonly directory?: string | undefined
  /** Default 256 MiB. The least recently used entries are removed first. */
  readonly maxByteLength?: number | undefined
}

const defaultMaxByteLength = 256 * 1024 * 1024
const suffix = '.cubin'
const digestByteLength = 32
/** Temporary files of interrupted processes are removed after an hour. */
const staleMilliseconds = 3_600_000
/** Eviction reduces the folder to this fraction of the limit, so that it is rare. */
const keptShare = 0.9

/**
 * Compiled kernels and results of the front end on disk, shared by concurrent processes. Entries are created
 * by renaming and contain a digest of their contents; a damaged entry is a miss. Disk failures are never
 * errors: the kernel is compiled again. Entries are small: reading or writing one synchronously takes less
 * time than a turn of the thread pool, for which a library's start would have to wait.
 */
export class KernelCache {
  readonly directory: string
  readonly #maxByteLength: number
  #usable: boolean | undefined
  /** The size of the folder when this process last read it; undefined before that. */
  #byteLength: number | undefined
  /** The bytes that this process has added since it last began to read the folder. */
  #addedByteLength = 0
  #evicting: Promise<void> | undefined

  constructor({ directory, maxByteLength = defaultMaxByteLength }: KernelCacheOptions = {}) {
    this.directory = directory ?? join(homedir(), '.cache', 'tandem', 'kernels')
    this.#maxByteLength = maxByteLength
  }

  /** The name of an entry: a digest of everything that its contents depend on. */
  static key(parts: readonly string[]): string {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(`${part.length}:`).update(part)
    return hash.digest('hex')
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    const path = this.#path(key)
    try {
      if (!this.#isUsable()) return undefined
      const file = readRegularFile(path, this.#maxByteLength)
      if (file === undefined) return undefined
      const contents = new Uint8Array(file.subarray(digestByteLength))
      if (!digest(contents).equals(file.subarray(0, digestByteLength))) {
        rmSync(path, { force: true })
        return undefined
      }
      markUsed(path)
      return contents
    } catch {
      return undefined
    }
  }

  /** The entry exists once the call returns. The promise resolves once others have been removed for it. */
  async set(key: string, contents: Uint8Array): Promise<void> {
    const temporary = join(this.directory, `${key}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
    try {
      if (!this.#isUsable()) return
      writeFileSync(temporary, Buffer.concat([digest(contents), contents]))
      renameSync(temporary, this.#path(key))
      this.#addedByteLength += contents.length + digestByteLength
      const isRoom = (this.#byteLength ?? Infinity) + this.#addedByteLength <= this.#maxByteLength
      if (!isRoom) await this.#makeRoom()
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined)
    }
  }

  #isUsable(): boolean {
    this.#usable ??= makePrivateFolder(this.directory)
    return this.#usable
  }

  #path(key: string): string {
    return join(this.directory, key + suffix)
  }

  /** One reading of the folder serves all entries that are added meanwhile. */
  #makeRoom(): Promise<void> {
    this.#evicting ??= this.#evict().finally(() => {
      this.#evicting = undefined
    })
    return this.#evicting
  }

  /**
   * Reads the whole folder, removes the entries beyond the limit and the files of interrupted processes, and
   * notes the size of the rest.
   */
  async #evict(): Promise<void> {
    this.#addedByteLength = 0
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
    const most = total > this.#maxByteLength ? this.#maxByteLength * keptShare : total
    for (const entry of entries) {
      if (total <= most) break
      await rm(entry.path, { force: true })
      total -= entry.size
    }
    this.#byteLength = total
  }
}

/**
 * Creates the folder, accessible only to this user. Returns false if there already is one that others own or
 * can write to.
 */
function makePrivateFolder(directory: string): boolean {
  makeFolder(directory, 0o700)
  const { uid, mode } = statSync(directory)
  return uid === process.getuid?.() && (mode & 0o022) === 0
}

/** Marks the entry as recently used, for the eviction. Does nothing in a read-only folder. */
function markUsed(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // The entry is still usable.
  }
}

function digest(contents: Uint8Array): Buffer {
  return createHash('sha256').update(contents).digest()
}
