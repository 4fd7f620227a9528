import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runBundledJob } from './testing/bundled-job.ts'
import { fakeGpuAwareMpi } from './testing/fake-gpu-aware-mpi.ts'
import { type JobOptions, type MpiInstallation, mpich, openMpi, whereInstalled } from './testing/launchers.ts'
import { preloadedLibrary } from './testing/preloaded-library.ts'

/**
 * Runs a job of three ranks and calls `act` with the process of rank 1 once all three have reported their
 * process.
 */
async function disturbed(
  mpi: MpiInstallation,
  act: (process: number) => void,
  options: Partial<JobOptions> = {},
) {
  const processes = new Map<number, number>()
  let acted = 0
  const result = await runBundledJob(mpi, {
    ranks: 3,
    program: 'steady.ts',
    ...options,
    onLine(line) {
      const [, rank, process] = /^rank (\d+) is process (\d+)$/.exec(line) ?? []
      if (rank === undefined) return
      processes.set(Number(rank), Number(process))
      if (processes.size < 3) return
      acted = performance.now()
      act(processes.get(1)!)
    },
  })
  return { ...result, secondsAfter: (performance.now() - acted) / 1000, processes: [...processes.values()] }
}

/**
 * The factor by which a busy machine may exceed the time in which a failure is noticed. `npm run test:long`,
 * which runs these tests alone, asserts the time itself.
 */
const patience = process.env.TANDEM_LONG === '1' ? 1 : 12

function isAlive(process: number): boolean {
  return spawnSync('kill', ['-0', String(process)]).status === 0
}

