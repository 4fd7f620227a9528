import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TuningStore } from '@tandem-gpu/algorithms'

/** Entries that the file holds at most; the oldest go first. One is about 150 bytes. */
const maxEntries = 1000
/** A file beyond this is none of ours. */
const maxByteLength = 4 * 1024 * 1024

/**
 * Measured choices in a JSON file, `{ "schema": 1, "choices": { key: name } }`, shared by concurrent processes: each choice is added to what
 * the file then holds, and the file appears by rename. A file that is damaged counts as empty. Trouble with the disk is never an
 * error: the choice holds for this process, and the next one measures again.
 */
export class TuningFile implements TuningStore {
  readonly path: string
  readonly #choices: Map<string, string>

  /** @param path Default: `tandem/tuning.json` in the user's cache folder, beside the compiled kernels. */
  constructor(path: string = join(cacheFolder(), 'tuning.json')) {
    this.path = path
    this.#choices = read(path)
  }

  get(key: string): string | undefined {
    return this.#choices.get(key)
  }

  set(key: string, value: string): void {
    this.#choices.set(key, value)
    const choices = read(this.path)
    choices.delete(key)
    choices.set(key, value)
    for (const oldest of choices.keys()) {
      if (choices.size <= maxEntries) break
      choices.delete(oldest)
    }
    const temporary = `${this.path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
    try {
      mkdirSync(dirname(this.path), { recursive: true })
      writeFileSync(
        temporary,
        `${JSON.stringify({ schema: 1, choices: Object.fromEntries(choices) }, null, 1)}\n`,
      )
      renameSync(temporary, this.path)
    } catch {
      rmSync(temporary, { force: true })
    }
  }
}

function read(path: string): Map<string, string> {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.length > maxByteLength) return new Map()
    const { schema, choices } = JSON.parse(text)
    if (schema !== 1 || typeof choices !== 'object') return new Map()
    return new Map(
      Object.entries(choices).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return new Map()
  }
}

/** Where the CUDA backend keeps its kernels too. */
function cacheFolder(): string {
  const home = homedir()
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'tandem')
  if (process.platform === 'win32') return join(home, 'AppData', 'Local', 'tandem')
  return join(home, '.cache', 'tandem')
}
