import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import {
  checkPackage,
  createPackageFromTarballData,
  type Problem,
  type ResolutionKind,
} from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packAll } from './release/pack.ts'
import { runAsync } from './release/testing/run-async.ts'
import { serveTarballs, type TarballRegistry } from './release/testing/tarball-registry.ts'
import { addonProblems, problemsOf } from './release/verify.ts'
import { shippedSources } from './ship-kernels/shipped-sources.ts'

// What npm would publish, tested as a user gets it. Needs a build, which `npm test` makes first.

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = (await readdir(join(root, 'packages'))).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
)
const oldestNode = nodeOfMajor(20)
const tarballOf = new Map<string, string>()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tandem-packaging-'))
  // Compiling kernels with nvcc first, as a release does, takes minutes, and not every machine has nvcc.
  for (const [name, tarball] of packAll({ root, out: folder, withoutKernels: true }))
    tarballOf.set(name, tarball)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(packages)('the tarball of %s', (name) => {
  it('has no install script, supports Node 20 and carries its licence', () => {
    const { scripts = {}, engines, gypfile } = JSON.parse(tarEntry(name, 'package/package.json'))
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts).not.toHaveProperty(script)
    // npm builds any package that has a binding.gyp and no install script.
    expect(gypfile).toBeUndefined()
    expect(tarList(name)).not.toContain('package/binding.gyp')
    expect(engines.node).toBe('>=20.19')
    expect(tarList(name)).toContain('package/LICENSE')
  })

  it('holds builds and no tests', () => {
    expect(tarList(name)).toContain('package/dist/index.js')
    expect(tarList(name)).toContain('package/dist/index.d.ts')
    expect(tarList(name).filter((path) => /\.test\.|\.tsbuildinfo$/.test(path))).toEqual([])
  })

  it('holds no source maps, and nothing that points to one: the sources are not there', () => {
    expect(tarList(name).filter((path) => path.endsWith('.map'))).toEqual([])
    const args = ['-xzOf', tarballOf.get(name)!, '--wildcards', '*.js', '*.d.ts']
    const { status, stdout } = spawnSync('tar', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    expect(status).toBe(0)
    expect(stdout).not.toContain('sourceMappingURL')
  })

  it('says in its metadata what it is and where it comes from', () => {
    const manifest = JSON.parse(tarEntry(name, 'package/package.json'))
    expect(manifest).toMatchObject({
      description: expect.stringMatching(/\w/),
      license: expect.stringMatching(/^(MIT|Apache-2\.0)$/),
      homepage: `https://github.com/tandem-gpu/tandem/tree/main/packages/${name}#readme`,
      bugs: 'https://github.com/tandem-gpu/tandem/issues',
      repository: {
        type: 'git',
        url: 'git+https://github.com/tandem-gpu/tandem.git',
        directory: `packages/${name}`,
      },
    })
    expect(manifest.keywords.length).toBeGreaterThanOrEqual(3)
    expect(manifest.files).toContain('CHANGELOG.md')
    expect(tarList(name)).toContain('package/README.md')
  })

  it('satisfies publint', async () => {
    const bytes = await readFile(tarballOf.get(name)!)
    const { messages } = await publint({ pack: { tarball: bytes.buffer as ArrayBuffer }, strict: true })
    expect(messages).toEqual([])
  })

  it('has types that resolve (arethetypeswrong, ESM only)', async () => {
    const result = await checkPackage(createPackageFromTarballData(await readFile(tarballOf.get(name)!)))
    if (!result.types) throw new Error(`The tarball of ${name} has no types.`)
    // What `attw --profile esm-only` ignores: `require`, and how TypeScript resolved packages before they had
    // `exports`.
    const ignored: readonly ResolutionKind[] = ['node10', 'node16-cjs']
    const matters = (problem: Problem) =>
      !('resolutionKind' in problem && ignored.includes(problem.resolutionKind))
    expect(result.problems.filter(matters)).toEqual([])
  })
})

describe.each(['backend-cuda', 'backend-mpi'])('the addon of %s', (name) => {
  it('needs no glibc above 2.34 and no libstdc++ of the machine, or its tarball is refused', () => {
    const path = `prebuilds/linux-x64/@tandem-gpu+${name}.node`
    const args = ['-xzOf', tarballOf.get(name)!, `package/${path}`]
    const addon = spawnSync('tar', args, { maxBuffer: 2 ** 28 }).stdout
    expect(addonProblems(path, addon)).toEqual([])
    expect(addonProblems(path, Buffer.from(`${addon.toString('latin1')}\0GLIBC_2.38\0`, 'latin1'))).toEqual([
      `${path} needs glibc 2.38, and 2.34 is what docs/support.md promises.`,
    ])
    expect(addonProblems(path, Buffer.concat([addon, Buffer.from('\0libstdc++.so.6\0')]))).toEqual([
      `${path} needs the libstdc++ of the machine.`,
    ])
  })
})

