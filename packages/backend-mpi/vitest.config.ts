import { tandemVitest } from '../../tools/vitest.ts'

export default tandemVitest(import.meta.url, {
  isolate: false,
  needAddon: ['failures', 'mpi', 'rank-failures', 'session', 'time-limit', 'two-machines'].map(
    (name) => `src/${name}.test.ts`,
  ),
  globalSetup: 'bundled-programs.setup.ts',
})
