import { expect, it } from 'vitest'
import { detectLaunch } from './launcher.ts'

it('knows the launchers by what they set, and a process without one', () => {
  expect(detectLaunch({})).toBeUndefined()
  expect(detectLaunch({ OMPI_COMM_WORLD_SIZE: '4', OMPI_COMM_WORLD_RANK: '2' })).toEqual({
    launcher: 'mpirun of Open MPI',
    family: 'Open MPI',
    size: 4,
    rank: 2,
  })
  expect(detectLaunch({ PMI_SIZE: '3', PMI_RANK: '0' })).toMatchObject({ family: 'MPICH', size: 3, rank: 0 })
})

it('takes mpirun for the launcher inside a task of Slurm, and srun where it is alone', () => {
  const slurm = { SLURM_STEP_NUM_TASKS: '2', SLURM_PROCID: '1' }
  expect(detectLaunch({ ...slurm, OMPI_COMM_WORLD_SIZE: '4', OMPI_COMM_WORLD_RANK: '2' })?.family).toBe(
    'Open MPI',
  )
  expect(detectLaunch(slurm)).toEqual({ launcher: 'srun of Slurm', size: 2, rank: 1 })
})
