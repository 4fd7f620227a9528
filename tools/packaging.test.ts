import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

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
  for (const name of packages) {
    const packed = npm(
      // Compiling kernels with nvcc first, as publishing does, takes minutes.
      [
        'pack',
        join(root, 'packages', name),
        '--pack-destination',
        folder,
        '--json',
        '--silent',
        '--ignore-scripts',
      ],
      root,
    )
    expect(packed.status, packed.stderr).toBe(0)
    const listing = JSON.parse(packed.stdout.slice(packed.stdout.search(/^[[{]/m)))
    const [entry] = Array.isArray(listing) ? listing : Object.values(listing)
    tarballOf.set(name, join(folder, basename((entry as { filename: string }).filename)))
  }
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
    for (const path of tarList(name).filter((entry) => /\.(js|d\.ts)$/.test(entry)))
      expect(tarEntry(name, path)).not.toContain('sourceMappingURL')
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

  it('has types that resolve (arethetypeswrong, ESM only)', () => {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    const args = [attw, tarballOf.get(name)!, '--profile', 'esm-only', '--no-color', '--no-emoji']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  })
})

describe('the tarball of backend-cuda', () => {
  const shipped = join(root, 'packages/backend-cuda/prebuilds/kernels.json.gz')

  it('holds the addon, and the kernels that nvcc compiled where it is present', () => {
    const files = tarList('backend-cuda')
    expect(files).toContain('package/prebuilds/linux-x64/@tandem-gpu+backend-cuda.node')
    expect(files.includes('package/prebuilds/kernels.json.gz')).toBe(existsSync(shipped))
    const { scripts } = JSON.parse(tarEntry('backend-cuda', 'package/package.json'))
    expect(scripts.prepack).toBe('node ../../tools/ship-kernels/ship-kernels.ts')
  })

  it('can be packed without nvcc, which leaves the kernels packed last', async () => {
    const before = existsSync(shipped) ? await readFile(shipped) : undefined
    const script = join(root, 'tools/ship-kernels/ship-kernels.ts')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--nvcc', '/nowhere/nvcc'], {
      encoding: 'utf8',
    })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' })
    expect(stderr).toMatch(/^nvcc is not found: /)
    expect(existsSync(shipped) ? await readFile(shipped) : undefined).toEqual(before)
  })
})

describe.skipIf(oldestNode === undefined)(
  'a project that installs the tarballs under Node 20 (skipped where there is no Node 20)',
  () => {
    let project: string

    beforeAll(async () => {
      project = join(folder, 'project')
      await mkdir(project)
      await writeFile(
        join(project, 'package.json'),
        JSON.stringify({ name: 'project', private: true, type: 'module' }),
      )
      const install = npm(
        ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...tarballOf.values()],
        project,
      )
      expect(install.status, install.stdout + install.stderr).toBe(0)
    })

    const snippets = typescriptSnippets()

    it('compiles every TypeScript snippet of the README', async () => {
      expect((await snippets).length).toBeGreaterThanOrEqual(2)
      for (const [i, { source }] of (await snippets).entries())
        await writeFile(join(project, `snippet${i}.ts`), source)
      const options = {
        target: 'es2023',
        lib: ['es2023'],
        module: 'nodenext',
        strict: true,
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      }
      await writeFile(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
      )
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      const args = [tsc, '-p', project, '--pretty', 'false']
      const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      // Without DOM types @webgpu/types has errors of its own, which `skipLibCheck` hides from users; ours may have none.
      const errors = stdout.split('\n').filter((line) => /error TS/.test(line))
      expect(errors.filter((line) => !line.includes('@webgpu/types/'))).toEqual([])
      expect(existsSync(join(project, 'snippet0.js'))).toBe(true)
    })

    it('runs every one of them, and each prints what its comments say', async () => {
      for (const [i, { expected }] of (await snippets).entries()) {
        const { status, stdout, stderr } = node20(join(project, `snippet${i}.js`))
        expect(status, stderr).toBe(0)
        expect(stdout.trim().split('\n')).toEqual(expected)
      }
    })

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
      const out = join(project, 'interrupted')
      await mkdir(out)
      const script = join(project, 'node_modules/.bin/tandem')
      const args = [
        'jacobi',
        '--rows',
        '2000',
        '--cols',
        '2000',
        '--iterations',
        '1000000',
        '--output',
        join(out, 'u.npy'),
      ]
      const child = spawn(oldestNode!, [script, ...args], { stdio: 'ignore' })
      while ((await readdir(out)).length === 0) await setTimeout(50)
      await setTimeout(500)
      child.kill('SIGINT')
      expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(130)
      expect(await readdir(out)).toEqual([])
    })

    it('has a process that ends within a second of its last line, though nothing was closed', async () => {
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
      const seconds = await secondsAfterLastLine(join(project, 'forgetful.js'))
      expect(seconds).toBeLessThan(1)
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
// The least of three seconds: a collector may run in one, what burns CPU burns it in all.
let least = 1
for (let second = 0; second < 3; second++) {
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

interface Snippet {
  readonly source: string
  /** One line a \`console.log\` that has a comment: the comment up to its colon. */
  readonly expected: readonly string[]
}

async function typescriptSnippets(): Promise<Snippet[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  return [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, source]) => ({
    source: source!,
    expected: [...source!.matchAll(/^console\.log\(.*\) \/\/ ([^:\n]*)/gm)].map(([, text]) => text!.trim()),
  }))
}

async function secondsAfterLastLine(script: string): Promise<number> {
  const child = spawn(oldestNode!, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let lastLine = Number.NaN
  child.stdout.on('data', () => {
    lastLine = performance.now()
  })
  const status = await new Promise((resolve) => child.on('exit', resolve))
  const ended = performance.now()
  expect(status).toBe(0)
  return (ended - lastLine) / 1000
}

function node20(script: string, ...args: string[]) {
  const cwd = dirname(script).replace(/\/node_modules\/\.bin$/, '')
  return spawnSync(oldestNode!, [script, ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '0' },
  })
}

function npm(args: readonly string[], cwd: string) {
  const path =
    oldestNode === undefined ? process.env.PATH : [dirname(oldestNode), process.env.PATH].join(delimiter)
  return spawnSync('npm', args, { cwd, encoding: 'utf8', env: { ...process.env, PATH: path } })
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
