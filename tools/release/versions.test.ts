import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// What `changeset version` makes of this repository, on a copy of everything that it reads.

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const changesetCli = join(root, 'node_modules/@changesets/cli/bin.js')
const packages = await readdir(join(root, 'packages'))
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'tandem-versions-'))
  await cp(join(root, '.changeset'), join(copy, '.changeset'), { recursive: true })
  const manifests = [
    'package.json',
    'package-lock.json',
    ...packages.flatMap((name) => ['package.json', 'CHANGELOG.md'].map((file) => `packages/${name}/${file}`)),
  ].filter((path) => existsSync(join(root, path)))
  for (const path of manifests) {
    await mkdir(dirname(join(copy, path)), { recursive: true })
    await cp(join(root, path), join(copy, path))
  }
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '-m', 'x'],
  ])
    expect(spawnSync('git', args, { cwd: copy }).status).toBe(0)
})
afterAll(() => rm(copy, { recursive: true, force: true }))

async function manifestsIn(folder: string): Promise<Manifest[]> {
  return Promise.all(
    packages.map(async (name) =>
      JSON.parse(await readFile(join(folder, 'packages', name, 'package.json'), 'utf8')),
    ),
  )
}

/** Every version and every range between our packages, each once. */
function versionsOf(manifests: readonly Manifest[]): string[] {
  const own = (ranges: Record<string, string> = {}) =>
    Object.entries(ranges).flatMap(([name, range]) => (name.startsWith('@tandem-gpu/') ? [range] : []))
  return [
    ...new Set(
      manifests.flatMap(({ version, dependencies, peerDependencies, devDependencies }) => [
        version,
        ...own(dependencies),
        ...own(peerDependencies),
        ...own(devDependencies),
      ]),
    ),
  ]
}

function changesetVersion(): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [changesetCli, 'version'], {
    cwd: copy,
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
}

async function addMinorChange(name: string): Promise<void> {
  await writeFile(join(copy, '.changeset', 'later.md'), `---\n'${name}': minor\n---\n\nA later change.\n`)
}

describe('changeset version', () => {
  it('starts from one version, which every range between our packages names, and which is 0.0.0 until the first release', async () => {
    const manifests = await manifestsIn(root)
    expect(manifests.length).toBeGreaterThanOrEqual(7)
    const versions = versionsOf(manifests)
    expect(versions).toHaveLength(1)
    const released = existsSync(join(root, 'packages/core/CHANGELOG.md'))
    expect(versions[0] === '0.0.0').toBe(!released)
  })

  it('makes the first release 0.1.0 everywhere, with a changelog', async () => {
    if (versionsOf(await manifestsIn(copy))[0] === '0.0.0') {
      changesetVersion()
      expect(versionsOf(await manifestsIn(copy))).toEqual(['0.1.0'])
    }
    for (const name of packages)
      expect(await readFile(join(copy, 'packages', name, 'CHANGELOG.md'), 'utf8')).toContain('## 0.1.0')
  })

  it('makes a later minor change of one package, peers of others too, a minor release of all and no 1.0.0', async () => {
    for (const name of [
      '@tandem-gpu/swiftshader-linux-x64',
      '@tandem-gpu/backend-webgpu',
      '@tandem-gpu/core',
    ]) {
      const [before] = versionsOf(await manifestsIn(copy))
      const [major, minor] = before!.split('.').map(Number)
      await addMinorChange(name)
      changesetVersion()
      expect(versionsOf(await manifestsIn(copy))).toEqual([`${major}.${minor! + 1}.0`])
    }
  })
})
