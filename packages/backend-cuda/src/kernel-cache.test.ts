import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { KernelCache } from './kernel-cache.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tandem-kernels-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const bytes = (length: number, value: number) => new Uint8Array(length).fill(value)

it('names entries by everything they depend on, whatever the parts hold', () => {
  expect(KernelCache.key(['ab', 'c'])).not.toBe(KernelCache.key(['a', 'bc']))
  expect(KernelCache.key(['ab', 'c'])).toMatch(/^[0-9a-f]{64}$/)
})

it('returns what was stored, also to another process', async () => {
  await new KernelCache({ directory }).set('k', bytes(100, 7))
  expect(await new KernelCache({ directory }).get('k')).toEqual(bytes(100, 7))
  expect(await new KernelCache({ directory }).get('other')).toBeUndefined()
  expect(readdirSync(directory)).toEqual(['k.cubin'])
})

it('takes a damaged or truncated entry for a miss and removes it', async () => {
  const cache = new KernelCache({ directory })
  for (const contents of [Buffer.alloc(0), Buffer.alloc(200, 1)]) {
    writeFileSync(join(directory, 'k.cubin'), contents)
    expect(await cache.get('k')).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  }
})

it('removes the least recently used entries beyond its size', async () => {
  const cache = new KernelCache({ directory, maxByteLength: 3 * 132 })
  for (const [age, key] of ['a', 'b', 'c'].entries()) {
    await cache.set(key, bytes(100, age))
    utimesSync(join(directory, `${key}.cubin`), 1000 + age, 1000 + age)
  }
  // Reading 'a' makes it the most recent.
  await cache.get('a')
  await cache.set('d', bytes(100, 9))
  expect(readdirSync(directory).sort()).toEqual(['a.cubin', 'c.cubin', 'd.cubin'])
})

it('stands concurrent writers of one entry', async () => {
  const cache = new KernelCache({ directory })
  await Promise.all(Array.from({ length: 20 }, () => cache.set('k', bytes(10_000, 3))))
  expect(await cache.get('k')).toEqual(bytes(10_000, 3))
  expect(readdirSync(directory)).toEqual(['k.cubin'])
})

it('does without a disk that it cannot write', async () => {
  writeFileSync(join(directory, 'file'), '')
  const cache = new KernelCache({ directory: join(directory, 'file', 'kernels') })
  await cache.set('k', bytes(10, 1))
  expect(await cache.get('k')).toBeUndefined()
})
