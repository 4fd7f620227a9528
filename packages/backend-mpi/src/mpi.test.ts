import { beforeAll, describe, expect, it } from 'vitest'
import { runBundledJob } from './testing/bundled-job.ts'
import { type JobResult, mpich, openMpi, whereInstalled } from './testing/launchers.ts'

/** A transport, and why each faster one was refused. */
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
      const { exitCode, stdout, stderr } = await runBundledJob(mpi, { ranks: 1, program: 'messages.ts' })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'all messages are right\n' })
    })

    it('keeps two deliveries with the same tag apart when they pass through a rank', async () => {
      const { exitCode, stdout, stderr } = await runBundledJob(mpi, { ranks: 4, program: 'deliveries.ts' })
      expect({ exitCode, stdout }, stderr).toEqual({
        exitCode: 0,
        stdout: 'deliveries of one tag are right\n',
      })
    })

    describe('one job of 3 ranks', () => {
      // Software GPUs do not depend on the kind of MPI, so only the long form tests them with both.
      const inner = mpi === openMpi || long ? 'webgpu' : 'reference'
      let job: JobResult
      beforeAll(async () => {
        const programs = [
          'messages.ts',
          'abort.ts',
          `conformance.ts,${inner}`,
          'groups.ts',
          'random-programs.ts',
        ]
        job = await runBundledJob(mpi, { ranks: 3, program: 'sequence.ts', arguments: programs })
      })

      it('carries gathers, deliveries and messages', () => {
        expect(job.stdout, job.stderr).toMatch(/^0: all messages are right$/m)
      })

      it('stops all ranks after the same repetition when one aborts', () => {
        const { stdout, stderr } = job
        const repetitions = [...stdout.matchAll(/^1: rank \d stops after (\d+) repetitions$/gm)].map(
          ([, n]) => n,
        )
        expect(repetitions, stdout + stderr).toHaveLength(3)
        expect(new Set(repetitions).size).toBe(1)
        expect(Number(repetitions[0])).toBeGreaterThan(0)
      })

      it(`passes the conformance suite, backend of each rank: ${inner}`, () => {
        const { exitCode, stdout, stderr } = job
        expect(exitCode, stdout + stderr).toBe(0)
        const { passed, skipped, failed } = JSON.parse(/^2: (\{.*\})$/m.exec(stdout)![1]!)
        expect(passed).toBeGreaterThanOrEqual(50)
        // Groups over several ranks have no command queues, which have 11 tests; WebGPU has no `trap`.
        expect({ skipped, failed }).toEqual({ skipped: inner === 'webgpu' ? 12 : 11, failed: 0 })
      })

      it('runs programs of several groups at the same time, started in any order, after any number of groups', () => {
        expect(job.stdout, job.stderr).toMatch(/^3: two groups at once are right$/m)
      })

      it('runs random programs in one group while others are opened, run one, and are closed', () => {
        expect(job.stdout, job.stderr).toMatch(
          /^4: 20 random programs over 3 ranks are right, and 2 groups beside them, transport staged$/m,
        )
      })
    })

    it.each(
      mpi === openMpi
        ? [
            // In each process, a software adapter takes seconds to compile the kernels of some algorithms.
            [2, 'webgpu', long ? [] : ['transpose', 'reduce', 'sort', 'jacobi']],
            // On two cores they take turns.
            [4, long ? 'webgpu' : 'reference', []],
          ]
        : [[2, long ? 'webgpu' : 'reference', []]],
    )(
      'computes the same bits over ranks as over the devices of one process, ranks: %i, backend of each: %s',
      async (ranks: number, inner: string, wanted: readonly string[]) => {
        const given = wanted.length > 0 ? [inner, 'staged', ...wanted] : [inner]
        const job = { ranks, program: 'algorithms.ts', arguments: given }
        const { exitCode, stdout, stderr } = await runBundledJob(mpi, job)
        expect(exitCode, stdout + stderr).toBe(0)
        expect(stdout.match(/ has the same bits/g)).toHaveLength(wanted.length || 11)
      },
    )
  })
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  const host = { name: 'staged', refused: [] }
  const same = /Ranks 0 and 1 have the same GPU/
  const noIpc = 'FAKE_CUDA_IPC=none'
  const failingNccl = 'FAKE_FAIL=ncclCommInitRankConfig:2:1'
  const aware = (ranks: number) => `FAKE_GPU_AWARE_RANKS=${ranks}`
  const refusal = (name: string, reason: string) =>
    new RegExp(`^rank \\d ends: unsupported: .*Transport ${name} does not work here: .*${reason}`)
  const notAware =
    /^Open MPI \(.*\) does not accept addresses of GPU memory, according to MPIX_Query_cuda_support\./
  // What a job prints for each step: the transport, or why each rank refuses.
  type Steps = readonly (readonly [string, string, object | RegExp])[]
  /** The GPUs, the program, and its number of repetitions. */
  type NativeLaunches = readonly (readonly [string, string, number])[]
  const jobs: readonly {
    name: string
    ranks: number
    steps: Steps
    nativeLaunches?: NativeLaunches
    callsInOrder?: string
  }[] = [
    {
      name: 'one job of 2 ranks',
      ranks: 2,
      steps: [
        [
          'as peers, if each has its own GPU and no transport is requested',
          'transport.ts,fake-gpus',
          { name: 'ipc', refused: [] },
        ],
        [
          'by messages of GPUs, if the driver refuses to map memory',
          `${noIpc} transport.ts,fake-gpus`,
          behind('nccl', { ipc: /cuIpcOpenMemHandle/ }),
        ],
        [
          'by messages of the host, if NCCL is missing too',
          `${noIpc} FAKE_NCCL_VERSION=none transport.ts,fake-gpus,auto`,
          behind('staged', {
            ipc: /cuIpcOpenMemHandle/,
            nccl: /NCCL cannot be loaded/,
            'gpu-aware': notAware,
          }),
        ],
        [
          'in no way, if ipc is requested but does not work',
          `${noIpc} transport.ts,fake-gpus,ipc`,
          refusal('ipc', 'cuIpcOpenMemHandle'),
        ],
        [
          'by messages of the host, if two ranks have one GPU',
          'transport.ts,fake-cuda,auto',
          behind('staged', { ipc: same, nccl: same, 'gpu-aware': notAware }),
        ],
        [
          'in no way, if nccl is requested but one rank cannot connect',
          `1@${failingNccl} transport.ts,fake-gpus,nccl`,
          refusal('nccl', 'ncclCommInitRankConfig'),
        ],
        ['by messages of the host, if these are requested', 'transport.ts,fake-gpus,staged', host],
        [
          'by messages of the host, if the devices are not GPUs',
          'transport.ts,reference',
          behind('staged', {
            ipc: /^The backend reference does not share memory between processes\.$/,
            nccl: /^The backend reference does not exchange messages between processes\.$/,
            'gpu-aware': /^The backend reference does not pass addresses of device memory to MPI\.$/,
          }),
        ],
        [
          'by messages of the host, if each faster transport fails on one rank',
          `1@${noIpc} 0@FAKE_NCCL_VERSION=none transport.ts,fake-gpus,auto`,
          behind('staged', {
            ipc: /^Rank 1: .*cuIpcOpenMemHandle/,
            nccl: /NCCL cannot be loaded/,
            'gpu-aware': notAware,
          }),
        ],
      ],
      nativeLaunches: [
        ['a GPU', 'native-launches.ts,fake-cuda', 51],
        ['two GPUs', 'FAKE_CUDA_DEVICES=4 native-launches.ts,fake-gpus', 101],
      ],
    },
    {
      name: 'one job of 3 ranks',
      ranks: 3,
      steps: [
        ['as peers', 'transport.ts,fake-gpus,ipc', { name: 'ipc', refused: [] }],
        [
          'by messages of GPUs, if these are requested',
          'transport.ts,fake-gpus,nccl',
          { name: 'nccl', refused: [] },
        ],
      ],
    },
    {
      name: 'one job of 3 ranks, whose MPI accepts memory of GPUs',
      ranks: 3,
      steps: [
        [
          'by its messages, if NCCL is missing',
          `${aware(3)} ${noIpc} FAKE_NCCL_VERSION=none transport.ts,fake-gpus,auto`,
          behind('gpu-aware', { ipc: /cuIpcOpenMemHandle/, nccl: /NCCL cannot be loaded/ }),
        ],
        [
          'by its messages, if these are requested',
          `${aware(3)} transport.ts,fake-gpus,gpu-aware`,
          { name: 'gpu-aware', refused: [] },
        ],
      ],
      nativeLaunches: [['a GPU', `${aware(3)} native-launches.ts,fake-cuda,gpu-aware`, 76]],
      callsInOrder: `${aware(3)} FAKE_CUDA_COPY_MS=5 calls-in-order.ts,fake-gpus,gpu-aware`,
    },
    {
      name: 'one job of 2 ranks, only one of which has an MPI that accepts memory of GPUs',
      ranks: 2,
      steps: [
        [
          'in no way, if its messages are requested but do not work',
          `${aware(1)} transport.ts,fake-gpus,gpu-aware`,
          refusal('gpu-aware', 'rank 1 .* does not accept addresses of GPU memory'),
        ],
      ],
    },
  ]
  describe.each(jobs)('$name', ({ ranks, steps, nativeLaunches = [], callsInOrder }) => {
    let job: JobResult
    beforeAll(async () => {
      const programs = [...steps, ...nativeLaunches].map(([, step]) => step)
      if (callsInOrder !== undefined) programs.push(callsInOrder)
      job = await runBundledJob(openMpi, { ranks, program: 'sequence.ts', arguments: programs })
    })
    const saidIn = (place: number) =>
      job.stdout
        .split('\n')
        .flatMap((line) => (line.startsWith(`${place}: `) ? line.slice(`${place}: `.length) : []))

    it.each(steps.map(([how, , expected], place) => ({ how, expected, place })))(
      'reaches the memory of other ranks $how',
      ({ expected, place }) => {
        const said = saidIn(place)
        if (expected instanceof RegExp)
          expect(said, job.stderr).toEqual(Array(ranks).fill(expect.stringMatching(expected)))
        else {
          expect(said, job.stderr).toEqual([expect.stringMatching(/^\{/), 'all values are right'])
          expect(JSON.parse(said[0]!)).toEqual(expected)
        }
      },
    )

    it.each(nativeLaunches.map(([gpus, , repetitions], index) => ({ gpus, repetitions, index })))(
      'repeats device work and messages without JavaScript, with $gpus per rank',
      ({ repetitions, index }) => {
        expect(saidIn(steps.length + index), job.stderr).toEqual([
          expect.stringMatching(new RegExp(`^${repetitions} repetitions without JavaScript`)),
        ])
      },
    )

    if (callsInOrder !== undefined)
      it('sends data written before a run, and does not overwrite data that is still being read', () => {
        expect(saidIn(steps.length + nativeLaunches.length), job.stderr).toEqual(['48 of 48 reads are right'])
      })

    it('ends normally', () => {
      expect(job.exitCode, job.stdout + job.stderr).toBe(0)
      // An MPI that accepts memory of GPUs received some on each rank.
      const addressed = job.stderr.match(/^fake GPU-aware MPI: [1-9]\d* messages of device memory$/gm)
      const takes = job.stdout.includes('"name":"gpu-aware","refused":[]')
      expect(addressed ?? [], job.stderr).toHaveLength(takes ? ranks : 0)
    })
  })

  it.each(['ipc', 'nccl'])(
    'runs programs of several groups one after another, in the same order on every rank, transport %s',
    async (transport) => {
      const { exitCode, stdout, stderr } = await runBundledJob(openMpi, {
        ranks: 2,
        program: 'turns.ts',
        arguments: ['fake-gpus', transport],
        environment: { FAKE_CUDA_ONE_QUEUE: '1' },
      })
      expect(exitCode, stdout + stderr).toBe(0)
      expect(stdout).toBe('runs of two groups take turns\n')
    },
  )

  it.skipIf(!long).each([
    ['conformance.ts', 'ipc', 2],
    ['algorithms.ts', 'ipc', 2],
    ['conformance.ts', 'nccl', 2],
    ['conformance.ts', 'nccl', 3],
    ['algorithms.ts', 'nccl', 2],
    ['conformance.ts', 'gpu-aware', 2],
    ['conformance.ts', 'gpu-aware', 3],
    ['algorithms.ts', 'gpu-aware', 2],
  ] as const)(
    'passes %s over GPUs of ranks, transport %s, ranks: %i (in the long form: each kernel is built for the CPU)',
    async (program, transport, ranks) => {
      const { exitCode, stdout, stderr } = await runBundledJob(openMpi, {
        ranks,
        program,
        arguments: ['fake-gpus', transport],
        ...(transport === 'gpu-aware' && { environment: { FAKE_GPU_AWARE_RANKS: `${ranks}` } }),
      })
      expect(exitCode, stdout + stderr).toBe(0)
      expect(stdout).toMatch(
        program === 'conformance.ts' ? /"skipped":0,"failed":0/ : /jacobi has the same bits/,
      )
    },
  )
})
