import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Libraries } from '../libraries.ts'

const source = fileURLToPath(new URL('../../native/test/fake_cuda.cpp', import.meta.url))
const folder = fileURLToPath(new URL('../../build/test', import.meta.url))
const library = `${folder}/libfake_cuda.so`

/** Builds native/test/fake_cuda.cpp, a CUDA driver on host memory, when it is newer than its build. Needs a C++ compiler. */
export function fakeLibraries(): Libraries {
  if (!existsSync(library) || statSync(library).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(folder, { recursive: true })
    const temporary = `${library}.${process.pid}`
    const built = spawnSync(
      'c++',
      [
        '-shared',
        '-fPIC',
        '-O1',
        '-std=c++17',
        '-fvisibility=hidden',
        source,
        '-o',
        temporary,
        '-ldl',
        '-pthread',
      ],
      { encoding: 'utf8' },
    )
    if (built.status !== 0) throw new Error(`The fake driver does not build: ${built.stderr}`)
    renameSync(temporary, library)
  }
  return { cuda: [library], nvrtc: [library], nvml: [library] }
}

/** Settings of the fake driver, as its source lists them. They hold until the next call. */
export function configureFake(settings: Readonly<Record<string, string | number>> = {}): void {
  for (const name of Object.keys(process.env)) if (/^FAKE_(CUDA|NVML)_/.test(name)) delete process.env[name]
  for (const [name, value] of Object.entries(settings)) process.env[name] = String(value)
}
