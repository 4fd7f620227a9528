// Creates the tarballs of a release: `npm run pack -- [--out DIR] [--without-kernels]`, after `npm run
// build`. With `--without-kernels`, or without nvcc to compile them, backend-cuda is packed without kernels:
// its package.json then says so, and publish.ts refuses the tarball.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { publishedPackages } from './packages.ts'

export interface PackOptions {
  readonly root: string
  readonly out: string
  readonly withoutKernels: boolean
}

const withKernels = 'backend-cuda'

/** Packs every published package, and returns the tarballs by short name, in publishing order. */
export function packAll({ root, out, withoutKernels }: PackOptions): Map<string, string> {
  mkdirSync(out, { recursive: true })
  if (!withoutKernels) run(process.execPath, [join(root, 'tools/ship-kernels/ship-kernels.ts')], root)
  const packages = publishedPackages(root)
  const packed = npmPack(
    packages.map(({ folder }) => folder),
    out,
  )
  const tarballs = new Map(packages.map(({ manifest, shortName }) => [shortName, packed.get(manifest.name)!]))
  if (withoutKernels) removeKernels(tarballs.get(withKernels)!, out)
  return tarballs
}

/**
 * Returns the tarballs by package name. The packages' scripts are not run: the build and the kernels already
 * exist.
 */
function npmPack(folders: readonly string[], out: string): Map<string, string> {
  const args = ['pack', ...folders, '--pack-destination', out, '--json', '--silent', '--ignore-scripts']
  const stdout = run('npm', args, out)
  const listing = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))
  // An array until npm 11, an object by name from npm 12 on.
  const entries = (Array.isArray(listing) ? listing : Object.values(listing)) as {
    name: string
    filename: string
  }[]
  return new Map(entries.map(({ name, filename }) => [name, join(out, basename(filename))]))
}

function removeKernels(tarball: string, out: string): void {
  const stage = mkdtempSync(join(tmpdir(), 'tandem-without-kernels-'))
  try {
    run('tar', ['-xzf', tarball, '-C', stage], out)
    const folder = join(stage, 'package')
    rmSync(join(folder, 'prebuilds/kernels.json.gz'), { force: true })
    const path = join(folder, 'package.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...manifest, tandem: { withoutKernels: true } }, null, 2))
    npmPack([folder], out)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} fails${error ? `: ${error.message}` : ''}.`)
  return stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: 'tarballs' },
      'without-kernels': { type: 'boolean', default: false },
    },
  })
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const withoutNvcc = ['nvcc', '/usr/local/cuda/bin/nvcc'].every(
    (nvcc) => spawnSync(nvcc, ['--version']).status !== 0,
  )
  if (withoutNvcc && !values['without-kernels'])
    console.error(
      'There is no nvcc here: backend-cuda is packed without compiled kernels, so it needs NVRTC where it runs, and cannot be published.',
    )
  const withoutKernels = values['without-kernels'] || withoutNvcc
  const tarballs = packAll({ root, out: resolve(values.out), withoutKernels })
  for (const tarball of tarballs.values()) console.log(tarball)
}
