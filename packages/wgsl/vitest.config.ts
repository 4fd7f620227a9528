import { tandemVitest } from '../../tools/vitest.ts'

/**
 * Counts the steps that the package's code takes: other tests in its process would have started some of it,
 * and kept what it made.
 */
const alone = ['src/frontend/scaling.test.ts']

export default tandemVitest(import.meta.url, {
  setupFiles: ['src/testing/verify-lowered.test.setup.ts'],
  // Each project adds what it includes.
  include: [],
  projects: [
    { extends: true, test: { name: 'wgsl', include: ['src/**/*.test.ts'], exclude: alone, isolate: false } },
    { extends: true, test: { name: 'wgsl, alone', include: alone } },
  ],
})
