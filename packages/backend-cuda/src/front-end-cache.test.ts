import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KernelSource } from '@tandem-gpu/core/backend'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { DiskFrontEndCache, digestOf, translatorVersion } from './front-end-cache.ts'
import { KernelCache } from './kernel-cache.ts'
import { KernelCompiler } from './kernel-compiler.ts'
import { nativeAddon } from './native-addon.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { openFakeRuntime } from './testing/fake-runtime.ts'
import { testKernelSource, translateTestKernel } from './testing/test-kernels.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tandem-front-end-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

const open = (version: string | undefined = 'v1') =>
  new DiskFrontEndCache(new KernelCache({ directory }), () => version)
const result = { numbers: [Number.NaN, -0, Number.POSITIVE_INFINITY], absent: undefined, text: 'é\ud800' }

it('gives back to another process what was kept, to the bit', () => {
  open().set(['kind', 'text'], result)
  expect(open().get(['kind', 'text'])).toStrictEqual(result)
  expect(open().get(['kindtext'])).toBeUndefined()
  expect(open().get(['kind', 'text', ''])).toBeUndefined()
})

it('knows nothing of another version of the translator', () => {
  open('v1').set(['text'], result)
  expect(open('v2').get(['text'])).toBeUndefined()
  expect(open('v1').get(['text'])).toStrictEqual(result)
})

it('keeps nothing without a version', () => {
  const cache = new DiskFrontEndCache(new KernelCache({ directory }), () => undefined)
  cache.set(['text'], result)
  expect(cache.get(['text'])).toBeUndefined()
  expect(readdirSync(directory)).toEqual([])
})

it('takes damaged entries, and intact ones that do not hold a result, for none', async () => {
  open().set(['text'], result)
  const [file] = readdirSync(directory)
  writeFileSync(join(directory, file!), 'damaged')
  expect(open().get(['text'])).toBeUndefined()
  await new KernelCache({ directory }).set(file!.replace('.cubin', ''), Uint8Array.of(255, 200, 1))
  expect(open().get(['text'])).toBeUndefined()
  open().set(['text'], result)
  expect(open().get(['text'])).toStrictEqual(result)
})

it('has a digest of the translator’s code as its version', () => {
  expect(translatorVersion()).toMatch(/^[0-9a-f]{64}$/)
  mkdirSync(join(directory, 'cuda/testing'), { recursive: true })
  const digests = [
    ['index.js', '1'],
    ['index.js', '2'],
    ['cuda/emit.js', '1'],
    ['cuda/names.js', '1'],
  ].map(([path, code]) => {
    writeFileSync(join(directory, path!), code!)
    return digestOf(`${directory}/`)
  })
  expect(new Set(digests).size).toBe(digests.length)
  for (const path of ['index.d.ts', 'index.test.js', 'index.js.map', 'cuda/testing/kernels.js']) {
    writeFileSync(join(directory, path), '1')
    expect(digestOf(`${directory}/`)).toBe(digests.at(-1))
  }
})

it('translates a kernel once for all processes, and others with it, until its entries are damaged', async () => {
  configureFake()
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  /** The number of translations in a runtime of its own that compiles these kernels. */
  const translations = async (...sources: readonly KernelSource[]) => {
    let count = 0
    const { nvrtc } = fakeLibraries()
    const cache = new KernelCache({ directory })
    const compiler = new KernelCompiler({
      addon,
      nvrtc,
      driverVersion: 13000,
      fmad: true,
      cache,
      shippedKernels: undefined,
    })
    const translate = (source: KernelSource) => {
      count++
      return translateTestKernel(source)
    }
    const runtime = await openFakeRuntime([0], { compiler, translate })
    for (const source of sources) {
      const { parameters } = await runtime.compile(source)
      expect(parameters).toEqual(translateTestKernel(source).parameters)
    }
    const queue = runtime.openCommandQueue(0, { label: 'test', onMessage: () => {} })
    for (const [index, source] of sources.entries()) await queue.compile(index + 1, source, 'direct')
    await queue.close()
    expect(await runtime.dispose()).toEqual([])
    return count
  }
  const add = testKernelSource('add')
  expect(await translations(add)).toBe(1)
  expect(await translations(add)).toBe(0)
  const others = [
    { ...add, constants: { c: 0 } },
    { ...add, constants: { c: -0 } },
    { ...add, constants: { c: 0, d: 0 } },
    { ...add, entryPoint: 'other' },
    { ...add, wgsl: 'other' },
    { ...add, terminates: true },
    { ...add, workgroupsPerMultiprocessor: 2 },
    testKernelSource('faulting'),
  ]
  expect(await translations(...others)).toBe(others.length)
  expect(await translations(add, ...others)).toBe(0)
  for (const name of readdirSync(directory)) writeFileSync(join(directory, name), '')
  expect(await translations(add)).toBe(1)
})
