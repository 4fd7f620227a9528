// The cached build of nx depends on the tools that were available: a clone that was built without CMake gets
// its addon once CMake is installed.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const nx = join(dirname(createRequire(import.meta.url).resolve('nx/package.json')), 'dist/bin/nx.js')
const addon = 'packages/backend-cuda/prebuilds/linux-x64/@tandem-gpu+backend-cuda.node'

const notBuilt = 'packages/backend-cuda/prebuilds/linux-x64/not-built.txt'

/** A workspace that builds as this package does, with an addon of one line. */
function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-addon-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const target = join(folder, 'packages/backend-cuda')
  mkdirSync(join(target, 'native/src'), { recursive: true })
  for (const name of ['package.json', 'CMakeLists.txt', 'native/build.mjs'])
    copyFileSync(join(root, 'packages/backend-cuda', name), join(target, name))
  writeFileSync(
    join(target, 'native/src/addon.cpp'),
    '#include <node_api.h>\nNAPI_MODULE_INIT() { return exports; }\n',
  )
  for (const name of ['.gitignore', 'nx.json', 'package.json', 'package-lock.json'])
    copyFileSync(join(root, name), join(folder, name))
  mkdirSync(join(folder, 'tools'))
  for (const name of ['build-addon.mjs', 'build-tools.mjs'])
    copyFileSync(join(root, 'tools', name), join(folder, 'tools', name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** A folder with the programs in PATH, except for some. */
function pathWithout(hidden: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-path-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const from of process.env.PATH!.split(delimiter).filter((entry) => existsSync(entry))) {
    for (const name of readdirSync(from)) {
      const link = join(folder, name)
      if (!hidden.includes(name) && !existsSync(link)) symlinkSync(join(from, name), link)
    }
  }
  return folder
}

it('builds the addon once the tools are installed, whatever nx has cached', () => {
  const folder = workspace()
  const build = (path: string, skip?: 'skip') => {
    const { TANDEM_ADDON: _, ...inherited } = process.env
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [nx, 'run', '@tandem-gpu/backend-cuda:addon', '--outputStyle=static'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: {
          ...inherited,
          ...(skip && { TANDEM_ADDON: skip }),
          PATH: path,
          NX_DAEMON: 'false',
          NX_TUI: 'false',
          NX_NO_CLOUD: 'true',
          NX_WORKSPACE_DATA_DIRECTORY: join(folder, '.nx/data'),
        },
      },
    )
    return { status, output: stdout + stderr }
  }
  const bare = pathWithout(['cmake'])
  const refused = build(bare)
  expect(refused.output).toContain('the native addon needs cmake, which this machine does not have')
  expect(refused.status).not.toBe(0)
  const skipped = build(bare, 'skip')
  expect(skipped.status, skipped.output).toBe(0)
  expect(existsSync(join(folder, addon))).toBe(false)
  expect(readFileSync(join(folder, notBuilt), 'utf8')).toBe('this machine does not have CMake\n')
  const built = build(process.env.PATH!)
  expect(built.status, built.output).toBe(0)
  expect(existsSync(join(folder, addon)), built.output).toBe(true)
  expect(existsSync(join(folder, notBuilt))).toBe(false)
  // Nothing has changed, so nx restores the cached build.
  cpSync(join(folder, addon), join(folder, 'kept.node'))
  rmSync(join(folder, 'packages/backend-cuda/prebuilds'), { recursive: true })
  expect(build(process.env.PATH!).output).toMatch(/cache/)
  expect(existsSync(join(folder, addon))).toBe(true)
  // Without the tools, the earlier addon is removed.
  const again = build(bare, 'skip')
  expect(again.status, again.output).toBe(0)
  expect(existsSync(join(folder, addon))).toBe(false)
  expect(existsSync(join(folder, 'packages/backend-cuda/build/Release/backend-cuda.node'))).toBe(false)
  expect(existsSync(join(folder, notBuilt))).toBe(true)
})

it('nx builds the addon again if a tool or TANDEM_ADDON is added, removed or changed', () => {
  const { inputs } = JSON.parse(readFileSync(join(root, 'nx.json'), 'utf8')).targetDefaults.addon
  expect(inputs).toContainEqual({ runtime: 'node tools/build-addon.mjs' })
  expect(inputs).toContainEqual({ env: 'TANDEM_ADDON' })
  const tools = (path: string) =>
    spawnSync(process.execPath, ['tools/build-addon.mjs'], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    }).stdout
  const version = (tool: string) =>
    spawnSync(tool, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0] ?? 'not found'
  expect(tools(process.env.PATH!)).toBe(
    ['cmake', 'c++', 'make'].map((tool) => `${tool}: ${version(tool)}\n`).join(''),
  )
  expect(tools('/nowhere')).toBe('cmake: not found\nc++: not found\nmake: not found\n')
})
