import { closeSync, openSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/**
 * Lets processes that measure on one GPU take turns, while they check what they measured side by side. `path` names a file that exists while one has its turn; without it there
 * is nothing to wait for. Returns what ends the turn, any number of times.
 */
export async function takeTurn(path: string | undefined): Promise<() => void> {
  if (path === undefined) return () => {}
  for (;;) {
    try {
      closeSync(openSync(path, 'wx'))
      break
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      await setTimeout(20)
    }
  }
  let has = true
  return () => {
    if (has) rmSync(path)
    has = false
  }
}
