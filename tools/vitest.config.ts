import { tandemVitest } from './vitest.ts'

export default tandemVitest(import.meta.url, {
  include: ['**/*.test.ts'],
  testTimeout: 180_000,
  hookTimeout: 180_000,
})
