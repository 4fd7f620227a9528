import { expect, it } from 'vitest'
import { detectLaunch } from './launcher.ts'

it('recognizes launchers by the variables that they set, and a process without a launcher', () => {
  expect(detectLaunch({})).toBeUndefined()
  expect(detectLaunch({ OMPI_COMM_WORLD_SIZE: '4', OMPI_COMM_WORLD_RANK: '2' })).toEqual({
    startedBy: 'mpirun of Open MPI',
    family: 'Open MPI',
    size: 4,
    rank: 2,
  })
  expect(detectLaunch({ PMI_SIZE: '3', PMI_RANK: '0' })).toMatchObject({ family: 'MPICH', size: 3, rank: 0 })
})

it('recognizes mpirun inside a Slurm task, and srun without mpirun', () => {
  const slurm = { SLURM_STEP_NUM_TASKS: '2', SLURM_PROCID: '1' }
  expect(detectLaunch({ ...slurm, OMPI_COMM_WORLD_SIZE: '4', OMPI_COMM_WORLD_RANK: '2' })?.family).toBe(
    'Open MPI',
  )
  expect(detectLaunch(slurm)).toEqual({ startedBy: 'srun of Slurm', size: 2, rank: 1 })
})

it.each([
  [{ OMPI_COMM_WORLD_SIZE: 'x', OMPI_COMM_WORLD_RANK: '0' }, 'OMPI_COMM_WORLD_SIZE is "x"'],
  [{ OMPI_COMM_WORLD_SIZE: '2', OMPI_COMM_WORLD_RANK: '2' }, 'OMPI_COMM_WORLD_RANK is "2"'],
  [{ OMPI_COMM_WORLD_SIZE: '0', OMPI_COMM_WORLD_RANK: '0' }, 'OMPI_COMM_WORLD_SIZE is "0"'],
  [{ PMI_SIZE: '3', PMI_RANK: '-1' }, 'PMI_RANK is "-1"'],
  [{ PMI_SIZE: '3', PMI_RANK: '1.5' }, 'PMI_RANK is "1.5"'],
  [{ PMI_SIZE: '3' }, 'PMI_RANK is not set'],
  [{ PMI_RANK: '0' }, 'PMI_SIZE is not set'],
  [{ SLURM_STEP_NUM_TASKS: '', SLURM_PROCID: '0' }, 'SLURM_STEP_NUM_TASKS is ""'],
])('says what is wrong with variables that no launcher sets: %o', (environment, said) => {
  expect(() => detectLaunch(environment)).toThrow(said)
  expect(() => detectLaunch(environment)).toThrow(expect.objectContaining({ code: 'validation' }))
})

it('finds no launcher for a Slurm rank outside a step', () => {
  expect(detectLaunch({ SLURM_PROCID: '0' })).toBeUndefined()
})
