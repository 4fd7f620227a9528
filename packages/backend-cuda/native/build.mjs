// Builds the addon and puts it where node-gyp-build finds it in the published package. Without CMake or a C++ compiler it says so and
// leaves the package usable: `adapters()` then reports that the addon is not built.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
const missing = ['cmake', 'c++'].filter((tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error)
if (missing.length > 0) {
  console.warn(
    `backend-cuda: ${missing.join(' and ')} not found, so the native addon is not built; CUDA is unavailable from this clone.`,
  )
  process.exit(0)
}
const cmakeJs = join(
  dirname(createRequire(import.meta.url).resolve('cmake-js/package.json')),
  'bin',
  'cmake-js',
)
const compiled = spawnSync(process.execPath, [cmakeJs, 'compile', '--log-level', 'error'], {
  cwd: packageFolder,
  encoding: 'utf8',
})
if (compiled.status !== 0) {
  console.error(compiled.stdout + compiled.stderr)
  process.exit(compiled.status ?? 1)
}
const built = join(packageFolder, 'build', 'Release', 'backend-cuda.node')
if (!existsSync(built)) {
  console.error(`backend-cuda: cmake-js ends without ${built}.`)
  process.exit(1)
}
const prebuilds = join(packageFolder, 'prebuilds', `${process.platform}-${process.arch}`)
mkdirSync(prebuilds, { recursive: true })
const target = join(prebuilds, '@tandem-gpu+backend-cuda.node')
// Renamed into place: a process that has the old file open keeps it.
copyFileSync(built, `${target}.new`)
renameSync(`${target}.new`, target)
