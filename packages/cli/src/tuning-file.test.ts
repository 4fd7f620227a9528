import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from './testing/temporary-folder.ts'
import { TuningFile } from './tuning-file.ts'

it('keeps choices for the next process, and leaves nothing else behind', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'cache', 'tuning.json')
  await fc.assert(
    fc.property(fc.string(), fc.string(), (key, value) => {
      const file = new TuningFile(path)
      file.set(key, value)
      expect(file.get(key)).toBe(value)
      expect(new TuningFile(path).get(key)).toBe(value)
      expect(readdirSync(join(folder, 'cache'))).toEqual(['tuning.json'])
    }),
  )
})

it('adds to what other processes have written meanwhile', async () => {
  const path = join(await temporaryFolder(), 'tuning.json')
  const [one, two] = [new TuningFile(path), new TuningFile(path)]
  one.set('a', '1')
  two.set('b', '2')
  one.set('c', '3')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ schema: 1, choices: { a: '1', b: '2', c: '3' } })
})

it('forgets the oldest of more than a thousand', async () => {
  const path = join(await temporaryFolder(), 'tuning.json')
  const choices = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key ${i}`, `${i}`]))
  writeFileSync(path, JSON.stringify({ schema: 1, choices }))
  new TuningFile(path).set('key 0', 'again')
  new TuningFile(path).set('new', 'choice')
  const file = new TuningFile(path)
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).choices)).toHaveLength(1000)
  expect([file.get('key 0'), file.get('key 1'), file.get('key 2'), file.get('new')]).toEqual([
    'again',
    undefined,
    '2',
    'choice',
  ])
})

it.each([
  '',
  '{',
  'null',
  '[]',
  '{"schema":2,"choices":{"key":"x"}}',
  '{"schema":1,"choices":null}',
  '{"schema":1,"choices":{"key":3}}',
])('takes %s for empty, and replaces it', async (damaged) => {
  const path = join(await temporaryFolder(), 'tuning.json')
  writeFileSync(path, damaged)
  const file = new TuningFile(path)
  expect(file.get('key')).toBeUndefined()
  file.set('key', 'value')
  expect(new TuningFile(path).get('key')).toBe('value')
})

it('works without a disk to write to', async () => {
  const path = join(await temporaryFolder(), 'tuning.json')
  mkdirSync(path)
  const file = new TuningFile(path)
  file.set('key', 'value')
  expect(file.get('key')).toBe('value')
  expect(readdirSync(join(path, '..'))).toEqual(['tuning.json'])
})
