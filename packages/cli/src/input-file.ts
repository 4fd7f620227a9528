import type { FileHandle } from 'node:fs/promises'
import { openRegularFile } from '@tandem-gpu/core/native'
import { UsageError } from './exit-code.ts'
import { fileReason } from './file-error.ts'
import { printable } from './printable.ts'

/** Longer text is a wrong file. */
const maxTextByteLength = 64 * 1024 * 1024

/**
 * A file that the user names, open for reading. Throws `UsageError` where it cannot be read, and where it is
 * not a regular file.
 */
export async function openInputFile(path: string): Promise<FileHandle> {
  const handle = await openRegularFile(path).catch((error) => {
    throw unreadable(path, error)
  })
  if (handle === undefined) throw new UsageError(`${printable(path)} is not a regular file.`, 'bad-input')
  return handle
}

/**
 * The text of a file that the user names. Throws as `openInputFile` does, and where the file is too long for
 * text.
 */
export async function readInputText(path: string): Promise<string> {
  const handle = await openInputFile(path)
  try {
    const chunks: Uint8Array[] = []
    let byteLength = 0
    // The size of some files, such as those of /proc, is not what they hold.
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
