import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AddonFailure, addonFailure, addonLoader } from './addon.ts'

// This package stands in for one with an addon. With another name, the code would count as bundled.
const holder = { name: '@tandem-gpu/core', moduleUrl: new URL('..', import.meta.url).href, backend: 'own()' }
const notFound = new Error('No native build was found for platform=x arch=y\n    loaded from: /app')

describe('an addon that does not load', () => {
  it('is an absence on platforms without one', () => {
    expect(addonFailure(holder, notFound, 'darwin-arm64')).toEqual({
      reason:
        'The addon of @tandem-gpu/core cannot be loaded on darwin-arm64: No native build was found for platform=x arch=y.',
      remedy: 'It is built for Linux on x64 and arm64 with glibc 2.34 or newer.',
      kind: 'foreign',
    })
  })

  it.each([
    "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /app/addon.node)",
    'Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /app/addon.node)',
    'Error relocating /app/addon.node: __memcpy_chk: symbol not found',
  ])('is an absence if the C library is too old or a different one: %s', (message) => {
    expect(addonFailure(holder, new Error(message), 'linux-x64')).toMatchObject({
      remedy: expect.stringMatching(/glibc 2\.34/),
      kind: 'foreign',
    })
  })

  it.each(['linux-x64', 'linux-arm64'])('is to be built in a clone on %s', (platform) => {
    expect(addonFailure(holder, notFound, platform)).toMatchObject({
      remedy:
        'In a clone, `npm run build` builds it (C++20, CMake); without it, remove own() from the list of backends.',
      kind: 'broken',
    })
  })

  it('is left out of a clone that was built without it, with the reason', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-not-built-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const prebuilds = join(folder, 'prebuilds/linux-x64')
    mkdirSync(prebuilds, { recursive: true })
    writeFileSync(join(prebuilds, 'not-built.txt'), 'this machine does not have CMake\n')
    writeFileSync(join(folder, 'package.json'), '{ "name": "@tandem-gpu/core" }')
    const moduleUrl = pathToFileURL(join(folder, 'dist/index.js')).href
    expect(addonFailure({ ...holder, moduleUrl }, notFound, 'linux-x64')).toEqual({
      reason: '@tandem-gpu/core was built without its addon: this machine does not have CMake.',
      remedy:
        'Install a C++ compiler, CMake and make, and run `npm run build` in the clone. If you installed its tarballs, run `npm run pack` too, and install them again.',
      kind: 'skipped',
    })
  })

  it('names the permissions that Deno needs', () => {
    const refused = Object.assign(new Error('Requires ffi access to "/app/addon.node"'), {
      name: 'NotCapable',
    })
    const { remedy, kind } = addonFailure(holder, refused, 'linux-x64')
    expect([remedy.slice(0, 24), kind]).toEqual(['Run Deno with --allow-ff', 'broken'])
  })

  it('is returned, the same one each time, and not thrown', () => {
    const load = addonLoader(holder)
    expect(load()).toBeInstanceOf(Error)
    expect(load()).toBe(load())
  })

  it.each(['esm', 'cjs'] as const)(
    'is to be kept external if a bundler (%s) includes the package',
    async (format) => {
      const folder = mkdtempSync(join(tmpdir(), 'tandem-bundled-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const outfile = join(folder, format === 'esm' ? 'app.mjs' : 'app.cjs')
      const contents = `import { addonFailure, addonLoader } from './addon.ts'
const holder = { name: '@tandem-gpu/core', moduleUrl: import.meta.url, backend: 'own()' }
export const failure = addonFailure(holder, addonLoader(holder)(), 'linux-x64')`
      await build({
        outfile,
        format,
        bundle: true,
        platform: 'node',
        logLevel: 'silent',
        tsconfigRaw: {},
        stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
      })
      const { failure } = (await import(pathToFileURL(outfile).href)) as { failure: AddonFailure }
      expect(failure).toEqual({
        reason:
          'The package @tandem-gpu/core is bundled into another file, but its addon remained in the package.',
        remedy: expect.stringMatching(
          /^Tell the bundler that .* are external, .* or remove own\(\) from the list of backends\.$/,
        ),
        kind: 'broken',
      })
    },
  )
})
