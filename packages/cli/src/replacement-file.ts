import { createHash, randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { FileTarget } from './output-target.ts'

/** Files of this process that have not been renamed yet. */
const unfinished = new Set<string>()

/** A part of the name that all processes of one machine share; several machines may share a folder. */
const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/** `.NAME.MACHINE-PID-RANDOM.tandem-tmp` */
const temporaryName = /^\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.tandem-tmp$/

/** A new file in the folder of `target`, with a temporary name until `commit` renames it over `target`. */
export class ReplacementFile {
  readonly handle: FileHandle
  /** The file that it becomes. */
  readonly target: string
  readonly #path: string

  private constructor(handle: FileHandle, path: string, target: string) {
    this.handle = handle
    this.#path = path
    this.target = target
  }

  /** Also removes temporary files that killed processes left in the folder. */
  static async create({ path, existing }: FileTarget): Promise<ReplacementFile> {
    const folder = dirname(path)
    // A file that its owner has made read-only is not replaced.
    if (existing !== undefined) await (await open(path, 'r+')).close()
    await removeLeftovers(folder)
    const random = randomBytes(6).toString('hex')
    const name = basename(path).slice(0, 200)
    const temporary = join(folder, `.${name}.${machine}-${process.pid}-${random}.tandem-tmp`)
    const handle = await open(temporary, 'wx', existing === undefined ? 0o666 : 0o600)
    unfinished.add(temporary)
    const file = new ReplacementFile(handle, temporary, path)
    try {
      if (existing !== undefined) {
        // Only root may change a file's owner; the files of other users become their own.
        await handle.chown(existing.uid, existing.gid).catch(() => {})
        await handle.chmod(existing.mode & 0o7777)
      }
      return file
    } catch (error) {
      await handle.close()
      await file.discard()
      throw error
    }
  }

  async commit(): Promise<void> {
    await rename(this.#path, this.target)
    unfinished.delete(this.#path)
    await syncFolder(dirname(this.target))
  }

  async discard(): Promise<void> {
    if (unfinished.delete(this.#path)) await unlink(this.#path).catch(() => {})
  }
}

/** For the end of the process, when nothing asynchronous can run. */
export function removeUnfinishedFiles(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path)
    } catch {
      // The file no longer exists.
    }
  }
  unfinished.clear()
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, where, pid] = temporaryName.exec(name) ?? []
    if (where === machine && !isRunning(Number(pid))) await unlink(join(folder, name)).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Makes a rename durable. File systems that cannot sync a folder ignore it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  if (folder === undefined) return
  await folder.sync().catch(() => {})
  await folder.close()
}
