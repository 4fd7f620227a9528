import { expect, it } from 'vitest'
import { openedGpu } from './testing-gpu.ts'
import { RandomCalls } from './testing-random-calls.ts'

const opened = openedGpu({ devices: 2 })
const sequences = process.env.TANDEM_LONG === '1' ? 20_000 : 12

it('random calls on three GPUDevices of two devices give what their model says', async () => {
  let done = 0
  for (; done < sequences; done++)
    await new RandomCalls(done, (ordinal) => opened.device(undefined, ordinal)).run(250, 3)
  expect(done).toBe(sequences)
})
