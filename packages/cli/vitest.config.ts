import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, {
  isolate: false,
  needAddon: ['src/job.test.ts'],
  globalSetup: 'bundled-programs.setup.ts',
  setupFiles: ['src/testing/shared-webgpu.test.setup.ts'],
})
