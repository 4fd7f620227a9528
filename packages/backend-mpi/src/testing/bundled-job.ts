import { inject } from 'vitest'
import { type JobOptions, type JobResult, type MpiInstallation, runJob } from './launchers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundled programs of `ranks/`. */
    programs: string
  }
}

/**
 * `runJob` with programs that are bundled once for all tests, so that a process starts in less than half the
 * CPU time.
 */
export function runBundledJob(mpi: MpiInstallation | undefined, options: JobOptions): Promise<JobResult> {
  return runJob(mpi, { ...options, bundled: inject('programs') })
}
