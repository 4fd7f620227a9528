import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The IR is one vocabulary; no other file has more than 500 lines. */
const ir = 'packages/wgsl/src/ir.ts'

it('no file has more than 500 lines, but for the IR', () => {
  const files = execFileSync('git', ['ls-files', 'packages/*/src/**', 'packages/*/native/**'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\/src\/.*\.ts$|\/native\/.*\.(cpp|h|c)$/.test(file))
  expect(files.filter((file) => file.endsWith('.ts')).length).toBeGreaterThan(200)
  expect(files.filter((file) => !file.endsWith('.ts')).length).toBeGreaterThan(40)
  const tooLong = files.filter((file) => readFileSync(`${root}/${file}`, 'utf8').split('\n').length - 1 > 500)
  expect(tooLong).toEqual([ir])
})
