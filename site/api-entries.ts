import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The entry points of the packages that programs import, by their names in the site. */
export function apiEntries(): Map<string, string> {
  const entries = new Map<string, string>()
  for (const folder of readdirSync(join(root, 'packages'))) {
    const { exports = {} } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    for (const [name, target] of Object.entries<{ types?: string }>(exports)) {
      if (target.types === undefined || folder === 'cli') continue
      const source = target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')
      entries.set(join(folder, name), join(root, 'packages', folder, 'src', source))
    }
  }
  return entries
}
