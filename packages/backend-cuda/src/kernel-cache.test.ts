import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
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

it('names entries by everything that they depend on, whatever the parts contain', () => {
  expect(KernelCache.key(['ab', 'c'])).not.toBe(KernelCache.key(['a', 'bc']))
  expect(KernelCache.key(['ab', 'c'])).toMatch(/^[0-9a-f]{64}$/)
})

it('returns what was stored, in other processes too', async () => {
  await new KernelCache({ directory }).set('k', bytes(100, 7))
  expect(await new KernelCache({ directory }).get('k')).toEqual(bytes(100, 7))
  expect(await new KernelCache({ directory }).get('other')).toBeUndefined()
  expect(readdirSync(directory)).toEqual(['k.cubin'])
})

it('keeps nothing if no folder can be created', async () => {
  writeFileSync(join(directory, 'file'), '')
  for (const folder of [join(directory, 'file', 'kernels'), '/proc/tandem/kernels']) {
    const cache = new KernelCache({ directory: folder })
    await cache.set('k', bytes(100, 7))
    expect(await cache.get('k')).toBeUndefined()
  }
})

it('treats a damaged or truncated entry as a miss and removes it', async () => {
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
  // Reading 'a' makes it the most recent entry. A tenth of the size stays free.
  await cache.get('a')
  await cache.set('d', bytes(100, 9))
  expect(readdirSync(directory).sort()).toEqual(['a.cubin', 'd.cubin'])
})

it('scans its folder once, not for every entry', async () => {
  await new KernelCache({ directory }).set('first', bytes(100, 1))
  const cache = new KernelCache({ directory, maxByteLength: 10 * 132 })
  await cache.set('second', bytes(100, 2))
  // An entry of another process, which the cache finds only when it scans the folder again.
  for (let index = 0; index < 20; index += 1)
    writeFileSync(join(directory, `other${index}.cubin`), bytes(132, index))
  await cache.set('third', bytes(100, 3))
  expect(readdirSync(directory)).toHaveLength(23)
  for (let index = 0; index < 8; index += 1) await cache.set(`more${index}`, bytes(100, index))
  expect(readdirSync(directory)).toHaveLength(9)
})

it('keeps to its size where many entries come at once', async () => {
  const cache = new KernelCache({ directory, maxByteLength: 10 * 132 })
  await Promise.all(Array.from({ length: 30 }, (_, index) => cache.set(`k${index}`, bytes(100, index))))
  await cache.set('last', bytes(100, 1))
  expect(readdirSync(directory).length).toBeLessThanOrEqual(10)
})

it('creates its folder for the user alone, and does not use one that others may write to', async () => {
  const own = join(directory, 'made', 'kernels')
  await new KernelCache({ directory: own }).set('k', bytes(10, 1))
  for (const folder of [own, join(directory, 'made')]) expect(statSync(folder).mode & 0o777).toBe(0o700)
  chmodSync(own, 0o770)
  const shared = new KernelCache({ directory: own })
  expect(await shared.get('k')).toBeUndefined()
  await shared.set('other', bytes(10, 1))
  expect(readdirSync(own)).toEqual(['k.cubin'])
})

it.skipIf(process.getuid?.() !== 0)(
  'uses no folder of another user (skipped: only root can make one)',
  async () => {
    await new KernelCache({ directory }).set('k', bytes(10, 1))
    chownSync(directory, 12_345, 12_345)
    expect(await new KernelCache({ directory }).get('k')).toBeUndefined()
  },
)

it('ignores a FIFO, a device or a folder with the name of an entry, and replaces it if that is possible', async () => {
  const file = join(directory, 'k.cubin')
  for (const make of [() => execFileSync('mkfifo', [file]), () => symlinkSync('/dev/zero', file)]) {
    make()
    const cache = new KernelCache({ directory })
    expect(await cache.get('k')).toBeUndefined()
    await cache.set('k', bytes(10, 1))
    expect(await cache.get('k')).toEqual(bytes(10, 1))
    rmSync(file)
  }
  mkdirSync(file)
  expect(await new KernelCache({ directory }).get('k')).toBeUndefined()
})

it('allows concurrent writers of one entry', async () => {
  const cache = new KernelCache({ directory })
  await Promise.all(Array.from({ length: 20 }, () => cache.set('k', bytes(10_000, 3))))
  expect(await cache.get('k')).toEqual(bytes(10_000, 3))
  expect(readdirSync(directory)).toEqual(['k.cubin'])
})

it('works without a writable disk', async () => {
  writeFileSync(join(directory, 'file'), '')
  const cache = new KernelCache({ directory: join(directory, 'file', 'kernels') })
  await cache.set('k', bytes(10, 1))
  expect(await cache.get('k')).toBeUndefined()
})
