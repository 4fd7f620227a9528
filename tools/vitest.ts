import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { embedKernels } from './embed-kernels.ts'
import { packageSources } from './package-sources.ts'

const dawnPolling = fileURLToPath(new URL('dawn-polling.setup.ts', import.meta.url))

const sourceAliases = packageSources.map(([name, replacement]) => ({
  find: new RegExp(`^${name}$`),
  replacement,
}))

/** The vitest configuration of one package; `configUrl` is the `import.meta.url` of its vitest.config.ts. */
export function tandemVitest(
  configUrl: string,
  { setupFiles = [], ...overrides }: ViteUserConfig['test'] = {},
): ViteUserConfig {
  return defineConfig({
    root: fileURLToPath(new URL('.', configUrl)),
    plugins: [embedKernels()],
    resolve: { alias: sourceAliases },
    test: {
      include: ['src/**/*.test.ts'],
      setupFiles: [dawnPolling, ...[setupFiles].flat()],
      pool: 'forks',
      // `npm test` runs several packages at a time.
      maxWorkers: '50%',
      // Guards against a test that hangs, not limits on a slow machine.
      testTimeout: process.env.TANDEM_LONG === '1' ? 6 * 3_600_000 : 600_000,
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
