import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** Without waiting for the writer of a FIFO. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Opens a file for reading. Resolves to undefined where the path leads to anything but a regular file: what a
 * FIFO, a device or a socket gives may never come, or never end. Rejects as `open` of `node:fs` does.
 */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, flags)
  try {
    if ((await handle.stat()).isFile()) return handle
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return undefined
}

/**
 * The contents of a regular file of so many bytes at most; undefined for a longer one, and for anything else
 * under this name. Throws as `openSync` does.
 */
export function readRegularFile(path: string, maxByteLength: number): Buffer<ArrayBuffer> | undefined {
  const descriptor = openSync(path, flags)
  try {
    const information = fstatSync(descriptor)
    return information.isFile() && information.size <= maxByteLength ? readFileSync(descriptor) : undefined
  } finally {
    closeSync(descriptor)
  }
}
