import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeFolder } from './make-folder.ts'

it('makes a folder and its parents with the mode that it is given, and leaves those that are there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-make-folder-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const modeOf = (path: string) => statSync(path).mode & 0o777
  for (const _ of [1, 2]) {
    makeFolder(join(folder, 'a', 'b'), 0o700)
    expect([modeOf(join(folder, 'a')), modeOf(join(folder, 'a', 'b'))]).toEqual([0o700, 0o700])
  }
  makeFolder(join(folder, 'a', 'b'), 0o750)
  expect(modeOf(join(folder, 'a', 'b'))).toBe(0o700)
  writeFileSync(join(folder, 'file'), '')
  expect(() => makeFolder(join(folder, 'file'))).toThrow(/EEXIST/)
  expect(() => makeFolder(join(folder, 'file', 'below'))).toThrow(/EEXIST|ENOTDIR/)
})

it.skipIf(process.platform !== 'linux')(
  'fails where the operating system refuses, as below /proc (Linux)',
  () => {
    expect(() => makeFolder('/proc/tandem/a')).toThrow(/ENOENT|EACCES/)
  },
)
