import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, {
  isolate: false,
  // Jobs spend most of their time waiting for stopped ranks or for time limits.
  maxWorkers: 2,
  needAddon: ['failures', 'mpi', 'rank-failures', 'session', 'time-limit', 'two-machines'].map(
    (name) => `src/${name}.test.ts`,
  ),
  globalSetup: 'bundled-programs.setup.ts',
})
