import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sharedHeaders } from './fake-driver.ts'

/** A sanitizer of GCC and Clang; UndefinedBehaviorSanitizer comes with AddressSanitizer. */
export type Sanitizer = 'address' | 'thread'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
const require = createRequire(import.meta.url)
const libraryOf = { address: 'libasan.so', thread: 'libtsan.so' } as const
/** The values for `-fsanitize=`. */
const checksOf = { address: 'address,undefined', thread: 'thread' } as const
const settings = {
  // Node and V8 never free much of what they allocate.
  address: { ASAN_OPTIONS: 'detect_leaks=0', UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1' },
  // Node and V8 are not instrumented, so their work looks like races.
  thread: { TSAN_OPTIONS: 'ignore_noninstrumented_modules=1' },
} as const
/** ThreadSanitizer needs a fixed address layout. */
const launcherOf = { address: [], thread: ['setarch', '-R'] } as const

function runtimeLibrary(sanitizer: Sanitizer): string | undefined {
  const { stdout } = spawnSync('c++', [`-print-file-name=${libraryOf[sanitizer]}`], { encoding: 'utf8' })
  const path = stdout?.trim() ?? ''
  return isAbsolute(path) ? path : undefined
}

/** The reason why this machine cannot run under the sanitizer, or undefined. */
export function missingFor(sanitizer: Sanitizer): string | undefined {
  if (runtimeLibrary(sanitizer) === undefined) return `the compiler has no ${libraryOf[sanitizer]}`
  const [launcher, ...rest] = launcherOf[sanitizer]
  if (launcher !== undefined && spawnSync(launcher, [...rest, 'true']).status !== 0)
    return `'${[launcher, ...rest].join(' ')}' does not work here`
  return undefined
}

/**
 * Compiles C++ sources into an addon with the sanitizer, if one is newer than the addon. Returns its path.
 * The sources form one translation unit, which takes half the time of many, because most of the time is spent
 * on their common headers.
 */
export function buildSanitized(
  sanitizer: Sanitizer,
  name: string,
  sources: readonly string[],
  watched: readonly string[] = sources,
): string {
  const folder = join(packageFolder, 'build', sanitizer)
  const addon = join(folder, `${name}.node`)
  const newest = Math.max(...watched.map((source) => statSync(source).mtimeMs))
  if (existsSync(addon) && statSync(addon).mtimeMs > newest) return addon
  mkdirSync(folder, { recursive: true })
  const temporary = `${addon}.${process.pid}`
  const unit = `${temporary}.cpp`
  writeFileSync(unit, sources.map((source) => `#include ${JSON.stringify(source)}\n`).join(''))
  const built = spawnSync(
    'c++',
    [
      ...['-shared', '-fPIC', '-O0', '-g1', '-std=c++20', '-fvisibility=hidden', '-fno-omit-frame-pointer'],
      ...[`-fsanitize=${checksOf[sanitizer]}`, '-DNAPI_VERSION=9', '-DNODE_ADDON_API_CPP_EXCEPTIONS_ALL'],
      ...['-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS', '-Wl,-z,nodelete'],
      `-I${sharedHeaders}`,
      `-I${require('node-api-headers').include_dir}`,
      `-I${join(require.resolve('node-addon-api/package.json'), '..')}`,
      ...[unit, '-o', temporary, '-ldl', '-pthread'],
    ],
    { encoding: 'utf8' },
  )
  rmSync(unit)
  if (built.status !== 0) throw new Error(`${name} does not build: ${built.stderr}`)
  renameSync(temporary, addon)
  return addon
}

/** The addon of this package, or of another one, built with the sanitizer. */
export function sanitizedAddon(sanitizer: Sanitizer, name = 'addon', package_ = packageFolder): string {
  const files = [sharedHeaders, join(package_, 'native', 'src')].flatMap((folder) =>
    readdirSync(folder).map((file) => join(folder, file)),
  )
  return buildSanitized(
    sanitizer,
    name,
    files.filter((file) => file.endsWith('.cpp')),
    files,
  )
}

/**
 * The command prefix and the variables with which a launcher starts Node, so that it has the sanitizer's
 * library and `addon`.
 */
export function sanitizedStart(
  sanitizer: Sanitizer,
  addon: string,
): { starter: readonly string[]; environment: Readonly<Record<string, string>> } {
  return {
    starter: [...launcherOf[sanitizer], 'env', `LD_PRELOAD=${runtimeLibrary(sanitizer)}`],
    environment: { ...settings[sanitizer], NODE_OPTIONS: `--require ${hook(addon)}` },
  }
}

/**
 * Runs Node with the sanitizer's library; requests for this package's addon return `addon`. Returns
 * everything that is printed.
 */
export function runSanitized(
  sanitizer: Sanitizer,
  addon: string,
  nodeArguments: readonly string[],
): { status: number | null; output: string } {
  const env = { LD_PRELOAD: runtimeLibrary(sanitizer) }
  return run(sanitizer, nodeArguments, { ...env, NODE_OPTIONS: `--require ${hook(addon)}` })
}

/**
 * The same for test files of this package, which run in a worker process of vitest: its main process loads no
 * addon, so it runs without the sanitizer's library, which would make everything much slower.
 */
export function runSanitizedTests(
  sanitizer: Sanitizer,
  addon: string,
  vitestArguments: readonly string[],
): { status: number | null; output: string } {
  return run(sanitizer, [vitest, 'run', '--reporter=default', ...vitestArguments], {
    NODE_OPTIONS: `--require ${hook(addon)}`,
    [forWorkers]: runtimeLibrary(sanitizer),
  })
}

const vitest = join(require.resolve('vitest/package.json'), '..', 'vitest.mjs')
const forWorkers = 'TANDEM_SANITIZER_LIBRARY'

/** The file that Node loads first. Each addon has its own, since two packages run their tests at once. */
function hook(addon: string): string {
  const path = addon.replace(/\.node$/, '-hook.cjs')
  const loader = addon.replace(/\.node$/, '-loader.cjs')
  writeFileSync(loader, `module.exports = () => require(${JSON.stringify(addon)})\n`)
  writeFileSync(
    path,
    `// A worker of vitest has loaded the library; compilers that tests start shall not.
if (process.send !== undefined) delete process.env.LD_PRELOAD
else if (process.env.${forWorkers}) process.env.LD_PRELOAD = process.env.${forWorkers}
const Module = require('node:module')
const resolve = Module._resolveFilename
Module._resolveFilename = function (request, ...rest) {
  return request === 'node-gyp-build' ? ${JSON.stringify(loader)} : resolve.call(this, request, ...rest)
}
`,
  )
  return path
}

function run(
  sanitizer: Sanitizer,
  nodeArguments: readonly string[],
  env: NodeJS.ProcessEnv,
): { status: number | null; output: string } {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|FORCE_COLOR)/.test(name))
  const [program, ...rest] = [...launcherOf[sanitizer], process.execPath, ...nodeArguments]
  const { status, stdout, stderr } = spawnSync(program!, rest, {
    cwd: packageFolder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...settings[sanitizer], ...env },
  })
  return { status, output: stdout + stderr }
}
