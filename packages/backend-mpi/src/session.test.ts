import { describe, expect, it } from 'vitest'
import { nativeAddon } from './native-addon.ts'
import { type RankInfo, requireSameBuild } from './session.ts'
import { runBundledJob } from './testing/bundled-job.ts'
import { mpich, openMpi, whereInstalled } from './testing/launchers.ts'

const rank = (rank: number, changes: Partial<RankInfo> = {}): RankInfo => ({
  rank,
  host: `host${rank}`,
  machine: `host${rank}`,
  process: 100 + rank,
  version: '1.2.3',
  endianness: 'LE',
  ...changes,
})

it('refuses ranks that run different versions of Tandem, and names both', () => {
  requireSameBuild([rank(0), rank(1)])
  expect(() => requireSameBuild([rank(0), rank(1), rank(2, { version: '1.2.4' })])).toThrow(
    'rank 0 (process 100 on host0) has 1.2.3, rank 2 (process 102 on host2) has 1.2.4',
  )
  expect(() => requireSameBuild([rank(0), rank(1, { endianness: 'BE' })])).toThrow(
    'rank 1 (process 101 on host1) is BE',
  )
})

it('lists the libraries that it tried if none loads', () => {
  const addon = nativeAddon()
  if (addon instanceof Error) throw addon
  const candidates = ['libabsent.so.9', '/nowhere/libmpi.so.40']
  expect(() => addon.describeLibrary(candidates)).toThrow(
    /libabsent\.so\.9.*libmpi\.so\.40 is not in \/nowhere/,
  )
})

it('is refused in a worker thread, whatever is called', async () => {
  const { exitCode, stdout } = await runBundledJob(undefined, { ranks: 1, program: 'worker.ts' })
  const refusal = 'unsupported MPI runs only in the main thread of a process; this is a worker thread.\n'
  expect([exitCode, stdout]).toEqual([0, refusal.repeat(4)])
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it('runs as one rank without a launcher', async () => {
    const { exitCode, stdout } = await runBundledJob(undefined, { ranks: 1, program: 'start.ts' })
    expect([exitCode, stdout]).toEqual([0, 'rank 0 of 1\n'])
  })

  it('reports that a launcher that MPI does not recognize starts jobs of one rank', async () => {
    const environment = { SLURM_STEP_NUM_TASKS: '4', SLURM_PROCID: '3' }
    const { exitCode, stdout } = await runBundledJob(undefined, {
      ranks: 1,
      program: 'start.ts',
      environment,
    })
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(
      /^unsupported: This process was started by srun of Slurm as one of 4, but Open MPI \(.*\) found 1: /,
    )
  })
})

describe.skipIf(!(openMpi.installed && mpich.installed))(
  `${whereInstalled(openMpi)} and ${whereInstalled(mpich)}`,
  () => {
    it('refuses a library that does not belong to the launcher', async () => {
      const job = { ranks: 2, program: 'start.ts', arguments: ['libmpi.so.40'] }
      const { exitCode, stdout } = await runBundledJob(mpich, job)
      expect(exitCode).not.toBe(0)
      expect(stdout).toMatch(
        /^unsupported: This process was started by mpiexec of MPICH \(Hydra\), but the library that was loaded belongs to Open MPI \(/m,
      )
    })
  },
)
