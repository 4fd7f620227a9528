import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** O_NONBLOCK: opening a FIFO does not wait for a writer. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Opens a file for reading. Resolves to undefined if the path leads to anything but a regular file: data from
 * a FIFO, a device or a socket may never arrive or never end. Rejects as `open` of `node:fs/promises` does.
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
 * The contents of a regular file of at most `maxByteLength` bytes; undefined if the file is longer or not a
 * regular file. Throws as `openSync` does.
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
