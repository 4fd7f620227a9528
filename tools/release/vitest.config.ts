import { tandemVitest } from '../vitest.ts'

// `npm run test:release`: what is published, as its users get it. One file after another: managers, bundlers
// and runtimes are heavy.
export default tandemVitest(import.meta.url, {
  include: ['*.release.ts'],
  globalSetup: ['testing/release-setup.ts'],
  fileParallelism: false,
  testTimeout: 900_000,
  hookTimeout: 900_000,
  reporters: ['verbose'],
})
