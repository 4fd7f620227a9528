import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { jacobi, type MeasureProgress, transpose } from './index.ts'

const runsOf = async (
  compute: (
    group: Awaited<ReturnType<typeof openGroup>>,
    onRun: (progress: MeasureProgress) => void,
  ) => Promise<unknown>,
) => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 2, virtual: true })
  const seen: string[] = []
  await compute(group, ({ done, total }) => seen.push(`${done}/${total}`)).finally(() => group.destroy())
  return seen
}

it('onRun counts warm-up runs, timed runs and the run that is traced', async () => {
  const seen = await runsOf((group, onRun) =>
    transpose(group, { rows: 3, columns: 2, type: 'i32', warmup: 1, samples: 2, trace() {}, onRun }),
  )
  expect(seen).toEqual(['0/4', '1/4', '2/4', '3/4', '4/4'])
})

it('onRun counts the runs of a comparison of schedules from zero again', async () => {
  const seen = await runsOf((group, onRun) =>
    transpose(group, { rows: 3, columns: 2, type: 'i32', warmup: 0, compareSchedules: true, onRun }),
  )
  expect([seen.slice(0, 3), seen.at(-1)]).toEqual([['0/1', '1/1', '0/12'], '12/12'])
})

it('onRun counts the runs of jacobi', async () => {
  const seen = await runsOf((group, onRun) =>
    jacobi(group, { rows: 5, columns: 5, iterations: 3, warmup: 1, samples: 2, onRun }),
  )
  expect(seen).toEqual(['0/3', '1/3', '2/3', '3/3'])
})
