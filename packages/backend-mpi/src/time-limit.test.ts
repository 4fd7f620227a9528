import { describe, expect, it } from 'vitest'
import { runBundledJob } from './testing/bundled-job.ts'
import { openMpi, whereInstalled } from './testing/launchers.ts'

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it.each([
    [2, 'ipc', 'ends a run on all ranks, inside the kernel that one of them runs, and the group goes on'],
    [3, 'ipc', 'does so where the third rank is the one'],
    [2, 'staged', 'ends a run after the same repetition on all ranks, and the group goes on'],
    [3, 'staged', 'does so where the third rank is the one'],
    [2, 'gpu-aware', 'does so where MPI takes GPU memory'],
    [2, 'nccl', 'ends a run after the same repetition on all ranks, with messages in the graphs of GPUs'],
    [3, 'nccl', 'does so where the third rank is the one'],
  ] as const)('a time limit over %i ranks by %s %s', async (ranks, transport, _) => {
    const { exitCode, stdout, stderr } = await runBundledJob(openMpi, {
      ranks,
      program: 'time-limit.ts',
      arguments: ['fake-gpus', transport],
      ...(transport === 'gpu-aware' && { environment: { FAKE_GPU_AWARE_RANKS: `${ranks}` } }),
    })
    expect(exitCode, stdout + stderr).toBe(0)
    expect(stdout.match(/has its limits/g)).toHaveLength(ranks)
  })
})