describe.each([openMpi, mpich])('$name', (mpi) => {
  describe.skipIf(!mpi.installed)(whereInstalled(mpi), () => {
    it('tells of ranks that leave a group, and lets a delivery between others end', async () => {
      // Rank 0 ends with a message that never comes, which MPI cannot cancel, so the exit code is not 0.
      const { stdout, stderr } = await runBundledJob(mpi, { ranks: 3, program: 'departures.ts' })
      expect(stdout.match(/^rank \d knows who has left$/gm), stdout + stderr).toHaveLength(3)
    })

    it('ends the job when a rank is killed, and one line names it', async ({ annotate }) => {
      const killed = () =>
        disturbed(
          mpi,
          (process) => void spawnSync('kill', ['-KILL', String(process)]),
          // Longer than the test's time limit, so a job that does not notice fails the test.
          { arguments: ['3600'] },
        )
      // Without the lines in which ranks of a busy machine wait for each other at the start.
      const linesOf = ({ stderr }: { stderr: string }) =>
        stderr.match(/^.*\brank 1 .*$/gm)?.filter((line) => !line.includes(' has waited 5 s for '))
      let outcome = await killed()
      // On a busy machine the launcher may take longer than the 2 s that Tandem gives it, or end the others
      // before they print anything.
      for (let turn = 1; linesOf(outcome)?.length !== 1 && turn < 10; turn++) outcome = await killed()
      const { exitCode, stderr, secondsAfter, processes } = outcome
      expect(exitCode).not.toBe(0)
      expect(linesOf(outcome), stderr).toHaveLength(1)
      await annotate(`${mpi.name}: the job ends ${secondsAfter.toFixed(1)} s after the rank`)
      expect(secondsAfter).toBeLessThan(5 * patience)
      // The launcher may end before the processes that it has killed.
      while (processes.some(isAlive)) await setTimeout(100)
    })

    it('ends the job with the exception of the rank that throws it', async () => {
      const job = { ranks: 2, program: 'steady.ts', arguments: ['3600', 'throw'] }
      const { exitCode, stderr } = await runBundledJob(mpi, job)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('Rank 1 ended with an uncaught exception: Error: rank 1 has a defect')
    })

    it('ends the job with the exit code of the rank that exits', async () => {
      const job = { ranks: 2, program: 'steady.ts', arguments: ['3600', 'exit'] }
      expect((await runBundledJob(mpi, job)).exitCode).toBe(7)
    })

    it('ends with exit code 0 if a rank exits with a pending call that another rank never makes', async () => {
      const job = { ranks: 2, program: 'early-end.ts', arguments: ['call'] }
      const { exitCode, stderr } = await runBundledJob(mpi, job)
      expect(exitCode, stderr).toBe(0)
    })

    it('ends if every rank exits in the middle of a run, and reports it in one line', async () => {
      const job = { ranks: 2, program: 'early-end.ts', arguments: ['run'] }
      const { stderr } = await runBundledJob(mpi, job)
      expect(stderr).toMatch(/^tandem: rank \d .* ended before its work was finished\. /m)
    })

    it('ends with exit code 0 if the only rank exits in the middle of a run', async () => {
      const job = { ranks: 1, program: 'early-end.ts', arguments: ['run'] }
      const { exitCode, stderr } = await runBundledJob(mpi, job)
      expect(exitCode, stderr).toBe(0)
    })
  })
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  // Longer than any time limit of TCP's keepalive: a stopped process must not count as dead.
  const stopSeconds = process.env.TANDEM_LONG === '1' ? 45 : 8
  it(`waits for a rank that is stopped for ${stopSeconds} s, reports it after 5 s, and finishes when the rank continues`, async () => {
    let noticed = () => {}
    const silent = new Promise<void>((resolve) => {
      noticed = resolve
    })
    const { exitCode, stdout, stderr } = await disturbed(
      openMpi,
      (process) => {
        spawnSync('kill', ['-STOP', String(process)])
        // On a busy machine the others may notice late.
        void Promise.all([setTimeout(stopSeconds * 1000), silent]).then(() =>
          spawnSync('kill', ['-CONT', String(process)]),
        )
      },
      // Seconds of work, so that the signal arrives in time.
      { arguments: ['5'], onError: (text) => void (text.includes('has been silent') && noticed()) },
    )
    expect(exitCode, stderr).toBe(0)
    expect(stdout.match(/is done/g)).toHaveLength(3)
    // At least once: on a busy machine it may fall silent again.
    expect(stderr).toMatch(/^tandem: rank 1 .* has been silent for 5 s; the others wait for it\.$/m)
    expect(stderr).toMatch(/^tandem: rank 1 .* responded again after \d+ s\.$/m)
  })
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it.each([
    { inner: 'fake-cuda', transport: 'staged', code: 'driver' },
    { inner: 'fake-gpus', transport: 'ipc', code: 'device-lost' },
    { inner: 'fake-gpus', transport: 'nccl', code: 'device-lost' },
  ])(
    'gives every rank a typed error when device work started by native code fails on one rank, transport $transport',
    async ({ inner, transport, code }) => {
      const folder = await mkdtemp(join(tmpdir(), 'tandem-said-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const { stdout } = await runBundledJob(openMpi, {
        ranks: 2,
        program: 'native-launches.ts',
        arguments: [inner, transport, 'fail', folder],
      })
      expect(stdout).toMatch(
        new RegExp(`^rank 1 ends: ${code}: .*[Pp]rogram .* failed: .*cuGraphLaunch`, 'm'),
      )
      expect(stdout).toMatch(/^rank 0 ends: device-lost: .*rank 1 .*cuGraphLaunch/m)
    },
  )

  it('gives every rank an error that names both calls when one rank opens a group while another waits for it in a run', async () => {
    const job = { ranks: 3, program: 'opens-another.ts' }
    const { exitCode, stdout, stderr } = await runBundledJob(openMpi, job)
    const lines = stdout.trim().split('\n').sort()
    expect(lines, stderr).toHaveLength(3)
    for (const [rank, line] of lines.entries()) {
      expect(line).toMatch(
        new RegExp(`^rank ${rank}: (validation|device-lost): .*The ranks made different calls`),
      )
      expect(line).toMatch(/runs "program 0" 3 times in group "first"/)
      expect(line).toMatch(/rank 1 \(process \d+ on .*\) looks for devices, to open a group/)
    }
    expect(lines[1]).toMatch(/^rank 1: validation: /)
    expect(exitCode, stderr).toBe(0)
  })

  it.each(['ipc', 'nccl'])(
    'frees memory that a late rank still maps, and remains usable after one rank fails to make a graph, transport %s',
    async (transport) => {
      const { exitCode, stdout, stderr } = await runBundledJob(openMpi, {
        ranks: 3,
        program: 'memory.ts',
        arguments: [transport],
        environment: { FAKE_CUDA_MEMORY: '6000000' },
      })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'memory comes back\n' })
    },
  )

  it('gives every rank a typed error when devices fault while several launches of native code are pending', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tandem-said-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const job = { ranks: 2, program: 'fault.ts', arguments: [folder] }
    const { stdout, stderr } = await runBundledJob(openMpi, job)
    expect(stdout, stderr).toMatch(
      /^rank 1 ends: driver: .*cuEventQuery returned CUDA_ERROR_ILLEGAL_ADDRESS/m,
    )
    expect(stdout, stderr).toMatch(/^rank 0 ends: device-lost: .*rank 1 .*cuEventQuery/m)
    for (const rank of [0, 1])
      expect(stdout, stderr).toMatch(new RegExp(`^rank ${rank} still has 256 bytes of messages$`, 'm'))
  })

  it.each(['ipc', 'nccl', 'staged'])(
    'lets every rank destroy its group when the devices of one rank are lost before the first run of a program, transport %s',
    async (transport) => {
      const job = { ranks: 2, program: 'lost-device.ts', arguments: [transport] }
      const { stdout, stderr } = await runBundledJob(openMpi, job)
      for (const rank of [0, 1])
        expect(stdout, stderr).toMatch(
          new RegExp(`^rank ${rank} has destroyed the group: device-lost, device-lost$`, 'm'),
        )
    },
  )
})

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  const noThread = 'The operating system cannot start a thread: Resource temporarily unavailable.'

  it.each([
    { which: 'for messages', thread: 1, ranks: [1] },
    { which: 'that watches the others', thread: 2, ranks: [0, 1] },
  ])(
    'gives a typed error when the operating system refuses to start the thread $which, and the job ends',
    async ({ thread, ranks }) => {
      const { exitCode, stdout, stderr } = await runBundledJob(openMpi, {
        ranks: 2,
        program: 'misfortunes.ts',
        arguments: ['threads'],
        environment: {
          LD_PRELOAD: preloadedLibrary('../backend-cuda/native/test/no_threads.c'),
          NO_THREADS_OF: `backend-mpi.node:${thread}`,
        },
      })
      expect(exitCode).toBe(3)
      for (const rank of ranks)
        expect(stdout, stderr).toMatch(new RegExp(`^rank ${rank} ends: out-of-memory: .*${noThread}$`, 'm'))
    },
  )

  it('rejects pending and later calls when the thread for messages is out of memory, and the process ends', async () => {
    const { exitCode, stdout, stderr } = await runBundledJob(undefined, {
      ranks: 1,
      program: 'misfortunes.ts',
      arguments: ['memory'],
      environment: { LD_PRELOAD: preloadedLibrary('native/test/no_memory.c') },
    })
    const line = 'out-of-memory: The host has no memory left.\n'
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: line.repeat(2) })
  })

  it('rejects calls made after the process has left the job', async () => {
    const job = { ranks: 2, program: 'misfortunes.ts', arguments: ['ended'] }
    const { exitCode, stdout, stderr } = await runBundledJob(openMpi, job)
    const line = 'device-lost: This process has left the job: it had nothing left to do.\n'
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: line.repeat(8) })
  })

  it('goes on after an exception that a rank handles itself', async () => {
    const job = { ranks: 2, program: 'misfortunes.ts', arguments: ['handled'] }
    const { exitCode, stdout, stderr } = await runBundledJob(openMpi, job)
    expect(exitCode, stderr).toBe(0)
    expect(stdout.trim().split('\n').sort(), stderr).toEqual(['rank 0 goes on', 'rank 1 goes on'])
  })

  it('delivers all messages sent meanwhile, complete, to a rank that was stopped', async () => {
    const job = { ranks: 2, program: 'misfortunes.ts', arguments: ['stopped'] }
    const { exitCode, stdout, stderr } = await runBundledJob(openMpi, job)
    expect(exitCode, stderr).toBe(0)
    expect(stdout, stderr).toMatch(
      /^group 0: device-lost, 200000\d\d\ngroup 1: validation, 1000\ngroup 2: device-lost, 10\d\d\n$/,
    )
  })

  it.each([
    [
      'an MPI that allows no threads',
      { FAKE_MPI_SINGLE: '1' },
      /^unsupported: .* does not allow this process to have threads/,
    ],
    ['an MPI that allows them', {}, /^rank 0 of 1$/],
  ])('recognizes %s', async (_, environment, said) => {
    const job = { ranks: 1, program: 'start.ts', arguments: [fakeGpuAwareMpi('Open MPI')], environment }
    const { stdout, stderr } = await runBundledJob(undefined, job)
    expect(stdout.trim(), stderr).toMatch(said)
  })

  it('skips a library that is not an MPI', async () => {
    const job = { ranks: 1, program: 'start.ts', arguments: ['libm.so.6'] }
    const { exitCode, stdout, stderr } = await runBundledJob(undefined, job)
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'rank 0 of 1\n' })
  })
})

