import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import type { Backend } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { openHistogram } from './histogram.ts'

const values = Uint32Array.from({ length: 10_000 }, (_, i) => (i * i) % 256)

const choices: [where: RegExp, backends: Backend[]][] = [
  [/through (cuda|webgpu)$/, [cuda(), webgpu()]],
  [/^JavaScript$/, [cuda({ libraries: { cuda: ['/nowhere/libcuda.so'] } })]],
]

it.each(choices)('counts the same on %s', async (where, backends) => {
  const histogram = await openHistogram(backends)
  expect(histogram.where).toMatch(where)
  const counts = await histogram.count(values)
  expect(counts[0]).toBe(values.filter((value) => value === 0).length)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10_000)
  await histogram.close()
})

it('reports what is no matter of missing devices', async () => {
  const broken: Backend = {
    ...webgpu(),
    name: 'broken',
    adapters: () => Promise.reject(new TypeError('broken')),
  }
  await expect(openHistogram([broken])).rejects.toThrow('broken')
})
