// Packs what the repository's commands need on a GPU host that has no Node, no npm and no network, into
// `.gpu-bundle/`:
//
//   node tools/gpu-bundle/bundle.ts [--webgpu]
//
// On the host, in a copy of the working tree that has .gpu-bundle, run a script, or the tests:
//
//   bash .gpu-bundle/run SCRIPT [ARGUMENTS]
//   bash .gpu-bundle/run vitest run packages/core
//
// node.xz is Node without symbols; modules.tar.xz the production dependencies of all packages, and vitest;
// built.tar.xz what git ignores: builds, addons, embedded kernels; webgpu.tar.xz (with --webgpu) Dawn for
// Linux on x86-64.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const bundle = join(root, '.gpu-bundle')
const maximumByteLength = 64 * 2 ** 20
/** Modules that tests and repository scripts need; their dependencies are included. */
const developmentModules = ['vitest', 'fast-check', 'ajv', 'esbuild', '@jax-js/jax']
/**
 * Never loaded on the GPU host: CSS is not compiled, types are for the compiler, Dawn is a separate archive.
 */
const leftOut = new Set(['lightningcss', 'webgpu', '@types/chai', '@types/estree', 'fsevents', 'typescript'])

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

main()

function main(): void {
  mkdirSync(bundle, { recursive: true })
  const packages = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  packNode()
  pack('modules.tar.xz', moduleFolders(packages))
  pack('built.tar.xz', builtFiles(packages))
  if (process.argv.includes('--webgpu')) pack('webgpu.tar.xz', webgpuFiles())
  else rmSync(join(bundle, 'webgpu.tar.xz'), { force: true })
  copyFileSync(join(root, 'tools', 'gpu-bundle', 'run.sh'), join(bundle, 'run'))
  const sizes = readdirSync(bundle)
    .filter((name) => !name.startsWith('.') && !name.endsWith('.key'))
    .map((name) => ({ name, byteLength: statSync(join(bundle, name)).size }))
  const total = sizes.reduce((sum, { byteLength }) => sum + byteLength, 0)
  for (const { name, byteLength } of sizes)
    console.log(`${(byteLength / 2 ** 20).toFixed(1).padStart(6)} MiB  ${name}`)
  console.log(`${(total / 2 ** 20).toFixed(1).padStart(6)} MiB  .gpu-bundle`)
  if (total > maximumByteLength) {
    console.error(`The bundle is larger than ${maximumByteLength / 2 ** 20} MiB.`)
    process.exitCode = 1
  }
}

/** Packs the Node that runs this, stripped; again only when its file changes. */
function packNode(): void {
  const node = process.execPath
  const { size, mtimeMs } = statSync(node)
  once('node.xz', `${size} ${mtimeMs}`, (target) => {
    const stripped = join(bundle, '.node')
    copyFileSync(node, stripped)
    execFileSync('strip', [stripped])
    writeFileSync(target, execFileSync('xz', ['-T0', '-4', '-c', stripped], { maxBuffer: 2 ** 28 }))
    rmSync(stripped)
  })
}

/** The paths of all modules that the packages load, relative to the root. */
function moduleFolders(packages: readonly string[]): string[] {
  const found = new Set<string>()
  const visit = (folder: string, name: string): void => {
    if (leftOut.has(name) || name.startsWith('@tandem-gpu/')) return
    // Searches like Node: in the nearest node_modules, then outwards.
    let directory = folder
    while (!existsSync(join(directory, 'node_modules', name, 'package.json'))) {
      if (directory === root) return
      directory = dirname(directory)
    }
    const path = join(directory, 'node_modules', name)
    const key = relative(root, path)
    if (found.has(key)) return
    found.add(key)
    const manifest = readManifest(path)
    for (const list of [manifest.dependencies, manifest.optionalDependencies]) {
      for (const dependency of Object.keys(list ?? {})) visit(path, dependency)
    }
  }
  for (const name of packages) {
    const folder = join(root, 'packages', name)
    for (const dependency of Object.keys(readManifest(folder).dependencies ?? {})) visit(folder, dependency)
  }
  for (const name of [...developmentModules, 'vite']) visit(root, name)
  return [...found].sort()
}

/** Build outputs that git ignores. */
function builtFiles(packages: readonly string[]): string[] {
  const files: string[] = []
  const collect = (folder: string, wanted: (name: string) => boolean): void => {
    if (!existsSync(folder)) return
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile() && !path.includes('/node_modules/') && wanted(path)) files.push(relative(root, path))
    }
  }
  for (const name of packages) {
    const folder = join(root, 'packages', name)
    collect(join(folder, 'dist'), (path) => path.endsWith('.js'))
    collect(join(folder, 'prebuilds'), (path) => /linux-x64\/[^/]*\.node$|kernels\.json\.gz$/.test(path))
    collect(join(folder, 'src'), (path) => path.endsWith('.wgsl.ts'))
  }
  return files.sort()
}

function webgpuFiles(): string[] {
  const folder = join('node_modules', 'webgpu')
  const top = readdirSync(join(root, folder)).filter((name) => /\.(js|cjs|mjs|json)$/.test(name))
  return [...top.map((name) => join(folder, name)), join(folder, 'dist', 'linux-x64')]
}

function pack(name: string, paths: readonly string[]): void {
  const key = createHash('sha256')
  for (const path of paths) {
    const { size, mtimeMs } = statSync(join(root, path))
    key.update(`${path} ${size} ${mtimeMs}\n`)
    if (existsSync(join(root, path, 'package.json'))) key.update(readManifest(join(root, path)).version)
  }
  once(name, key.digest('hex'), (target) => {
    const list = join(bundle, '.list')
    writeFileSync(list, paths.join('\n'))
    const exclude = ['*.d.ts', '*.d.mts', '*.d.cts', '*.map', '*.md'].map((pattern) => `--exclude=${pattern}`)
    // --no-recursion is not set: folders are packed whole, but modules inside modules are listed or left out
    // separately.
    execFileSync('tar', ['-C', root, '-I', 'xz -T0 -4', ...exclude, '-cf', target, '-T', list])
    rmSync(list)
  })
}

/** Writes `name` by renaming, unless its key shows that the contents would be the same. */
function once(name: string, key: string, write: (target: string) => void): void {
  const path = join(bundle, name)
  const keyPath = join(bundle, `${name}.key`)
  if (existsSync(path) && existsSync(keyPath) && readFileSync(keyPath, 'utf8') === key) return
  console.log(`packing ${name} …`)
  write(`${path}.new`)
  renameSync(`${path}.new`, path)
  writeFileSync(keyPath, key)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
