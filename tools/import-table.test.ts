import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')

interface PackageRow {
  readonly name: string
  readonly mayImport: readonly string[]
}

/** The table of ARCHITECTURE.md: `| \`packages/core\` | … | \`wgsl\`, \`core\` |`, with `–` for none. */
async function architectureTable(): Promise<PackageRow[]> {
  const text = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8')
  return [...text.matchAll(/^\| `packages\/([\w-]+)` \|.*\| ([^|]+) \|$/gm)].map(([, name, imports]) => ({
    name: name!,
    mayImport: [...imports!.matchAll(/`([\w-]+)`/g)].map(([, imported]) => imported!),
  }))
}

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tandem-imports-'))
  const config = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8'))
  await writeFile(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Which of `sources` (path to text) biome reports for their imports. */
async function refused(sources: ReadonlyMap<string, string>): Promise<Set<string>> {
  for (const [path, text] of sources) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const { stdout } = spawnSync(
    process.execPath,
    [
      biome,
      'lint',
      '--reporter=json',
      '--max-diagnostics=none',
      '--only=style/noRestrictedImports',
      ...sources.keys(),
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { category: string; location: { path: string | { file: string } } }[]
  }
  return new Set(
    diagnostics
      .filter(({ category }) => category === 'lint/style/noRestrictedImports')
      .map(({ location: { path } }) => (typeof path === 'string' ? path : path.file)),
  )
}

it('lint refuses exactly the imports that the table of ARCHITECTURE.md does not list', async () => {
  const table = await architectureTable()
  expect(table.length).toBeGreaterThanOrEqual(6)
  const sources = new Map<string, string>()
  const forbidden = new Set<string>()
  for (const { name, mayImport } of table) {
    for (const other of table.filter((row) => row.name !== name)) {
      for (const entry of ['', '/testing']) {
        const path = `packages/${name}/src/to-${other.name}${entry.replace('/', '-')}.ts`
        sources.set(path, `import { x } from '@tandem-gpu/${other.name}${entry}'\n\nexport const y = x\n`)
        if (!mayImport.includes(other.name)) forbidden.add(path)
      }
    }
  }
  expect(forbidden.size).toBeGreaterThan(20)
  expect([...(await refused(sources))].sort()).toEqual([...forbidden].sort())
})

it('lint refuses paths into another package', async () => {
  const path = 'packages/algorithms/src/transpose/path.ts'
  const sources = new Map([[path, `import { x } from '../../../core/src/index.ts'\n\nexport const y = x\n`]])
  expect([...(await refused(sources))]).toEqual([path])
})

it('errors of core are told by isGpuError, since a process may hold several copies of core', async () => {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(
    (path) => !path.endsWith('.test.ts') && path !== 'packages/core/src/errors.ts',
  )
  expect(sources.length).toBeGreaterThan(300)
  const texts = await Promise.all(sources.map((path) => readFile(join(root, path), 'utf8')))
  expect(sources.filter((_, i) => texts[i]!.includes('instanceof GpuError'))).toEqual([])
})
