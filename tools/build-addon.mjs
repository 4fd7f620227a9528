// Builds the native addon of a package. Run as `node tools/build-addon.mjs`, it prints the tools with which
// it would build: nx builds again when these change.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingBuildTools, namesOf } from './build-tools.mjs'

/**
 * Puts the addon where node-gyp-build finds it in the published package: for this machine, or with `--arm64`
 * for linux-arm64, with Debian's cross compiler (g++-aarch64-linux-gnu). On Linux it fails without CMake or a
 * C++ compiler. With TANDEM_ADDON=skip it builds nothing, deletes an earlier addon, and writes the reason to
 * `not-built.txt` in its place: `adapters()` then reports an absence. Other systems have no addon. `what`
 * names the feature for which the package needs the addon.
 */
export function buildAddon(packageFolder, what) {
  const name = basename(packageFolder)
  const cross = process.argv.includes('--arm64')
  const compiler = cross ? 'aarch64-linux-gnu-g++' : 'c++'
  if (process.platform !== 'linux' && !cross) {
    console.warn(`${name}: the native addon is for Linux; ${what} is unavailable from this clone.`)
    process.exit(0)
  }
  const platform = cross ? 'linux-arm64' : `${process.platform}-${process.arch}`
  const prebuilds = join(packageFolder, 'prebuilds', platform)
  const target = join(prebuilds, `@tandem-gpu+${name}.node`)
  const notBuilt = join(prebuilds, 'not-built.txt')
  mkdirSync(prebuilds, { recursive: true })
  if (process.env.TANDEM_ADDON === 'skip' && !cross) {
    const lacking = missingBuildTools()
    const why =
      lacking.length > 0 ? `this machine does not have ${namesOf(lacking)}` : 'TANDEM_ADDON is "skip"'
    rmSync(target, { force: true })
    rmSync(join(packageFolder, 'build/Release'), { recursive: true, force: true })
    writeFileSync(notBuilt, `${why}\n`)
    console.warn(
      `${name}: the native addon is not built, since ${why}; ${what} is unavailable from this clone.`,
    )
    process.exit(0)
  }
  rmSync(notBuilt, { force: true })
  const missing = ['cmake', compiler].filter((tool) => versionOf(tool) === undefined)
  if (missing.length > 0) {
    console.error(
      `${name}: the native addon needs ${missing.join(' and ')}, which this machine does not have. TANDEM_ADDON=skip builds without ${what}.`,
    )
    process.exit(1)
  }
  const cmakeJs = join(
    dirname(createRequire(import.meta.url).resolve('cmake-js/package.json')),
    'bin',
    'cmake-js',
  )
  // Objects for another machine are in a separate folder.
  const output = join(packageFolder, cross ? 'build-arm64' : 'build')
  forgetBuildOfAnotherFolder(packageFolder, output)
  const crossArguments = [
    '--arch',
    'arm64',
    '--CDCMAKE_SYSTEM_NAME=Linux',
    '--CDCMAKE_SYSTEM_PROCESSOR=aarch64',
    `--CDCMAKE_CXX_COMPILER=${compiler}`,
  ]
  const compiled = spawnSync(
    process.execPath,
    [cmakeJs, 'compile', '--log-level', 'error', '--out', output, ...(cross ? crossArguments : [])],
    { cwd: packageFolder, encoding: 'utf8' },
  )
  if (compiled.status !== 0) {
    console.error(compiled.stdout + compiled.stderr)
    process.exit(compiled.status ?? 1)
  }
  const built = join(output, 'Release', `${name}.node`)
  if (!existsSync(built)) {
    console.error(`${name}: cmake-js ends without ${built}.`)
    process.exit(1)
  }
  // Moved, since node-gyp-build would prefer an addon in build/Release, and nx does not clear that folder.
  // Renamed into place, so that a process that has the old file open keeps it.
  copyFileSync(built, `${target}.new`)
  renameSync(`${target}.new`, target)
  rmSync(built)
}

/** The first line of the output of `--version`; undefined for a missing tool. */
function versionOf(tool) {
  const { status, stdout } = spawnSync(tool, ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.split('\n', 1)[0] : undefined
}

/** CMake would otherwise continue to build the sources of the folder from which a build was copied. */
function forgetBuildOfAnotherFolder(packageFolder, output) {
  const cache = join(output, 'CMakeCache.txt')
  if (!existsSync(cache)) return
  const [, sources] = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8')) ?? []
  if (sources !== packageFolder) rmSync(output, { recursive: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const tool of ['cmake', 'c++', 'make']) console.log(`${tool}: ${versionOf(tool) ?? 'not found'}`)
