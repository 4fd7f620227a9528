import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'

it('worker threads may be terminated while they compute, and others continue', () => {
  const program = fileURLToPath(new URL('./testing/threads.ts', import.meta.url))
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', program, JSON.stringify(fakeLibraries())],
    { encoding: 'utf8', env: { ...process.env, FAKE_CUDA_DEVICES: '2' } },
  )
  expect({ status, signal, stdout, stderr }).toEqual({
    status: 0,
    signal: null,
    stdout: '{"read":[21,21],"leaks":[]}\n',
    stderr: '',
  })
})
