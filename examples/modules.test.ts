import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('every module matches its .wgsl file', () => {
  const bin = fileURLToPath(new URL('../packages/wgsl/bin/tandem-wgsl.js', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [bin, '--check', import.meta.dirname], {
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
})
