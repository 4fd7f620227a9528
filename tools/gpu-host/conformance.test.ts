import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { type Batch, runBatch } from './conformance/batch.ts'
import { expressionBatches } from './conformance/expression.ts'
import { flowControlBatches } from './conformance/flow-control.ts'
import { robustAccessBatches } from './conformance/robust-access.ts'
import { subgroupBatches } from './conformance/subgroup.ts'
import { zeroInitBatches } from './conformance/zero-init.ts'

/** Some batches of each group: one in `every`. */
function* sample(batches: Iterable<Batch>, every: number): Generator<Batch> {
  let i = 0
  for (const batch of batches) if (i++ % every === 0) yield batch
}

describe('the conformance kernels on the reference executor', () => {
  it.each([
    ['expression', () => sample(expressionBatches(), 11)],
    ['robust-access', () => sample(robustAccessBatches(), 13)],
    ['zero-init', () => sample(zeroInitBatches(), 17)],
    ['flow-control', () => sample(flowControlBatches(), 8)],
    ['subgroup', () => sample(subgroupBatches(), 14)],
  ] as const)('%s: pass, and notice a wrong bit', async (_, batches) => {
    const group = await openGroup({ backends: [referenceBackend()] })
    let ran = 0
    for (const batch of batches()) {
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
  })
})
