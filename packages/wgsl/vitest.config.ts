import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, { setupFiles: ['src/testing/verify-lowered.test.setup.ts'] })
