import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a file or folder already exists; if so, it is marked as used now. */
export function isKept(path: string): boolean {
  if (!existsSync(path)) return false
  utimesSync(path, new Date(), new Date())
  return true
}

/**
 * Removes the files and folders in `folder` that have not been created or used (`isKept`) for the given
 * number of milliseconds.
 */
export function removeUnused(folder: string, milliseconds: number): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    // Another run of the tests may have removed it in the meantime.
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < Date.now() - milliseconds) rmSync(path, { recursive: true, force: true })
  }
}
