import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { installsByName, noticeDocuments, withoutNotice } from './remove-clone-notice.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

it('the documents that install the packages are found', () => {
  expect(noticeDocuments).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/guides/bounds.md',
      'examples/README.md',
      'packages/cli/README.md',
      'site/home.md',
    ]),
  )
})

it.each(noticeDocuments)(
  'the release removes from %s that the packages are not on the registry',
  (document) => {
    const text = readFileSync(join(root, document), 'utf8')
    const released = withoutNotice(text)
    expect(scripts['release:version']).toContain('node tools/release/remove-clone-notice.ts')
    // Before the first release the notice is there, and after it nothing is left to remove.
    const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'))
    if (version === '0.0.0') {
      const before = text.slice(0, installsByName.exec(text)!.index)
      expect(before).toMatch(/not on the npm registry yet/)
    }
    expect(released).not.toMatch(/not on the npm registry|install-from-a-clone|tarballs|before-first-release/)
    expect(released).toMatch(installsByName)
  },
)
