import { describe, expect, it } from 'vitest'
import { mpich, openMpi, runJob, whereInstalled } from './testing/launchers.ts'

describe.each([openMpi, mpich])('$name', (mpi) => {
  describe.skipIf(!mpi.installed)(whereInstalled(mpi), () => {
    it.each([1, 3])('carries gathers, deliveries and messages, ranks: %i', async (ranks) => {
      const { exitCode, stdout, stderr } = await runJob(mpi, { ranks, program: 'messages.ts' })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'all messages are right\n' })
    })

    // Four ranks once: on two cores they take turns.
    it.each(mpi === openMpi ? [2, 4] : [2])(
      'computes the same bits over ranks as over the devices of one process, ranks: %i',
      async (ranks) => {
        const { exitCode, stdout, stderr } = await runJob(mpi, { ranks, program: 'algorithms.ts' })
        expect(exitCode, stdout + stderr).toBe(0)
        expect(stdout.match(/ has the same bits/g)).toHaveLength(6)
      },
    )

    it('passes the conformance suite on 3 ranks with a software GPU each', async () => {
      const job = { ranks: 3, program: 'conformance.ts', arguments: ['webgpu'] }
      const { exitCode, stdout, stderr } = await runJob(mpi, job)
      expect(exitCode, stdout + stderr).toBe(0)
      const { passed, skipped, failed } = JSON.parse(stdout)
      expect(passed).toBeGreaterThanOrEqual(50)
      // WebGPU has no `trap`.
      expect({ skipped, failed }).toEqual({ skipped: 1, failed: 0 })
    })
  })
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it('repeats device work and messages without JavaScript', async () => {
    const job = { ranks: 2, program: 'native-launches.ts', arguments: ['fake-cuda'] }
    const { exitCode, stdout, stderr } = await runJob(openMpi, job)
    expect(exitCode, stdout + stderr).toBe(0)
    expect(stdout).toContain('51 repetitions without JavaScript')
  })
})
