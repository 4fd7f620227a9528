import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, {
  include: ['browser/**/*.test.ts'],
  outputFile: { json: '.cache/vitest-live.json' },
})
