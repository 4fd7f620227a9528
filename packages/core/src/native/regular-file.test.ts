import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openRegularFile, readRegularFile } from './regular-file.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'tandem-regular-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

it('reads regular files, also through links, up to a length', async () => {
  const path = join(folder(), 'file')
  writeFileSync(path, 'contents')
  symlinkSync(path, `${path}.link`)
  for (const name of [path, `${path}.link`]) {
    expect(readRegularFile(name, 8)?.toString()).toBe('contents')
    expect(readRegularFile(name, 7)).toBeUndefined()
    const handle = await openRegularFile(name)
    expect(await handle?.readFile('utf8')).toBe('contents')
    await handle?.close()
  }
})

it('gives nothing for what is no regular file, without waiting, and leaves no descriptor open', async () => {
  const inside = folder()
  const fifo = join(inside, 'fifo')
  execFileSync('mkfifo', [fifo])
  symlinkSync('/dev/zero', join(inside, 'zeros'))
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (const path of [fifo, join(inside, 'zeros'), inside]) {
    expect(readRegularFile(path, 1000)).toBeUndefined()
    expect(await openRegularFile(path)).toBeUndefined()
  }
  expect(() => readRegularFile(join(inside, 'none'), 1000)).toThrow('ENOENT')
  await expect(openRegularFile(join(inside, 'none'))).rejects.toThrow('ENOENT')
  expect(descriptors()).toBe(before)
})
