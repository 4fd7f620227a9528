import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readRegularFile } from './regular-file.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'tandem-regular-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

it('reads regular files up to a length, directly or through links', () => {
  const path = join(folder(), 'file')
  writeFileSync(path, 'contents')
  symlinkSync(path, `${path}.link`)
  for (const name of [path, `${path}.link`]) {
    expect(new TextDecoder().decode(readRegularFile(name, 8))).toBe('contents')
    expect(readRegularFile(name, 7)).toBeUndefined()
  }
})

it('returns undefined without waiting if the path leads to anything else, and leaves no descriptor open', () => {
  const inside = folder()
  const fifo = join(inside, 'fifo')
  execFileSync('mkfifo', [fifo])
  symlinkSync('/dev/zero', join(inside, 'zeros'))
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (const path of [fifo, join(inside, 'zeros'), inside]) {
    expect(readRegularFile(path, 1000)).toBeUndefined()
  }
  expect(() => readRegularFile(join(inside, 'none'), 1000)).toThrow('ENOENT')
  expect(descriptors()).toBe(before)
})
