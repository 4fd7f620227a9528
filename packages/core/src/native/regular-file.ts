import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * The contents of a regular file of at most `maxByteLength` bytes; undefined if the file is longer, or if the
 * path leads to anything else: data from a FIFO, a device or a socket may never arrive or never end. Throws
 * as `openSync` does.
 */
export function readRegularFile(path: string, maxByteLength: number): Uint8Array<ArrayBuffer> | undefined {
  // O_NONBLOCK: opening a FIFO does not wait for a writer.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const information = fstatSync(descriptor)
    return information.isFile() && information.size <= maxByteLength ? readFileSync(descriptor) : undefined
  } finally {
    closeSync(descriptor)
  }
}
