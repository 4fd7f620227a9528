import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { skippedWithoutAddon, tandemVitest } from '../../tools/vitest.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const tests = readdirSync(`${folder}src`).flatMap((name) =>
  name.endsWith('.test.ts') ? [`src/${name}`] : [],
)

/**
 * Runs every test on the reference runtime, or on the backend that TANDEM_TEST_BACKEND names, and on CUDA's
 * native code over the fake driver.
 */
export default tandemVitest(import.meta.url, {
  isolate: false,
  include: [],
  projects: [
    { extends: true, test: { name: 'api', include: tests } },
    {
      extends: true,
      plugins: [skippedWithoutAddon(folder, tests)],
      test: { name: 'api on CUDA', include: tests, env: { TANDEM_TEST_BACKEND: 'fake-cuda' } },
    },
  ],
})
