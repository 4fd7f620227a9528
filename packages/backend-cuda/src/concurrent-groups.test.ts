import { openGroup } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { cudaBackend } from './cuda.ts'
import { translateForCpu } from './testing/cpu-translation.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

it.each(['one-graph', 'graph-per-gpu'] as const)(
  'runs programs of several groups on GPUs that run one graph after another (%s)',
  { timeout: 60_000 },
  async (lowering) => {
    configureFake({ FAKE_CUDA_DEVICES: 2, FAKE_CUDA_ONE_QUEUE: 1 })
    const libraries = fakeLibraries()
    const backend = cudaBackend({ libraries, kernelCache: false, lowering }, translateForCpu)
    const groups = await Promise.all(Array.from({ length: 4 }, () => openGroup({ backends: [backend] })))
    await Promise.all(
      groups.map(async (group, number) => {
        // GPUs wait for each other in both directions, and half of the groups begin on the other GPU.
        const [first, second] = number % 2 === 0 ? group.devices : group.devices.toReversed()
        const a = await first!.allocate('u32', 64)
        const b = await second!.allocate('u32', 64)
        const c = await first!.allocate('u32', 64)
        const program = group.record((r) => {
          r.fill(a, number + 1)
          r.copy(a, b)
          r.copy(b, c)
        })
        for (let round = 0; round < 100; round++) await group.queue.run(program, 3)
        expect(await group.queue.read(c)).toEqual(new Uint32Array(64).fill(number + 1))
        for (const owned of [program, a, b, c]) owned.destroy()
      }),
    )
    for (const group of groups) expect((await group.destroy()).leaks).toEqual([])
  },
)
