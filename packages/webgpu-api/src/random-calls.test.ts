import { expect, it } from 'vitest'
import { onReference, openedGpu } from './testing-gpu.ts'
import { RandomCalls } from './testing-random-calls.ts'

const opened = openedGpu({ devices: 2 })
/**
 * All sequences together take about an hour. Their number is lower off the reference runtime: the fake driver
 * never unloads a kernel's library, and the system limits how many can be loaded.
 */
const long = onReference ? 60_000 : 1200
const sequences = process.env.TANDEM_LONG === '1' ? long : 12

it('random calls on three GPUDevices of two devices behave as their model', async () => {
  let done = 0
  for (; done < sequences; done++)
    await new RandomCalls(done, (ordinal) => opened.device(undefined, ordinal)).run(250, 3)
  expect(done).toBe(sequences)
})
