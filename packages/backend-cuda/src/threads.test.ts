import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'

// KNOWN DEFECT, open: on two idle cores about half of the runs end with SIGSEGV, and some hang, when a thread that computes is terminated (seen on the
// fake driver, 2026-11-22; the cause is not found). The test runs with TANDEM_LONG=1 until that is mended, so that it does not hide other failures.
it.runIf(process.env.TANDEM_LONG === '1')(
  'worker threads may be terminated while they compute, beside others that go on',
  () => {
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
  },
)
