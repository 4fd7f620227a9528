import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { addonFailure } from './addon-failure.ts'

const notFound = new Error('No native build was found for platform=x arch=y\n    loaded from: /app')

it('names the platforms that have an addon, on one that has none', () => {
  expect(addonFailure(notFound, 'darwin-arm64')).toMatchObject({
    code: 'unsupported',
    message:
      'The addon for MPI does not load on darwin-arm64: No native build was found for platform=x arch=y. It is built for Linux on x64 and arm64 with glibc 2.34 or newer.',
  })
})

it('says how a clone gets its addon', () => {
  expect(addonFailure(notFound, 'linux-arm64').message).toMatch(/arch=y\. In a clone, `npm run build` builds/)
})

it('names the permissions that Deno asks for', () => {
  const refused = Object.assign(new Error('Requires ffi access'), { name: 'NotCapable' })
  expect(addonFailure(refused, 'linux-x64').message).toMatch(/Run Deno with --allow-ffi/)
})

it.each(['esm', 'cjs'] as const)(
  'says what to mark external where a bundler (%s) takes the package in',
  async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-bundled-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const outfile = join(folder, format === 'esm' ? 'app.mjs' : 'app.cjs')
    const entry = fileURLToPath(new URL('./addon-failure.ts', import.meta.url))
    await build({
      ...{ entryPoints: [entry], outfile, format, bundle: true, platform: 'node', logLevel: 'silent' },
      tsconfigRaw: {},
    })
    const { addonFailure: inBundle } = (await import(pathToFileURL(outfile).href)) as {
      addonFailure: typeof addonFailure
    }
    expect(inBundle(notFound, 'linux-x64').message).toMatch(
      /^@tandem-gpu\/backend-mpi is bundled into another file.* are external, /,
    )
  },
)
