import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

/** The names of files in the tables of the sections whose headings name a package. */
function namedIn(packageFolder: string): string[] {
  const sections = text
    .split(/^##+ /m)
    .filter((section) => section.split('\n')[0]!.includes(`\`${packageFolder}`))
  const rows = sections
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  return rows.flatMap((section) =>
    [...section.matchAll(/`(?:[\w/-]+\/)?([\w-]+\.ts)`/g)].map(([, name]) => name!),
  )
}

/** Names that say enough: those of an algorithm's folder, and of a command. */
function isConventional(path: string): boolean {
  const [, folder = '', name] = /([\w-]+)\/([\w-]+)\.ts$/.exec(path) ?? []
  return (
    path.startsWith('src/commands/') ||
    [folder, `record-${folder}`, `${folder}-kernels`, `verify-${folder}`, `reference-${folder}`].includes(
      name ?? '',
    )
  )
}

describe.each(['algorithms', 'backend-webgpu', 'cli'])('the map of packages/%s', (name) => {
  const sources = globSync('src/**/*.ts', { cwd: join(root, 'packages', name) }).filter(
    (path) => !/testing|\.(test|bench)\.ts$|\.wgsl\.ts$|^src\/(.*\/)?index\.ts$/.test(path),
  )

  it('has every file whose name does not say enough, and none that is gone', () => {
    const named = namedIn(`packages/${name}`)
    const present = new Set(sources.map((path) => basename(path)))
    const expected = sources.filter((path) => !isConventional(path)).map((path) => basename(path))
    expect(expected.filter((file) => !named.includes(file))).toEqual([])
    expect(named.filter((file) => file !== 'index.ts' && !present.has(file))).toEqual([])
  })
})
