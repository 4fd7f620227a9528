import { beforeAll, describe, expect, it } from 'vitest'
import { type JobResult, mpich, openMpi, runJob, whereInstalled } from './testing/launchers.ts'

/** A transport, with the reasons against quicker ones. */
function behind(name: string, reasons: Readonly<Record<string, RegExp>>) {
  const refused = Object.entries(reasons).map(([other, reason]) => ({
    name: other,
    reason: expect.stringMatching(reason),
  }))
  return { name, refused }
}

const long = process.env.TANDEM_LONG === '1'

describe.each([openMpi, mpich])('$name', (mpi) => {
  describe.skipIf(!mpi.installed)(whereInstalled(mpi), () => {
    it('carries gathers and deliveries of one rank', async () => {
      const { exitCode, stdout, stderr } = await runJob(mpi, { ranks: 1, program: 'messages.ts' })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'all messages are right\n' })
    })

    describe('one job of 3 ranks', () => {
      // The kind of MPI says nothing about software GPUs: once is enough, but for the long form.
      const inner = mpi === openMpi || long ? 'webgpu' : 'reference'
      let job: JobResult
      beforeAll(async () => {
        const programs = ['messages.ts', 'abort.ts', `conformance.ts,${inner}`]
        job = await runJob(mpi, { ranks: 3, program: 'sequence.ts', arguments: programs })
      })

      it('carries gathers, deliveries and messages', () => {
        expect(job.stdout, job.stderr).toMatch(/^all messages are right$/m)
      })

      it('stops all ranks after the same repetition when one aborts', () => {
        const { stdout, stderr } = job
        const repetitions = [...stdout.matchAll(/^rank \d stops after (\d+) repetitions$/gm)].map(
          ([, n]) => n,
        )
        expect(repetitions, stdout + stderr).toHaveLength(3)
        expect(new Set(repetitions).size).toBe(1)
        expect(Number(repetitions[0])).toBeGreaterThan(0)
      })

      it(`passes the conformance suite, backend of each rank: ${inner}`, () => {
        const { exitCode, stdout, stderr } = job
        expect(exitCode, stdout + stderr).toBe(0)
        const { passed, skipped, failed } = JSON.parse(/^\{.*\}$/m.exec(stdout)![0])
        expect(passed).toBeGreaterThanOrEqual(50)
        // WebGPU has no `trap`.
        expect({ skipped, failed }).toEqual({ skipped: inner === 'webgpu' ? 1 : 0, failed: 0 })
      })
    })

    it.each(
      mpi === openMpi
        ? [
            [2, 'webgpu'],
            // On two cores they take turns.
            [4, long ? 'webgpu' : 'reference'],
          ]
        : [[2, long ? 'webgpu' : 'reference']],
    )(
      'computes the same bits over ranks as over the devices of one process, ranks: %i, backend of each: %s',
      async (ranks, inner) => {
        const job = { ranks, program: 'algorithms.ts', arguments: [inner] }
        const { exitCode, stdout, stderr } = await runJob(mpi, job)
        expect(exitCode, stdout + stderr).toBe(0)
        expect(stdout.match(/ has the same bits/g)).toHaveLength(6)
      },
    )
  })
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it.each([
    [
      'as if they were peers, where each has a GPU of its own',
      2,
      ['fake-gpus', 'auto'],
      {},
      { name: 'ipc', refused: [] },
    ],
    ['with three ranks too', 3, ['fake-gpus', 'ipc'], {}, { name: 'ipc', refused: [] }],
    [
      'by messages of GPUs, where the driver refuses to map memory',
      2,
      ['fake-gpus', 'auto'],
      { FAKE_CUDA_IPC: 'none' },
      behind('nccl', { ipc: /cuIpcOpenMemHandle/ }),
    ],
    [
      'by messages of GPUs, where these are asked for, with three ranks',
      3,
      ['fake-gpus', 'nccl'],
      {},
      { name: 'nccl', refused: [] },
    ],
    [
      'by messages of the host, where NCCL is missing too',
      2,
      ['fake-gpus', 'auto'],
      { FAKE_CUDA_IPC: 'none', FAKE_NCCL_VERSION: 'none' },
      behind('staged', { ipc: /cuIpcOpenMemHandle/, nccl: /NCCL does not load/ }),
    ],
    [
      'by messages of the host, where two ranks have one GPU',
      2,
      ['fake-cuda', 'auto'],
      {},
      behind('staged', {
        ipc: /Ranks 0 and 1 have the same GPU/,
        nccl: /Ranks 0 and 1 have the same GPU/,
      }),
    ],
    [
      'by messages of the host, where these are asked for',
      2,
      ['fake-gpus', 'staged'],
      {},
      { name: 'staged', refused: [] },
    ],
  ] as const)('reaches the memory of other ranks %s', async (_, ranks, given, environment, transport) => {
    const job = { ranks, program: 'transport.ts', arguments: given, environment }
    const { exitCode, stdout, stderr } = await runJob(openMpi, job)
    expect(exitCode, stdout + stderr).toBe(0)
    const [said, ...rest] = stdout.trim().split('\n')
    expect(JSON.parse(said!)).toEqual(transport)
    expect(rest).toEqual(['all values are right'])
  })

  it.each([
    ['ipc', { FAKE_CUDA_IPC: 'none' }, 'cuIpcOpenMemHandle'],
    ['nccl', { FAKE_FAIL: 'ncclCommInitRankConfig:2:1' }, 'ncclCommInitRankConfig'],
  ] as const)(
    'refuses a transport that is asked for and does not work, on every rank: %s',
    async (name, environment, reason) => {
      const job = { ranks: 2, program: 'transport.ts', arguments: ['fake-gpus', name], environment }
      const { exitCode, stdout } = await runJob(openMpi, job)
      expect(exitCode).toBe(3)
      const refusals = new RegExp(
        `^rank \\d ends: unsupported: .*Transport ${name} does not work here: .*${reason}`,
        'gm',
      )
      expect(stdout.match(refusals), stdout).toHaveLength(2)
    },
  )

  it.skipIf(!long).each([
    ['conformance.ts', 'ipc', 2],
    ['algorithms.ts', 'ipc', 2],
    ['conformance.ts', 'nccl', 2],
    ['conformance.ts', 'nccl', 3],
    ['algorithms.ts', 'nccl', 2],
  ] as const)(
    'passes %s over GPUs of ranks, transport %s, ranks: %i (in the long form: each kernel is built for the CPU)',
    async (program, transport, ranks) => {
      const { exitCode, stdout, stderr } = await runJob(openMpi, {
        ranks,
        program,
        arguments: ['fake-gpus', transport],
      })
      expect(exitCode, stdout + stderr).toBe(0)
      expect(stdout).toMatch(
        program === 'conformance.ts' ? /"skipped":0,"failed":0/ : /jacobi has the same bits/,
      )
    },
  )

  it('repeats device work and messages without JavaScript', async () => {
    const job = { ranks: 2, program: 'native-launches.ts', arguments: ['fake-cuda'] }
    const { exitCode, stdout, stderr } = await runJob(openMpi, job)
    expect(exitCode, stdout + stderr).toBe(0)
    expect(stdout).toContain('51 repetitions without JavaScript')
  })
})
