import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { UsageError } from './exit-code.ts'
import { FileError, fileReason } from './file-error.ts'
import { findOutputTarget } from './output-target.ts'
import { printable } from './printable.ts'
import { ReplacementFile } from './replacement-file.ts'

/** Milliseconds that a FIFO without a reader is given to find one. */
const readerPatience = 2000

/**
 * An output of a command. A regular file appears under its name whole or not at all: it is written under a
 * temporary name in the same folder, flushed to the disk, and renamed over the file that the name, through
 * its symbolic links, stands for, whose permissions it keeps. Anything else (a device, a FIFO, a socket,
 * `/dev/stdout`) is written directly, in ascending order.
 */
export class OutputFile {
  /** The path as a message may show it. */
  readonly name: string
  /** Whether it is the standard output of the process, on which nothing else may stand then. */
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

  /** Throws `UsageError` where the path cannot be written, before any work is done for it. */
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
   * Writes all bytes at `position`, by default after what was written last. What is not a regular file takes
   * no other position.
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

  /** Removes what was not committed. It may be called at any time, also after `commit`. */
  async discard(): Promise<void> {
    if (this.#open) {
      this.#open = false
      await this.#handle.close().catch(() => {})
    }
    await this.#replacement?.discard()
  }

  /**
   * A pipe whose reader is slow says EAGAIN; waiting here, and not in the system call, keeps the process
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
      throw new FileError(`${this.name} cannot be written: ${fileReason(error)}.`, { cause: error })
    }
  }
}

/** Writes `contents` whole or not at all. */
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
 * Without waiting in the system call, so that a FIFO that nobody reads does not hold up the end of the
 * process. A file that the process has open already, such as that of `> file`, is opened again, and goes on
 * at its end.
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
