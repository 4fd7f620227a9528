import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { startLocalRegistry } from './local-registry.ts'

declare module 'vitest' {
  interface ProvidedContext {
    release: DryRun
  }
}

/** A release made from a clean clone, and published to a registry on this machine. */
export interface DryRun {
  readonly registry: string
  /** The lines of an .npmrc with which a package manager installs from the registry. */
  readonly npmrc: string
  /**
   * A home folder for the package managers, empty when the release is created: Yarn's metadata contains the
   * registry of each package, which differs between runs.
   */
  readonly home: string
  readonly clone: string
  readonly tarballs: string
  readonly version: string
  /** The steps of the release, in order. */
  readonly steps: readonly { readonly name: string; readonly seconds: number }[]
  /** Requests during publishing to the registry that npm's configuration names: there must be none. */
  readonly strayRequests: readonly string[]
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  requireTools()
  const folder = mkdtempSync(join(tmpdir(), 'tandem-release-'))
  const clone = join(folder, 'clone')
  const tarballs = join(folder, 'tarballs')
  const home = join(folder, 'home')
  mkdirSync(home)
  const steps: { name: string; seconds: number }[] = []
  const step = (name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const begin = performance.now()
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: existsSync(clone) ? clone : folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { ...process.env, ...env },
    })
    if (status !== 0) throw new Error(`The release fails: ${name} ends with ${status}.\n${stdout}${stderr}`)
    const seconds = (performance.now() - begin) / 1000
    steps.push({ name, seconds })
    console.log(`release: ${name} (${seconds.toFixed(0)} s)`)
    return stdout
  }

  if (spawnSync('git', ['status', '--porcelain'], { cwd: root }).stdout.length > 0)
    console.log('release: what is not committed is not in the clone.')
  step('git clone', 'git', ['clone', '-q', '--no-local', root, clone])
  step('npm ci', 'npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'])
  step('npm run release:version', 'npm', ['run', '--silent', 'release:version'])
  step('npm run build', 'npm', ['run', '--silent', 'build'])
  step('npm run build:arm64', 'npm', ['run', '--silent', 'build:arm64'])
  // Earlier outputs of nvcc, by source and nvcc release, if there are any.
  const compiled = join(root, 'packages/backend-cuda/.cache/ptx')
  if (existsSync(compiled))
    cpSync(compiled, join(clone, 'packages/backend-cuda/.cache/ptx'), { recursive: true })
  step('npm run pack', 'npm', ['run', '--silent', 'pack', '--', '--out', tarballs])
  const version = JSON.parse(
    step('read the version', 'npm', ['pkg', 'get', 'version', '--workspace', '@tandem-gpu/core']),
  )['@tandem-gpu/core'] as string

  const upstream = spawnSync('npm', ['config', 'get', 'registry'], { cwd: tmpdir(), encoding: 'utf8' })
  const registry = await startLocalRegistry(upstream.stdout.trim())
  const stray = await startStrayRegistry()
  // The configuration of a maintainer whose scope has its own registry, to which a publish must not go.
  const publisherConfig = join(folder, 'publisher.npmrc')
  writeFileSync(
    publisherConfig,
    [`registry=${stray.url}`, `@tandem-gpu:registry=${stray.url}`, registry.authLine, ''].join('\n'),
  )
  await stepAsync('publish', ['tools/release/publish.ts', '--registry', registry.url, '--tarballs', tarballs])
  stray.close()

  const npmrc = `registry=${registry.url}\n${registry.authLine}\n`
  project.provide('release', {
    registry: registry.url,
    npmrc,
    home,
    clone,
    tarballs,
    version,
    steps,
    strayRequests: stray.requests,
  })
  return async () => {
    await registry.close()
    rmSync(folder, { recursive: true, force: true })
  }

  /** The registry runs in this process, so nothing may block it. */
  async function stepAsync(name: string, args: readonly string[]): Promise<void> {
    const begin = performance.now()
    const { runAsync } = await import('./run-async.ts')
    const { status, output } = await runAsync(process.execPath, args, {
      cwd: clone,
      env: { ...process.env, NPM_CONFIG_USERCONFIG: publisherConfig },
    })
    if (status !== 0) throw new Error(`The release fails: ${name} ends with ${status}.\n${output}`)
    steps.push({ name, seconds: (performance.now() - begin) / 1000 })
    console.log(`release: ${name} (${steps.at(-1)!.seconds.toFixed(0)} s)`)
  }
}

/** A release needs compilers that not every machine has; without them there is nothing to test. */
function requireTools(): void {
  const starts = (tool: string) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
  const missing = [
    ...(starts('nvcc') || starts('/usr/local/cuda/bin/nvcc')
      ? []
      : ['nvcc (the CUDA toolkit 12.0 or newer)']),
    ...(starts('aarch64-linux-gnu-g++')
      ? []
      : ['aarch64-linux-gnu-g++ (Debian package g++-aarch64-linux-gnu)']),
    ...(starts('qemu-aarch64') ? [] : ['qemu-aarch64 (Debian package qemu-user)']),
  ]
  if (missing.length > 0) throw new Error(`npm run test:release needs ${missing.join(' and ')}.`)
}

async function startStrayRegistry() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, requests, close: () => server.close() }
}
