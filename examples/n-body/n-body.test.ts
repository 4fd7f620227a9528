import { webgpu } from '@tandem-gpu/backend-webgpu'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { simulate } from './n-body.ts'

/** Bodies of mass 1 on a circle. */
function circle(count: number): Float32Array {
  return Float32Array.from({ length: 4 * count }, (_, i) => {
    const angle = (2 * Math.PI * Math.floor(i / 4)) / count
    return [Math.cos(angle), Math.sin(angle), 0, 1][i % 4]!
  })
}

it('moves a circle of bodies towards its middle, with the same bits on any number of devices, and reports its progress', async () => {
  const bodies = circle(70)
  const results: Float32Array[] = []
  for (const devices of [1, 3]) {
    const group = await openGroup({ backends: [webgpu()], devices, virtual: true })
    const seen: number[] = []
    results.push(
      await simulate(group, { bodies, steps: 40, step: 1e-3, onProgress: ({ done }) => seen.push(done) }),
    )
    expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => 2 * (i + 1)))
    expect(await group.destroy()).toEqual({ leaks: [] })
  }
  const [one, three] = results
  expect(three).toEqual(one)
  const radii = Array.from({ length: 70 }, (_, i) => Math.hypot(one![4 * i]!, one![4 * i + 1]!))
  for (const radius of radii) {
    expect(radius).toBeLessThan(0.999)
    expect(radius).toBeCloseTo(radii[0]!, 4)
  }
})

it('ends when it is told to', async () => {
  const group = await openGroup({ backends: [webgpu()] })
  const ending = new AbortController()
  const running = simulate(group, {
    bodies: circle(10),
    // More than it gets done before the signal, on any machine.
    steps: 100_000,
    step: 1e-3,
    signal: ending.signal,
    onProgress: () => ending.abort(),
  })
  expect(await running.catch((error: unknown) => isGpuError(error, 'aborted'))).toBe(true)
  expect(await group.destroy()).toEqual({ leaks: [] })
})
