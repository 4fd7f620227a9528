import { tandemVitest } from '../tools/vitest.ts'

export default tandemVitest(import.meta.url, { include: ['**/*.test.ts'], isolate: false })
