// Publishes the packages that the registry does not have yet: `node tools/release/publish.ts --registry URL
// [--provenance] [--tarballs DIR]`. Packs the packages unless a folder of tarballs is given, refuses tarballs
// with problems that verify.ts finds, and publishes in dependency order. The caller names the registry; none
// is taken from npm's configuration.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packAll } from './pack.ts'
import { publishedPackages } from './packages.ts'
import { refusal } from './verify.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

process.exitCode = main()

function main(): number {
  const { values } = parseArgs({
    options: {
      registry: { type: 'string' },
      provenance: { type: 'boolean', default: false },
      tarballs: { type: 'string' },
    },
  })
  if (values.registry === undefined) {
    console.error('usage: node tools/release/publish.ts --registry URL [--provenance] [--tarballs DIR]')
    return 2
  }
  const tarballs =
    values.tarballs === undefined
      ? packAll({ root, out: mkdtempSync(join(tmpdir(), 'tandem-release-')), withoutKernels: false })
      : tarballsIn(resolve(values.tarballs))
  const refused = refusal(tarballs, root)
  if (refused !== undefined) {
    console.error(refused)
    return 1
  }
  for (const { shortName, manifest } of publishedPackages(root)) {
    const id = `${manifest.name}@${manifest.version}`
    if (isPublished(id, values.registry)) {
      console.log(`${id} is published already.`)
      continue
    }
    const args = ['publish', tarballs.get(shortName)!, '--access', 'public', '--ignore-scripts']
    const status = npm(
      [...args, ...(values.provenance ? ['--provenance'] : [])],
      values.registry,
      'inherit',
    ).status
    if (status !== 0) {
      console.error(
        `${id} is not published; what npm prints above says why. Run the same command again to go on.`,
      )
      return 1
    }
    console.log(`${id} is published at ${values.registry}.`)
  }
  return 0
}

function tarballsIn(folder: string): Map<string, string> {
  const files = readdirSync(folder)
  return new Map(
    publishedPackages(root).map(({ shortName, manifest }) => {
      const file = `tandem-gpu-${shortName}-${manifest.version}.tgz`
      if (!files.includes(file))
        throw new Error(`${folder} has no ${file}: make it with npm run pack -- --out ${folder}.`)
      return [shortName, join(folder, file)]
    }),
  )
}

/** npm reports E404 for a missing package, and nothing for a missing version. */
function isPublished(id: string, registry: string): boolean {
  const { status, stdout } = npm(['view', id, 'version'], registry, 'pipe')
  return status === 0 && stdout.trim() !== ''
}

/** A registry that a user's .npmrc sets for the scope takes precedence over --registry, so both are given. */
function npm(args: readonly string[], registry: string, stdio: 'inherit' | 'pipe') {
  return spawnSync('npm', [...args, `--registry=${registry}`, `--@tandem-gpu:registry=${registry}`], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', stdio, stdio === 'pipe' ? 'ignore' : 'inherit'],
  })
}
