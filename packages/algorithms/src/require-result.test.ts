import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { recordHistogram } from './histogram/record-histogram.ts'
import { chooseBlocking, compileMatmul } from './matmul/single/matmul-kernels.ts'
import { recordShardedMatmul } from './matmul/single/record-matmul.ts'
import { measure } from './measure.ts'
import { recordReduction } from './reduction/record-reduction.ts'
import { compileReduction } from './reduction/reduction-kernels.ts'
import { recordScan } from './scan/record-scan.ts'
import { allocateSharded } from './sharded-matrix.ts'
import { recordSort } from './sort/record-sort.ts'
import { recordTranspose } from './transpose/record-transpose.ts'
import { compileTranspose } from './transpose/transpose-kernels.ts'

const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
const [device] = group.devices
const input = await allocateSharded(group, 'f32', 4, 8)
const output = await allocateSharded(group, 'f32', 8, 4)
const squares = await allocateSharded(group, 'f32', 4, 4)
const kernel = await compileTranspose(group, { type: 'f32' })
/** The value that a caller has after forgetting to await. */
const forgotten = Promise.resolve() as never

describe('a caller who forgets to await', () => {
  it.each<[what: string, call: () => unknown, message: string]>([
    [
      'the kernel of a transpose',
      () => group.record((r) => recordTranspose(r, group, { kernel: forgotten, input, output })),
      'The kernel of recordTranspose is a Promise: await it; it must be a value that compileTranspose returned.',
    ],
    [
      'the input of a transpose',
      () => group.record((r) => recordTranspose(r, group, { kernel, input: forgotten, output })),
      'The input of recordTranspose is a Promise: await it; it must be a value that allocateSharded returned.',
    ],
    [
      'the kernels of a reduction',
      () =>
        group.record((r) => recordReduction(r, group, { kernels: forgotten, input: [], output: forgotten })),
      'The option kernels is a Promise: await it; it must be a value that compileReduction returned.',
    ],
    [
      'the kernels of a scan',
      () => group.record((r) => recordScan(r, group, { kernels: forgotten, input: [], output: [] })),
      'The option kernels is a Promise: await it; it must be a value that compileScan returned.',
    ],
    [
      'the kernels of a histogram',
      () => group.record((r) => recordHistogram(r, { kernels: forgotten, input: [], output: forgotten })),
      'The option kernels is a Promise: await it; it must be a value that compileHistogram returned.',
    ],
    [
      'the kernels of a sort',
      () => group.record((r) => recordSort(r, group, { kernels: forgotten, input: [], output: [] })),
      'The option kernels is a Promise: await it; it must be a value that compileSort returned.',
    ],
    [
      'the kernels of a product',
      () => group.record((r) => recordShardedMatmul(r, () => forgotten, input, output, squares)),
      'The argument kernels of a product is a Promise: await it; it must be a value that compileMatmul returned.',
    ],
    [
      'a matrix of a product',
      () => group.record((r) => recordShardedMatmul(r, () => forgotten, input, forgotten, squares)),
      'B is a Promise: await it; it must be a value that allocateSharded returned.',
    ],
    [
      'a program that is measured',
      () => measure(group, forgotten),
      'The program of measure is a Promise: await it; it must be a program that record returned.',
    ],
    [
      'the blocking of a product, which is none',
      () => compileMatmul(group, 'f32', undefined as never),
      'The blocking of compileMatmul is undefined; it must be a value that chooseBlocking returned.',
    ],
    [
      'a group for which a reduction is compiled',
      () => compileReduction(forgotten, { kernel: 'best', operation: 'sum', type: 'f32' }),
      'The group is a Promise: await it; it must be a group that openGroup returned.',
    ],
    [
      'the options of a reduction, which are none',
      () => compileReduction(group, undefined as never),
      'The options of compileReduction are undefined; they must be an object.',
    ],
  ])('is told so of %s', async (_, call, message) => {
    const error = await Promise.resolve()
      .then(call)
      .catch((caught: unknown) => caught)
    expect(isGpuError(error, 'validation') && error.message).toBe(message)
  })
})

it('the same calls work with what they ask for', async () => {
  const kernels = await compileMatmul(group, 'f32', chooseBlocking(device!, { m: 4, n: 4, k: 8 }, 2))
  const program = group.record((r) => {
    recordTranspose(r, group, { kernel, input, output })
    recordShardedMatmul(r, () => kernels, input, output, squares)
  })
  expect((await measure(group, program)).samples).toHaveLength(1)
  for (const resource of [program, kernels, kernel, input, output, squares]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})
