import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, {
  isolate: false,
  // Most of the time, jobs wait: for ranks that are stopped, for limits to pass.
  maxWorkers: 2,
  needAddon: ['failures', 'mpi', 'rank-failures', 'session', 'time-limit', 'two-machines'].map(
    (name) => `src/${name}.test.ts`,
  ),
  globalSetup: 'bundled-programs.setup.ts',
})
