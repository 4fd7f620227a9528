import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = new URL('../../', import.meta.url)

/** The sources that can be reached from the package's exports and its command, as paths in `src`. */
function reachedSources(): Set<string> {
  const reached = new Set<string>()
  const open = ['index.ts', 'testing/index.ts', 'reference/index.ts', 'kernel-modules/bin.ts']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    const url = new URL(`src/${path}`, folder)
    for (const [, imported] of readFileSync(url, 'utf8').matchAll(/from '(\.[^']+)'/g))
      open.push(new URL(imported!, url).pathname.slice(new URL('src/', folder).pathname.length))
  }
  return reached
}

it('npm packs the files that the exports and the command reach, and no others', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: fileURLToPath(folder),
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(stdout)
  const packed = (files as { path: string }[])
    .filter(({ path }) => /^dist\/.*\.js$/.test(path))
    .map(({ path }) => path.replace(/^dist\/(.*)\.js$/, '$1.ts'))
  const reached = reachedSources()
  // A build keeps the output of sources that no longer exist, and may be older than a source.
  const exists = (path: string) => existsSync(new URL(path, folder))
  expect(packed.filter((path) => !reached.has(path) && exists(`src/${path}`))).toEqual([])
  const built = [...reached].filter((path) => exists(`dist/${path.replace(/\.ts$/, '.js')}`))
  expect(built.filter((path) => !packed.includes(path))).toEqual([])
  expect(built.length).toBeGreaterThan(100)
})