describe('the tarball of backend-cuda', () => {
  it('holds the addon, or why it was not built, and says in its metadata that it is packed without kernels', () => {
    const files = tarList('backend-cuda')
    const [addon, note] = ['@tandem-gpu+backend-cuda.node', 'not-built.txt'].map((name) =>
      files.includes(`package/prebuilds/linux-x64/${name}`),
    )
    expect([addon, note]).toContain(true)
    expect(addon).not.toBe(note)
    expect(files).toContain('package/THIRD-PARTY.md')
    expect(files).not.toContain('package/prebuilds/kernels.json.gz')
    const { tandem, scripts } = JSON.parse(tarEntry('backend-cuda', 'package/package.json'))
    expect(tandem).toEqual({ withoutKernels: true })
    expect(scripts.prepack).toBe('node ../../tools/ship-kernels/ship-kernels.ts')
  })

  it('is refused by the release script', () => {
    const script = join(root, 'tools/release/publish.ts')
    const args = [script, '--registry', 'http://127.0.0.1:9/', '--tarballs', folder]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ status, stdout }, stderr).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('@tandem-gpu/backend-cuda: it is packed with --without-kernels.')
    expect(problemsOf(tarballOf.get('wgsl')!, join(root, 'packages/wgsl')).join()).not.toContain('kernels')
  })

  it('is refused where its kernels are not those that the algorithms ask for', async () => {
    const sources = shippedSources()
    const stale = Object.fromEntries(sources.slice(1).map(({ key }) => [key, 'ptx']))
    const tarball = await withKernels({ ...stale, 'not-asked-for': 'ptx' })
    const problems = problemsOf(tarball, join(root, 'packages/backend-cuda'))
    expect(problems).toContain(
      `its kernels are stale: 1 of ${sources.length} are missing, '${sources[0]!.label}' for instance, and 1 are not asked for.`,
    )
    const current = await withKernels(Object.fromEntries(sources.map(({ key }) => [key, 'ptx'])))
    expect(problemsOf(current, join(root, 'packages/backend-cuda')).join()).not.toContain('kernels')
  })

  it('holds products on tensor cores, for GPUs from sm_80 on alone', () => {
    const architectures = (label: string) =>
      shippedSources().flatMap((source) => (source.label === label ? [source.architecture] : []))
    const products = ['matmul split product vector', 'matmul split product scalar']
    for (const label of [...products, 'matmul f16 128×256 tensor', 'matmul f16 128×128 tensor'])
      expect(architectures(label), label).toEqual([80])
    for (const label of ['matmul split rows vector', 'matmul f16 registers', 'matmul f16 round'])
      expect(architectures(label), label).toEqual([75])
  })

  it('is not made by npm where nvcc is missing: npm pack and npm publish fail', async () => {
    const script = join(root, 'tools/ship-kernels/ship-kernels.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--nvcc', '/nowhere/nvcc'], {
      encoding: 'utf8',
    })
    expect({ status, stdout }, stderr).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^nvcc is not found \(\/nowhere\/nvcc\), .* --without-kernels`\.$/m)
  })
})

describe.skipIf(oldestNode === undefined)(
  'a project that installs the tarballs under Node 20 (skipped where there is no Node 20)',
  () => {
    let project: string
    let registry: TarballRegistry

    beforeAll(async () => {
      project = join(folder, 'project')
      await mkdir(project)
      await writeFile(
        join(project, 'package.json'),
        JSON.stringify({ name: 'project', private: true, type: 'module' }),
      )
      registry = await serveTarballs(tarballOf.values())
      await writeFile(join(project, '.npmrc'), registry.npmrc)
      const names = packages.map((name) => `@tandem-gpu/${name}`)
      const install = await runAsync(
        'npm',
        ['install', '--no-audit', '--no-fund', '--loglevel=error', ...names],
        { cwd: project, env: npmEnvironment() },
      )
      expect(install.status, install.output).toBe(0)
    })
    afterAll(() => registry.close())

    it('runs every tandem command of the README', async () => {
      const readme = await readFile(join(root, 'README.md'), 'utf8')
      const commands = [...readme.matchAll(/^tandem (.*)$/gm)].map(([, line]) => line!)
      expect(commands.length).toBeGreaterThanOrEqual(5)
      for (const line of commands) {
        const { status, stdout, stderr } = node20(
          join(project, 'node_modules/.bin/tandem'),
          ...line.split(' '),
        )
        expect(status, `tandem ${line}\n${stdout}${stderr}`).toBe(0)
      }
      expect(await readdir(project)).toContain('solution.png')
    })

    it('removes a half-written output at Ctrl-C, and exits with 130', async () => {
      const script = join(project, 'node_modules/.bin/tandem')
      const args = ['jacobi', '--rows', '2000', '--cols', '2000', '--iterations', '1000000', '--output']
      const interrupted = async (out: string) => {
        await mkdir(out)
        const child = spawn(oldestNode!, [script, ...args, join(out, 'u.npy')], { stdio: 'ignore' })
        while ((await readdir(out)).length === 0) await setTimeout(50)
        await setTimeout(500)
        child.kill('SIGINT')
        const exit = await new Promise((resolve) => child.on('exit', resolve))
        return { exit, left: await readdir(out) }
      }
      let result = await interrupted(join(project, 'interrupted'))
      // On a machine so busy that the event loop gets no turn for most of a second, the operating system ends
      // the process.
      for (let turn = 1; result.exit === null && turn < 20; turn++)
        result = await interrupted(join(project, `interrupted${turn}`))
      expect(result).toEqual({ exit: 130, left: [] })
    })

    it('has a process that ends by itself, though nothing was closed', async () => {
      await writeFile(
        join(project, 'forgetful.js'),
        `import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
const group = await openGroup({ backends: [webgpu()] })
const x = await group.devices[0].allocate('f32', 16)
await group.queue.read(x)
console.log('done')
`,
      )
      const { status, stdout, stderr } = node20(join(project, 'forgetful.js'))
      expect([status, stdout, stderr]).toEqual([0, 'done\n', expect.anything()])
    })

    it('has a process that leaves the CPU alone while a group is open', async () => {
      await writeFile(
        join(project, 'idle.js'),
        `import { setTimeout } from 'node:timers/promises'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
const group = await openGroup({ backends: [webgpu()], devices: 2 })
const x = await group.devices[1].allocate('f32', 16)
await group.queue.read(x)
await setTimeout(500)
// The least of up to sixty seconds: a collector may run in one, what burns CPU burns it in all.
let least = 1
for (let second = 0; second < 60 && least > 0.02; second++) {
  const before = process.cpuUsage()
  await setTimeout(1000)
  const { user, system } = process.cpuUsage(before)
  least = Math.min(least, (user + system) / 1e6)
}
console.log(String(least))
await group.destroy()
`,
      )
      const { status, stdout, stderr } = node20(join(project, 'idle.js'))
      expect(status, stderr).toBe(0)
      expect(Number(stdout)).toBeLessThan(0.02)
    })
  },
)

function node20(script: string, ...args: string[]) {
  const cwd = dirname(script).replace(/\/node_modules\/\.bin$/, '')
  return spawnSync(oldestNode!, [script, ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  })
}

/** npm on the oldest Node that there is. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const path =
    oldestNode === undefined ? process.env.PATH : [dirname(oldestNode), process.env.PATH].join(delimiter)
  return { ...process.env, PATH: path }
}

/** The tarball of backend-cuda with these kernels, and not marked. */
async function withKernels(kernels: Readonly<Record<string, string>>): Promise<string> {
  const stage = await mkdtemp(join(folder, 'kernels-'))
  spawnSync('tar', ['-xzf', tarballOf.get('backend-cuda')!, '-C', stage])
  const path = join(stage, 'package/package.json')
  const { tandem: _, ...manifest } = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify(manifest))
  await writeFile(join(stage, 'package/prebuilds/kernels.json.gz'), gzipSync(JSON.stringify(kernels)))
  const tarball = join(stage, 'backend-cuda.tgz')
  spawnSync('tar', ['-czf', tarball, '-C', stage, 'package'])
  return tarball
}

/** Outside node_modules, which puts Node 24 first on the PATH. */
function nodeOfMajor(major: number): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  return folders
    .map((path) => join(path, 'node'))
    .find(
      (path) =>
        existsSync(path) && spawnSync(path, ['--version']).stdout?.toString().startsWith(`v${major}.`),
    )
}

function tarList(name: string): string[] {
  return spawnSync('tar', ['-tzf', tarballOf.get(name)!], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n')
}

function tarEntry(name: string, path: string): string {
  return spawnSync('tar', ['-xzOf', tarballOf.get(name)!, path], { encoding: 'utf8' }).stdout
}
