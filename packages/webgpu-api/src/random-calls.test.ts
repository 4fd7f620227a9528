import { expect, it } from 'vitest'
import { onReference, openedGpu } from './testing-gpu.ts'
import { RandomCalls } from './testing-random-calls.ts'

const opened = openedGpu({ devices: 2 })
/**
 * Together they take about an hour. The fake driver keeps the library of each kernel that it has ever loaded,
 * and the system so many.
 */
const long = onReference ? 60_000 : 1200
const sequences = process.env.TANDEM_LONG === '1' ? long : 12

it('random calls on three GPUDevices of two devices give what their model says', async () => {
  let done = 0
  for (; done < sequences; done++)
    await new RandomCalls(done, (ordinal) => opened.device(undefined, ordinal)).run(250, 3)
  expect(done).toBe(sequences)
})