describe.skipIf(!mpich.installed)(whereInstalled(mpich), () => {
  const withoutCleanup = ['-disable-auto-cleanup']

  // Whatever its options, MPICH's launcher kills all other processes once it notices that a signal has ended
  // one. Here its processes are shells, which end by themselves. Without cleanup it sends SIGUSR1 to the
  // others, which the shells survive.
  const starter = ['bash', '-c', 'trap : USR1; "$@"', 'bash']
  // Even so, in one of about 120 jobs the survivor printed nothing, presumably because the launcher had ended
  // it.
  const launcherMayKill = { retry: 2 }

  it.each([
    ['in the middle of a run', 'ipc', 'kill'],
    ['in the middle of a run', 'nccl', 'kill'],
    ['in the middle of a run', 'gpu-aware', 'kill'],
    ['between runs without JavaScript', 'ipc', 'kill-repeated'],
    ['between runs without JavaScript', 'nccl', 'kill-repeated'],
  ])(
    'gives the survivor a typed error when a rank is killed %s, transport %s',
    launcherMayKill,
    async (_, transport, act) => {
      const { stdout, stderr } = await runBundledJob(mpich, {
        ranks: 2,
        program: 'transport.ts',
        arguments: ['fake-gpus', transport, act],
        environment: transport === 'gpu-aware' ? { FAKE_GPU_AWARE_RANKS: '2' } : {},
        launcherOptions: withoutCleanup,
        starter,
      })
      expect(stdout, stderr).toMatch(/^rank 0 ends: device-lost: .*rank 1 \(process .* ended unexpectedly/m)
    },
  )

  it(
    'gives every survivor a typed error that names the rank, if the launcher does not kill them',
    launcherMayKill,
    async () => {
      const { stdout } = await disturbed(
        mpich,
        (process) => void spawnSync('kill', ['-KILL', String(process)]),
        { arguments: ['3600'], launcherOptions: withoutCleanup, starter },
      )
      for (const rank of [0, 2])
        expect(stdout).toMatch(
          new RegExp(`^rank ${rank} ends: device-lost: .*rank 1 \\(process .* ended unexpectedly`, 'm'),
        )
    },
  )

  it('gives every rank a typed error when one leaves early', async () => {
    const job = {
      ranks: 3,
      program: 'steady.ts',
      arguments: ['3600', 'leave'],
      launcherOptions: withoutCleanup,
    }
    const { stdout } = await runBundledJob(mpich, job)
    for (const rank of [0, 2])
      expect(stdout).toMatch(
        new RegExp(`^rank ${rank} ends: device-lost: .*rank 1 .* makes no more calls`, 'm'),
      )
  })
})
