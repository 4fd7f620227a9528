import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { publishedPackages } from './packages.ts'

// What SECURITY.md and CONTRIBUTING.md say of the packages that users get, read from the lock file.

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Record<string, string>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>
}

/** Where Node finds `name` from the package at `from`: the nearest node_modules above. */
function locate(name: string, from: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock[path] !== undefined) return path
    if (folder === '') throw new Error(`package-lock.json has no ${name} for ${from}.`)
  }
}

/** Every package of others that our published packages bring. */
function brought(): Map<string, Locked> {
  const found = new Map<string, Locked>()
  const visit = (folder: string, { dependencies = {} }: Locked) => {
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith('@tandem-gpu/')) continue
      const path = locate(name, folder)
      if (found.has(path)) continue
      found.set(path, lock[path]!)
      visit(path, lock[path]!)
    }
  }
  for (const { shortName, manifest } of publishedPackages(root)) visit(`packages/${shortName}`, manifest)
  return found
}

describe('the packages of others that a user installs', () => {
  it('are under MIT, ISC, BSD or Apache 2.0', () => {
    expect(brought().size).toBeGreaterThan(10)
    const others = [...brought()].filter(
      ([, { license = 'none' }]) => !/^(MIT|ISC|BSD-[23]-Clause|0BSD|Apache-2\.0)$/.test(license),
    )
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
  })

  it('have no install script, but for Dawn', () => {
    const scripted = [...brought()].filter(([, { hasInstallScript }]) => hasInstallScript === true)
    expect(scripted.map(([path]) => path)).toEqual(['node_modules/webgpu'])
  })

  it('are pinned exactly where our packages name them', () => {
    for (const { manifest } of publishedPackages(root))
      for (const range of Object.values(manifest.dependencies ?? {})) expect(range).toMatch(/^\d+\.\d+\.\d+$/)
  })
})
