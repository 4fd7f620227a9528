import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { UsageError } from './exit-code.ts'
import { ClosedPipeError, FileError, fileReason } from './file-error.ts'
import { findOutputTarget } from './output-target.ts'
import { printable } from './printable.ts'
import { ReplacementFile } from './replacement-file.ts'

/** The time, in milliseconds, for which a FIFO waits for a reader. */
const readerPatience = 2000

/**
 * An output of a command. A regular file appears under its name complete or not at all: it is written under a
 * temporary name in the same folder, flushed to disk, and renamed over the file to which the name leads
 * through symbolic links; it keeps that file's permissions. Anything else (a device, a FIFO, a socket,
 * `/dev/stdout`) is written directly, in ascending order.
 */
export class OutputFile {
  /** The path as a message may show it. */
  readonly name: string
  /** Whether this is the standard output of the process; if so, nothing else may be printed there. */
  readonly isStandardOutput: boolean
  readonly #handle: FileHandle
  readonly #replacement: ReplacementFile | undefined
  #written = 0
  #open = true

  private constructor(
    name: string,
    handle: FileHandle,
    replacement: ReplacementFile | undefined,
    isStandardOutput = false,
  ) {
    this.name = name
    this.isStandardOutput = isStandardOutput
    this.#handle = handle
    this.#replacement = replacement
  }

  /** The regular file that it becomes; undefined for anything else. */
  get target(): string | undefined {
    return this.#replacement?.target
  }

  /** Throws `UsageError` if the path cannot be written, before any work is done. */
  static async create(path: string): Promise<OutputFile> {
    const name = printable(path)
    try {
      const target = await findOutputTarget(path)
      if (target.kind === 'folder')
        throw new UsageError(`${name} is a folder, but the output needs the name of a file.`)
      if (target.kind === 'direct') {
        const handle = await openDirectly(target.path)
        return new OutputFile(name, handle, undefined, target.isStandardOutput)
      }
      const replacement = await ReplacementFile.create(target)
      return new OutputFile(name, replacement.handle, replacement)
    } catch (error) {
      if (error instanceof UsageError) throw error
      throw new UsageError(`${name} cannot be written: ${fileReason(error)}.`)
    }
  }

  /**
   * Writes all bytes at `position`, by default after the previous write. Files that are not regular accept
   * only that default.
   */
  async write(contents: Uint8Array | string, position = this.#written): Promise<void> {
    const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents
    if (this.#replacement === undefined && position !== this.#written)
      throw new FileError(`${this.name} is not a regular file, so it can only be written in order.`)
    await this.#reporting(async () => {
      for (let done = 0; done < bytes.byteLength; ) {
        const place = this.#replacement === undefined ? null : position + done
        done += await this.#writeSome(bytes, done, place)
      }
    })
    this.#written = position + bytes.byteLength
  }

  async commit(): Promise<void> {
    await this.#reporting(async () => {
      if (this.#replacement !== undefined) await this.#handle.sync()
      this.#open = false
      await this.#handle.close()
      await this.#replacement?.commit()
    })
  }

  /** Removes the file unless it was committed. May be called at any time, even after `commit`. */
  async discard(): Promise<void> {
    if (this.#open) {
      this.#open = false
      await this.#handle.close().catch(() => {})
    }
    await this.#replacement?.discard()
  }

  /**
   * A pipe with a slow reader returns EAGAIN; waiting here, and not in the system call, keeps the process
   * interruptible.
   */
  async #writeSome(bytes: Uint8Array, offset: number, position: number | null): Promise<number> {
    for (let pause = 1; ; pause = Math.min(50, 2 * pause)) {
      try {
        return (await this.#handle.write(bytes, offset, bytes.byteLength - offset, position)).bytesWritten
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        await setTimeout(pause)
      }
    }
  }

  async #reporting(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const isClosed = this.isStandardOutput && (error as NodeJS.ErrnoException).code === 'EPIPE'
      throw new (isClosed ? ClosedPipeError : FileError)(
        `${this.name} cannot be written: ${fileReason(error)}.`,
        { cause: error },
      )
    }
  }
}

/** Writes `contents` completely or not at all. */
export async function writeOutputFile(path: string, contents: Uint8Array | string): Promise<void> {
  const file = await OutputFile.create(path)
  try {
    await file.write(contents)
    await file.commit()
  } finally {
    await file.discard()
  }
}

/**
 * Opens a file without waiting in the system call, so that a FIFO that nobody reads does not delay the end of
 * the process. A file that the process already has open, such as that of `> file`, is opened again and
 * written at its end.
 */
async function openDirectly(path: string): Promise<FileHandle> {
  const start = performance.now()
  for (;;) {
    try {
      return await open(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_APPEND)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENXIO' || performance.now() - start > readerPatience) throw error
      await setTimeout(20)
    }
  }
}
