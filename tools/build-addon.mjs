// Builds the native addon of a package.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/**
 * Puts the addon where node-gyp-build finds it in the published package: for this machine, or with `--arm64` for linux-arm64, by
 * Debian's cross compiler (g++-aarch64-linux-gnu). Without CMake or a C++ compiler it says so and leaves the package usable:
 * `adapters()` then reports that the addon is not built. `what` is what the package needs it for.
 */
export function buildAddon(packageFolder, what) {
  const name = basename(packageFolder)
  const cross = process.argv.includes('--arm64')
  const compiler = cross ? 'aarch64-linux-gnu-g++' : 'c++'
  const missing = ['cmake', compiler].filter(
    (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error,
  )
  if (missing.length > 0) {
    console.warn(
      `${name}: ${missing.join(' and ')} not found, so the native addon is not built${cross ? ' for linux-arm64' : `; ${what} is unavailable from this clone`}.`,
    )
    process.exit(cross ? 1 : 0)
  }
  const cmakeJs = join(
    dirname(createRequire(import.meta.url).resolve('cmake-js/package.json')),
    'bin',
    'cmake-js',
  )
  // node-gyp-build takes build/Release before prebuilds: another machine's addon has a folder of its own.
  const output = join(packageFolder, cross ? 'build-arm64' : 'build')
  forgetBuildOfAnotherFolder(packageFolder, output)
  const crossArguments = [
    ...['--arch', 'arm64', '--CDCMAKE_SYSTEM_NAME=Linux', '--CDCMAKE_SYSTEM_PROCESSOR=aarch64'],
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
  const platform = cross ? 'linux-arm64' : `${process.platform}-${process.arch}`
  const prebuilds = join(packageFolder, 'prebuilds', platform)
  mkdirSync(prebuilds, { recursive: true })
  const target = join(prebuilds, `@tandem-gpu+${name}.node`)
  // Renamed into place: a process that has the old file open keeps it.
  copyFileSync(built, `${target}.new`)
  renameSync(`${target}.new`, target)
}

/** CMake goes on building the sources of the folder that a build was copied from. */
function forgetBuildOfAnotherFolder(packageFolder, output) {
  const cache = join(output, 'CMakeCache.txt')
  if (!existsSync(cache)) return
  const [, sources] = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8')) ?? []
  if (sources !== packageFolder) rmSync(output, { recursive: true })
}
