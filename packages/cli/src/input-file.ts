import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { UsageError } from './exit-code.ts'
import { fileReason } from './file-error.ts'
import { printable } from './printable.ts'

/** A longer file is assumed to be the wrong one. */
const maxTextByteLength = 64 * 1024 * 1024

/**
 * A file that the user names, open for reading. Throws `UsageError` if it cannot be read, and if it is not a
 * regular file: data from a FIFO, a device or a socket may never arrive or never end.
 */
export async function openInputFile(path: string): Promise<FileHandle> {
  let handle: FileHandle | undefined
  let regular: boolean
  try {
    // O_NONBLOCK: opening a FIFO does not wait for a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    regular = (await handle.stat()).isFile()
  } catch (error) {
    await handle?.close()
    throw unreadable(path, error)
  }
  if (regular) return handle
  await handle.close()
  throw new UsageError(`${printable(path)} is not a regular file.`, 'bad-input')
}

/**
 * The text of a file that the user names. Throws as `openInputFile` does, and if the file is too long to be
 * text.
 */
export async function readInputText(path: string): Promise<string> {
  const handle = await openInputFile(path)
  try {
    const chunks: Uint8Array[] = []
    let byteLength = 0
    // Some files, such as those in /proc, report a size that differs from that of their contents.
    for await (const chunk of handle.createReadStream({ autoClose: false, end: maxTextByteLength })) {
      chunks.push(chunk)
      byteLength += chunk.length
    }
    if (byteLength <= maxTextByteLength) return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    throw unreadable(path, error)
  } finally {
    await handle.close()
  }
  throw new UsageError(`${printable(path)} has more than ${maxTextByteLength} bytes.`, 'bad-input')
}

function unreadable(path: string, error: unknown): UsageError {
  return new UsageError(`${printable(path)} cannot be read: ${fileReason(error)}.`, 'bad-input')
}
