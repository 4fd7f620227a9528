import { tandemVitest } from '../vitest.ts'

// `npm run test:release`: tests the published packages as users install them. Files run one after another,
// because managers, bundlers and runtimes need many resources.
export default tandemVitest(import.meta.url, {
  include: ['*.release.ts'],
  globalSetup: ['testing/release-setup.ts'],
  fileParallelism: false,
  testTimeout: 900_000,
  hookTimeout: 900_000,
  reporters: ['verbose'],
})
