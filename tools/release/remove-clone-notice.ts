// A step of `npm run release:version`: from the first release on, the packages are on the npm registry, and
// no document says otherwise.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documentPaths } from '../testing/documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A block of a document that installs our packages from the registry. */
export const installsByName = /^```sh\n(?:(?!```).*\n)*?npm install (?:.*\s)?@tandem-gpu\//m

/**
 * The documents that tell users to install the packages. Each says between `<!-- before-first-release -->` and
 * `<!-- /before-first-release -->` that they are not on the registry yet.
 */
export const noticeDocuments: readonly string[] = [...documentPaths(root), 'site/home.md'].filter(
  (document) => installsByName.test(readFileSync(join(root, document), 'utf8')),
)

export function withoutNotice(text: string): string {
  return text.replace(/<!-- before-first-release -->[\s\S]*?<!-- \/before-first-release -->\n\n?/g, '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const document of noticeDocuments) {
    const path = join(root, document)
    writeFileSync(path, withoutNotice(readFileSync(path, 'utf8')))
  }
}
