import { tandemVitest } from './vitest.ts'

export default tandemVitest(import.meta.url, { include: ['**/*.test.ts'] })
