import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { embedKernels } from './embed-kernels.ts'
import { packageSources } from './package-sources.ts'

const dawnPolling = fileURLToPath(new URL('testing/dawn-polling.setup.ts', import.meta.url))

const sourceAliases = packageSources.map(([name, replacement]) => ({
  find: new RegExp(`^${name}$`),
  replacement,
}))

/**
 * The vitest configuration of one package; `configUrl` is the `import.meta.url` of its vitest.config.ts. The
 * test files `needAddon`, as `src/x.test.ts`, are skipped where the clone was built without addons.
 */
export function tandemVitest(
  configUrl: string,
  {
    setupFiles = [],
    needAddon = [],
    ...overrides
  }: ViteUserConfig['test'] & { readonly needAddon?: readonly string[] } = {},
): ViteUserConfig {
  const folder = fileURLToPath(new URL('.', configUrl))
  return defineConfig({
    root: folder,
    plugins: [embedKernels(), skippedWithoutAddon(folder, needAddon)],
    resolve: { alias: sourceAliases },
    test: {
      include: ['src/**/*.test.ts'],
      setupFiles: [dawnPolling, ...[setupFiles].flat()],
      pool: 'forks',
      // `npm test` runs several packages at a time.
      maxWorkers: '50%',
      // Guards against a test that hangs, not limits on a slow machine.
      testTimeout: process.env.TANDEM_LONG === '1' ? 6 * 3_600_000 : 1_800_000,
      hookTimeout: 600_000,
      teardownTimeout: 600_000,
      passWithNoTests: false,
      // `npm test` sums these up; nx keeps them with a cached run.
      reporters: ['default', 'json'],
      outputFile: { json: '.cache/vitest.json' },
      ...overrides,
    },
  })
}

/** Why this clone was built without addons, as tools/build-addon.mjs noted; undefined if it has them. */
function whyWithoutAddons(): string | undefined {
  const platform = `${process.platform}-${process.arch}`
  const note = new URL(`../packages/backend-cuda/prebuilds/${platform}/not-built.txt`, import.meta.url)
  return existsSync(note) ? readFileSync(note, 'utf8').trim() : undefined
}

/**
 * Puts one skipped test, which names what is missing, in the place of each file that cannot run without the
 * addons.
 */
export function skippedWithoutAddon(folder: string, files: readonly string[]): Plugin {
  const why = files.length > 0 ? whyWithoutAddons() : undefined
  const skipped = new Set(files.map((file) => join(folder, file)))
  for (const file of skipped) if (!existsSync(file)) throw new Error(`There is no ${file}.`)
  return {
    name: 'skipped-without-addon',
    enforce: 'pre',
    load(id) {
      if (why === undefined || !skipped.has(id)) return null
      const name = `needs the native addons, which were not built, since ${why}`
      return `import { it } from 'vitest'\nit.skip(${JSON.stringify(name)}, () => {})\n`
    },
  }
}
