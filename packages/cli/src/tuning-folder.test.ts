import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, it } from 'vitest'
import { temporaryFolder } from './testing/temporary-folder.ts'
import { TuningFolder } from './tuning-folder.ts'

it('keeps choices for the next process, and leaves nothing else behind', async () => {
  const path = join(await temporaryFolder(), 'cache', 'tuning')
  const keys = new Set<string>()
  await fc.assert(
    fc.property(fc.string(), fc.string(), (key, value) => {
      keys.add(key)
      const folder = new TuningFolder(path)
      folder.set(key, value)
      expect(folder.get(key)).toBe(value)
      expect(new TuningFolder(path).get(key)).toBe(value)
      expect(readdirSync(path)).toHaveLength(keys.size)
    }),
  )
})

it('ignores a FIFO, a device or a folder with the name of a choice, and replaces it if that is possible', async () => {
  const path = join(await temporaryFolder(), 'tuning')
  for (const make of [
    (file: string) => execFileSync('mkfifo', [file]),
    (file: string) => symlinkSync('/dev/zero', file),
  ]) {
    const folder = new TuningFolder(path)
    folder.set('key', 'choice')
    const file = join(path, readdirSync(path)[0]!)
    rmSync(file)
    make(file)
    expect(new TuningFolder(path).get('key')).toBeUndefined()
    folder.set('key', 'again')
    expect(new TuningFolder(path).get('key')).toBe('again')
  }
})

it('keeps choices for this process if no folder can be created', async () => {
  const file = join(await temporaryFolder(), 'file')
  writeFileSync(file, '')
  for (const path of [join(file, 'tuning'), '/proc/tandem/tuning']) {
    const folder = new TuningFolder(path)
    folder.set('key', 'choice')
    expect(folder.get('key')).toBe('choice')
    expect(new TuningFolder(path).get('key')).toBeUndefined()
  }
})

it('keeps every choice of eight processes that write at once', async () => {
  const path = join(await temporaryFolder(), 'tuning')
  const program = join(inject('programs'), 'tuning-writer.mjs')
  const writers = Array.from({ length: 8 }, (_, writer) =>
    spawn(process.execPath, [program, path, String(writer)], { stdio: 'inherit' }),
  )
  const exits = await Promise.all(writers.map((writer) => once(writer, 'exit')))
  expect(exits.map(([code]) => code)).toEqual(Array(8).fill(0))
  const folder = new TuningFolder(path)
  const lost = writers.flatMap((_, writer) =>
    Array.from({ length: 50 }, (_, i) => i).filter((i) => folder.get(`${writer} ${i}`) !== `choice ${i}`),
  )
  expect(lost).toEqual([])
  expect(readdirSync(path)).toHaveLength(400)
})

it('removes the oldest of more than a thousand', async () => {
  const path = join(await temporaryFolder(), 'tuning')
  const folder = new TuningFolder(path)
  folder.set('oldest', 'choice')
  const [name] = readdirSync(path)
  utimesSync(join(path, name!), 1, 1)
  for (let i = 0; i < 999; i++) writeFileSync(join(path, `${i}.json`), '')
  folder.set('new', 'choice')
  expect(readdirSync(path)).toHaveLength(1000)
  expect(existsSync(join(path, name!))).toBe(false)
  expect(new TuningFolder(path).get('new')).toBe('choice')
})

it.each([
  '',
  '{',
  'null',
  '[]',
  '{"schema":2,"key":"key","choice":"x"}',
  '{"schema":1,"key":"key","choice":3}',
])('ignores the damaged file %j, and replaces it', async (damaged) => {
  const path = join(await temporaryFolder(), 'tuning')
  new TuningFolder(path).set('key', 'value')
  writeFileSync(join(path, readdirSync(path)[0]!), damaged)
  const folder = new TuningFolder(path)
  expect(folder.get('key')).toBeUndefined()
  folder.set('key', 'value')
  expect(new TuningFolder(path).get('key')).toBe('value')
})

it('works if nothing can be written', async () => {
  const file = join(await temporaryFolder(), 'file')
  writeFileSync(file, '')
  const folder = new TuningFolder(join(file, 'tuning'))
  folder.set('key', 'value')
  expect(folder.get('key')).toBe('value')
})
