import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('worker threads compute, and may be terminated once their groups are destroyed', () => {
  const program = fileURLToPath(new URL('./testing/threads.ts', import.meta.url))
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', program], {
    encoding: 'utf8',
  })
  expect({ status, signal, stdout, stderr }).toMatchObject({ status: 0, signal: null, stdout: '21\n' })
})
