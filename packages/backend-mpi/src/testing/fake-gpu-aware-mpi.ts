import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { MpiFamily } from '../launcher.ts'

const source = fileURLToPath(new URL('../../native/test/fake_gpu_aware_mpi.c', import.meta.url))
const folder = fileURLToPath(new URL('../../build/test', import.meta.url))
const built = {
  'Open MPI': { library: 'libmpi.so.40', options: ['-DHANDLE=void*'] },
  MPICH: { library: 'libmpich.so.12', options: ['-DHANDLE=int', '-DMPICH'] },
} as const

/**
 * Builds native/test/fake_gpu_aware_mpi.c if it is newer than the build: an MPI that accepts memory of the
 * fake CUDA driver, as a library that is loaded before the family's own. Needs a C compiler.
 */
export function fakeGpuAwareMpi(family: Exclude<MpiFamily, 'the MPI 5 ABI'>): string {
  const { library, options } = built[family]
  const path = `${folder}/fake-gpu-aware-${library}`
  if (existsSync(path) && statSync(path).mtimeMs > statSync(source).mtimeMs) return path
  mkdirSync(folder, { recursive: true })
  const temporary = `${path}.${process.pid}`
  const { status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-fvisibility=hidden', ...options, source, '-o', temporary, `-l:${library}`],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The fake GPU-aware MPI does not build: ${stderr}`)
  renameSync(temporary, path)
  return path
}
