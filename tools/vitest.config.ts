import { tandemVitest } from './vitest.ts'

export default tandemVitest(import.meta.url, {
  include: ['**/*.test.ts'],
  isolate: false,
  needAddon: ['gpu-host/soak.test.ts'],
  testTimeout: 600_000,
  hookTimeout: 600_000,
})
