import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callSequences, GroupModel } from './testing/group-model.ts'

const long = process.env.TANDEM_LONG === '1'
/** On a GPU host, TANDEM_TEST_BACKEND names the backend. */
const named = process.env.TANDEM_TEST_BACKEND
const backends: readonly { readonly name: string; readonly make: () => Backend; readonly runs: number }[] = [
  { name: 'reference', make: () => referenceBackend(), runs: long ? 5000 : 80 },
  { name: 'webgpu', make: () => webgpu(), runs: long ? 1000 : 12 },
  { name: 'cuda', make: () => cuda(), runs: long ? 1000 : 100 },
].filter(({ name }) => (named === undefined ? name !== 'cuda' : named === name))

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

describe.each(backends)('a group on $name', ({ make, runs }) => {
  it('behaves as its model under any sequence of calls, and leaves nothing behind', async () => {
    const backend = make()
    await fc.assert(
      fc.asyncProperty(callSequences, async (calls) => {
        const model = await GroupModel.open(backend)
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: model }), calls)
        } finally {
          const problems = await model.end()
          // A sequence that has already failed is shrunk by its first problem.
          expect(problems).toEqual([])
        }
      }),
      { numRuns: runs },
    )
    // Node reports rejections after the microtasks in which they happen.
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(unhandled).toEqual([])
  })
})
