import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { TuningStore } from '@tandem-gpu/algorithms'
import { makeFolder, readRegularFile } from '@tandem-gpu/core/native'

/** The largest number of choices in the folder; the oldest are removed. A choice takes about 150 bytes. */
const maxChoices = 1000
/** A longer file was not written by this class. */
const maxByteLength = 64 * 1024

/**
 * Measured choices, one JSON file `{ "schema": 1, "key", "choice" }` each, so that any number of processes
 * may write at once: a file is named after its key and appears by rename. A damaged file is ignored. File
 * system errors are never reported: the choice is used in this process, and the next process measures again.
 */
export class TuningFolder implements TuningStore {
  readonly path: string | undefined
  readonly #choices = new Map<string, string>()

  /**
   * @param path Default: `tandem/tuning` in the user's cache folder, next to the compiled kernels; none if
   * there is no home folder.
   */
  constructor(path: string | undefined = defaultFolder()) {
    this.path = path
  }

  get(key: string): string | undefined {
    const known = this.#choices.get(key)
    if (known !== undefined || this.path === undefined) return known
    const stored = readChoice(join(this.path, fileNameOf(key)), key)
    if (stored !== undefined) this.#choices.set(key, stored)
    return stored
  }

  set(key: string, choice: string): void {
    this.#choices.set(key, choice)
    if (this.path === undefined) return
    const temporary = join(this.path, `${randomBytes(6).toString('hex')}.tmp`)
    try {
      makeFolder(this.path, 0o700)
      writeFileSync(temporary, `${JSON.stringify({ schema: 1, key, choice })}\n`, { flag: 'wx' })
      renameSync(temporary, join(this.path, fileNameOf(key)))
      removeOldest(this.path)
    } catch {
      removeFile(temporary)
    }
  }
}

function fileNameOf(key: string): string {
  return `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`
}

function readChoice(path: string, key: string): string | undefined {
  try {
    const contents = readRegularFile(path, maxByteLength)
    if (contents === undefined) return undefined
    const document = JSON.parse(new TextDecoder().decode(contents))
    const { schema, key: storedKey, choice } = document ?? {}
    return schema === 1 && storedKey === key && typeof choice === 'string' ? choice : undefined
  } catch {
    return undefined
  }
}

/**
 * Removes the oldest choices above the limit, and temporary files that a killed process left over an hour
 * ago.
 */
function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => {
    const path = join(folder, name)
    return { path, temporary: name.endsWith('.tmp'), time: modificationTime(path) }
  })
  const choices = files.filter(({ temporary }) => !temporary).sort((a, b) => b.time - a.time)
  const abandoned = files.filter(({ temporary, time }) => temporary && time < Date.now() - 3_600_000)
  for (const { path } of [...choices.slice(maxChoices), ...abandoned]) removeFile(path)
}

/** Another process may remove the file at any time. */
function modificationTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The file stays; it is small.
  }
}

/** The folder in which the CUDA backend also keeps its kernels. */
function defaultFolder(): string | undefined {
  const home = homedir()
  if (!isAbsolute(home)) return undefined
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'tandem', 'tuning')
  if (process.platform === 'win32') return join(home, 'AppData', 'Local', 'tandem', 'tuning')
  return join(home, '.cache', 'tandem', 'tuning')
}
