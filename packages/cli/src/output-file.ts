import { randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from './exit-code.ts'

const unfinished = new Set<string>()

/**
 * A file that appears under its name whole or not at all: written under a temporary name in the same folder, flushed to the disk,
 * then renamed. `discard` (or the end of the process) removes what was not committed.
 */
export class OutputFile {
  readonly path: string
  readonly handle: FileHandle
  readonly #temporaryPath: string
  #open = true

  private constructor(path: string, temporaryPath: string, handle: FileHandle) {
    this.path = path
    this.#temporaryPath = temporaryPath
    this.handle = handle
  }

  /** Throws `UsageError` at once where the folder is missing or not writable, so that nobody computes for nothing. */
  static async create(path: string): Promise<OutputFile> {
    const target = await stat(path).catch(() => undefined)
    if (target?.isDirectory())
      throw new UsageError(`${path} is a folder, and the output needs the name of a file.`)
    const temporaryPath = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
    try {
      const handle = await open(temporaryPath, 'wx')
      unfinished.add(temporaryPath)
      return new OutputFile(path, temporaryPath, handle)
    } catch (error) {
      throw new UsageError(`${path} cannot be written: ${fileReason(error)}.`)
    }
  }

  async commit(): Promise<void> {
    await this.handle.sync()
    await this.handle.close()
    this.#open = false
    await rename(this.#temporaryPath, this.path)
    unfinished.delete(this.#temporaryPath)
    await syncFolder(dirname(this.path))
  }

  /** Safe to call at any time, also after `commit`. */
  async discard(): Promise<void> {
    if (this.#open) {
      this.#open = false
      await this.handle.close()
    }
    if (unfinished.delete(this.#temporaryPath)) await unlink(this.#temporaryPath)
  }
}

/** Writes `contents` whole or not at all. */
export async function writeOutputFile(path: string, contents: Uint8Array | string): Promise<void> {
  const file = await OutputFile.create(path)
  try {
    await file.handle.writeFile(contents)
    await file.commit()
  } finally {
    await file.discard()
  }
}

/** For the end of the process, where nothing asynchronous runs any more. */
export function removeUnfinishedFiles(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path)
    } catch {
      // Gone already.
    }
  }
  unfinished.clear()
}

/** The words of an error of the file system, for a sentence. */
export function fileReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'no such file or folder'
    case 'EACCES':
    case 'EPERM':
      return 'permission denied'
    case 'EEXIST':
      return 'a file of this name is there'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENOTDIR':
      return 'a part of the path is not a folder'
    case 'ENOSPC':
      return 'no space left on the disk'
    case 'EROFS':
      return 'the file system is read-only'
    default:
      return message
  }
}

/** Makes a rename durable; file systems that cannot sync a folder are left alone. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  if (folder === undefined) return
  await folder.sync().catch(() => {})
  await folder.close()
}
