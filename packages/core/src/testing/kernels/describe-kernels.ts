import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import { type DeviceGroup, openGroup } from '../../group/group.ts'
import { floatBatches } from './float-batches.ts'
import { type Batch, runBatch } from './kernel-batch.ts'
import { robustAccessBatches } from './robust-access.ts'
import { zeroInitBatches } from './zero-init.ts'

/** The batches of each subject. */
export const kernelBatches: Readonly<Record<string, () => Iterable<Batch>>> = {
  'operations of f32': floatBatches,
  'access outside of a buffer or an array': robustAccessBatches,
  'memory that is zero before the first write': zeroInitBatches,
}

/** How many failures of a subject are shown. */
const shownFailures = 5

/** Declares the tests; `describeKernels` is what users call. */
export function describeKernelBatches(name: string, backend: () => Backend): void {
  describe(`kernels on ${name}`, () => {
    let group: DeviceGroup
    beforeAll(async () => {
      group = await openGroup({ backends: [backend()], devices: 1 })
    })
    afterAll(() => group?.destroy())
    it.each(Object.entries(kernelBatches))('%s', { timeout: 600_000 }, async (_, batches) => {
      const failures: string[] = []
      for (const batch of batches()) {
        const result = await runBatch(group, batch)
        // What a device lacks, it need not do.
        if (result.skipped !== undefined) console.log(`${batch.name} needs ${result.skipped}`)
        for (const { reproducer, expected, got } of result.failures)
          failures.push(`${batch.name}: expected ${expected}, got ${got}\n${reproducer}`)
      }
      expect(failures.slice(0, shownFailures)).toEqual([])
    })
  })
}
