import { tandemVitest } from '../../tools/vitest.ts'

/** Share a process: they open no driver, or only in processes that they start. */
const together = [
  'addon-build',
  'driver-error',
  'kernel-cache',
  'link-copies',
  'lower-messages',
  'lower-per-gpu',
  'lowering',
  'no-external-buffers',
  'sanitizers',
  'threads',
  'time-limit',
].map((name) => `src/${name}.test.ts`)

export default tandemVitest(import.meta.url, {
  // The tests under sanitizers take as long as all others together, and run beside them.
  maxWorkers: 2,
  // Each project adds what it includes.
  include: [],
  projects: [
    { extends: true, test: { name: 'cuda', include: ['src/**/*.test.ts'], exclude: together } },
    { extends: true, test: { name: 'cuda, together', include: together, isolate: false } },
  ],
})
