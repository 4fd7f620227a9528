import { expect, it } from 'vitest'
import { openGroup } from '../../group/group.ts'
import { referenceBackend } from '../reference-backend.ts'
import { kernelBatches } from './describe-kernels.ts'
import { type Batch, runBatch } from './kernel-batch.ts'

it.each(Object.entries(kernelBatches))(
  '%s: some kernels pass on the reference executor, and notice a wrong bit',
  async (_, batches) => {
    const group = await openGroup({ backends: [referenceBackend()] })
    let ran = 0
    for (const [index, batch] of [...batches()].entries()) {
      if (index % 11 !== 0) continue
      let noticed = false
      const checked: Batch = {
        ...batch,
        check(out) {
          for (let at = 0; at < Math.min(out.length, 64) && !noticed; at++) {
            const wrong = out.slice()
            wrong[at]! ^= 0x40000000
            noticed = batch.check(wrong).length > batch.check(out).length
          }
          return batch.check(out)
        },
      }
      const result = await runBatch(group, checked)
      expect(result.failures, batch.name).toEqual([])
      expect(result.skipped, batch.name).toBeUndefined()
      expect(noticed, batch.name).toBe(true)
      ran += result.cases
    }
    expect(ran).toBeGreaterThan(100)
    await group.destroy()
  },
)
