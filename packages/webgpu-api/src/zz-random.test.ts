import { expect, it } from 'vitest'
import { openedGpu } from './testing-gpu.ts'
import { RandomCalls } from './testing-random-calls.ts'

const opened = openedGpu({ devices: 2 })
const sequences = 60_000

it('random calls on three GPUDevices of two devices give what their model says', async () => {
  let done = 100
  const until = Date.now() + 240_000
  for (; done < sequences && Date.now() < until; done++)
    await new RandomCalls(done, (ordinal) => opened.device(undefined, ordinal)).run(250, 3)
  console.log('SEQUENCES', done)
})
