import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { publishedPackages } from './packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('every package has one version, which every range between our packages names, and which is 0.0.0 until the first release', async () => {
  const versions = new Set<string>()
  const packages = publishedPackages(root)
  expect(packages.length).toBeGreaterThanOrEqual(7)
  for (const { folder } of packages) {
    const { version, ...manifest } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
    versions.add(version)
    for (const kind of ['dependencies', 'peerDependencies', 'devDependencies'])
      for (const [name, range] of Object.entries<string>(manifest[kind] ?? {}))
        if (name.startsWith('@tandem-gpu/')) versions.add(range)
  }
  expect(versions.size).toBe(1)
  expect(versions.has('0.0.0')).toBe(!existsSync(`${root}/packages/core/CHANGELOG.md`))
})
