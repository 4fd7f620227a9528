import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('./testing/long-run.ts', import.meta.url))

// The kernel takes many minutes on a CPU, so a process that waited for it would exceed the test's timeout.
test.each(['exit', 'SIGTERM'])(
  'a run beyond its limit rejects, and takes nothing but its group with it: %s',
  async (end) => {
    const child = spawn(process.execPath, ['--no-warnings', program, end], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
      if (end === 'SIGTERM') child.kill('SIGTERM')
    })
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on('close', (...outcome) => resolve(outcome)),
    )
    expect(JSON.parse(output)).toEqual({
      codes: ['timeout', 'device-lost', 'device-lost', 'device-lost'],
      leaks: 3,
    })
    expect([code, signal]).toEqual(end === 'SIGTERM' ? [null, 'SIGTERM'] : [0, null])
  },
)
