import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Libraries } from '../libraries.ts'

const sourceFolder = fileURLToPath(new URL('../../native/test/', import.meta.url))
const sources = readdirSync(sourceFolder)
  .filter((name) => name.startsWith('fake_'))
  .map((name) => sourceFolder + name)
/** Headers that core has for all native code. */
export const sharedHeaders = fileURLToPath(new URL('../../../core/native', import.meta.url))
/** What a C++ compiler needs to build the fake driver, but for `-o` and the name of the library. */
export const fakeDriverArguments: readonly string[] = [
  '-shared',
  '-fPIC',
  '-O1',
  '-std=c++17',
  '-fvisibility=hidden',
  // A library with unique symbols is never unloaded.
  '-fno-gnu-unique',
  `-I${sharedHeaders}`,
  ...sources.filter((source) => source.endsWith('.cpp')),
  '-ldl',
  '-pthread',
]
const folder = fileURLToPath(new URL('../../build/test', import.meta.url))
const library = `${folder}/libfake_cuda.so`

/**
 * Builds native/test/fake_*.cpp, a CUDA driver on host memory, if a source is newer than the build. Needs a
 * C++ compiler.
 */
export function fakeLibraries(): Libraries {
  const changedAt = (path: string) => statSync(path).mtimeMs
  const newest = sources.reduce((one, other) => (changedAt(one) > changedAt(other) ? one : other))
  if (!existsSync(library) || changedAt(library) < changedAt(newest)) {
    mkdirSync(folder, { recursive: true })
    // Concurrent test suites enter here one at a time: one builds, and the others wait for it.
    const build = '[ "$0" -nt "$1" ] || { shift; c++ "$@" -o "$0.new" && mv "$0.new" "$0"; }'
    const built = spawnSync('flock', [folder, 'sh', '-c', build, library, newest, ...fakeDriverArguments], {
      encoding: 'utf8',
    })
    if (built.status !== 0) throw built.error ?? new Error(`The fake driver does not build: ${built.stderr}`)
  }
  return { cuda: [library], nvrtc: [library], nvml: [library], nccl: [library] }
}

/** Settings of the fake driver, as native/test/fake_settings.h lists them. They hold until the next call. */
export function configureFake(settings: Readonly<Record<string, string | number>> = {}): void {
  for (const name of Object.keys(process.env)) if (/^FAKE_/.test(name)) delete process.env[name]
  for (const [name, value] of Object.entries(settings)) process.env[name] = String(value)
}
