import { fstatSync, type Stats } from 'node:fs'
import { lstat, readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The kinds of target that an output's path can have. */
export type OutputTarget =
  | { readonly kind: 'folder' }
  /** Not a regular file: a device, a FIFO, a socket, or an open file of this process. */
  | { readonly kind: 'direct'; readonly path: string; readonly isStandardOutput: boolean }
  | FileTarget

/** A regular file, or a name that no file has yet. */
export interface FileTarget {
  readonly kind: 'file'
  /** The file that the links lead to. */
  readonly path: string
  /** The state of the file, if it exists. */
  readonly existing?: Stats
}

/** The number of links that Linux follows. */
const mostLinks = 40

/** Follows symbolic links, even to a file that does not exist yet. */
export async function findOutputTarget(path: string): Promise<OutputTarget> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (found?.isDirectory()) return { kind: 'folder' }
  if (found !== undefined && !found.isFile()) return direct(path, found)
  let target = resolve(path)
  for (let links = 0; links < mostLinks; links++) {
    // /dev/stdout and similar paths lead to an open file. A new file under that file's name would be a
    // different one.
    if (found !== undefined && /^\/(proc|dev)\//.test(target)) return direct(path, found)
    const information = await lstat(target).catch(() => undefined)
    if (!information?.isSymbolicLink())
      return { kind: 'file', path: target, ...(found === undefined ? {} : { existing: found }) }
    target = resolve(dirname(target), await readlink(target))
  }
  throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' })
}

function direct(path: string, { dev, ino }: Stats): OutputTarget {
  const open = fileStats(1)
  // Standard output to a device, such as /dev/null or a terminal, is not kept.
  const isStandardOutput = open?.dev === dev && open.ino === ino && !open.isCharacterDevice()
  return { kind: 'direct', path, isStandardOutput }
}

/** Undefined if the process does not have this file open. */
function fileStats(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor)
  } catch {
    return undefined
  }
}
