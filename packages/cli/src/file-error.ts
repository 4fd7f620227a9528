/** The reason for a file system error, as a part of a sentence. */
export function fileReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === undefined ? undefined : reasons[code]) ?? message
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'a file of this name exists',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is exhausted',
  EFBIG: 'the file would exceed the size limit of the process or of the file system',
  EROFS: 'the file system is read-only',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'the process has too many open files',
  ENAMETOOLONG: 'the name is too long',
  EIO: 'the device reports an input or output error',
  EPIPE: 'the reader has closed the pipe',
  ENXIO: 'no process reads from it',
}

/** A file that was opened but cannot be written or read any further: a full disk, a closed pipe. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code = 'file'
}

/** The reader of standard output has ended, as `head` does. The process then ends quietly. */
export class ClosedPipeError extends FileError {}

/** Any error that a function of `node:fs` throws. */
export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error &&
    typeof (error as NodeJS.ErrnoException).errno === 'number' &&
    typeof (error as NodeJS.ErrnoException).syscall === 'string'
  )
}
