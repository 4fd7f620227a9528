// A step of `npm run release:version`: from the first release on, the packages are on the npm registry, and
// no document says otherwise.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The documents that describe how to install from a clone, between `<!-- before-first-release -->` and `<!--
 * /before-first-release -->`.
 */
export const noticeDocuments = [
  'README.md',
  'docs/guides/add-an-algorithm.md',
  'docs/guides/install.md',
  'docs/guides/vite.md',
  'docs/guides/write-a-backend.md',
  'docs/guides/your-first-kernel.md',
  'site/home.md',
] as const

export function withoutNotice(text: string): string {
  return text.replace(/<!-- before-first-release -->[\s\S]*?<!-- \/before-first-release -->\n\n?/g, '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  for (const document of noticeDocuments) {
    const path = join(root, document)
    writeFileSync(path, withoutNotice(readFileSync(path, 'utf8')))
  }
}
