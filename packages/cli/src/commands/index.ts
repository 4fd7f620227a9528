import type { CommandModule } from '../command.ts'

/** Every command, in the order of the help. A new command needs a line here. */
export async function loadCommands(): Promise<readonly CommandModule[]> {
  const modules = await Promise.all([
    import('./demo.ts'),
    import('./devices.ts'),
    import('./select.ts'),
    import('./run.ts'),
    import('./translate.ts'),
    import('./transpose.ts'),
    import('./reduce.ts'),
    import('./scan.ts'),
    import('./histogram.ts'),
    import('./sort.ts'),
    import('./fft.ts'),
    import('./matmul.ts'),
    import('./jacobi.ts'),
    import('./ring.ts'),
    import('./bench.ts'),
    import('./doctor.ts'),
    import('./topology.ts'),
    import('./bandwidth.ts'),
    import('./monitor.ts'),
    import('./cache.ts'),
  ])
  return modules.map(({ command }) => command)
}
