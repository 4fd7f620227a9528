import { readdirSync, readFileSync } from 'node:fs'
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

/**
 * They import what runs on the fake driver, which is C++ as the addon is; and two that are about the addon's
 * build.
 */
const needAddon = readdirSync(new URL('src', import.meta.url))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `src/${name}`)
  .filter(
    (path) =>
      /\/addon-(build|failure)\./.test(path) ||
      /testing\/(fake-(driver|backend|runtime)|connected-runtimes)\.ts'/.test(
        readFileSync(new URL(path, import.meta.url), 'utf8'),
      ),
  )

export default tandemVitest(import.meta.url, {
  needAddon,
  // The tests under sanitizers take as long as all others together, and run beside them.
  maxWorkers: 2,
  // Each project adds what it includes.
  include: [],
  projects: [
    { extends: true, test: { name: 'cuda', include: ['src/**/*.test.ts'], exclude: together } },
    { extends: true, test: { name: 'cuda, together', include: together, isolate: false } },
  ],
})
