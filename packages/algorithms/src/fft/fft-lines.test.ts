import { expect, it } from 'vitest'
import { describeOnBackends } from '../testing-groups.ts'
import { fftLimits, planFft } from './plan-fft.ts'
import { transformed } from './testing-transform.ts'
import { allowedError } from './verify-fft.ts'

const lengths = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** Products of 2, 3, 5 and 7, and primes and their neighbours, above 128. */
const larger = [
  144, 175, 211, 243, 251, 255, 256, 257, 343, 384, 500, 509, 512, 625, 720, 1000, 1001, 1021, 1024,
]

describeOnBackends('lines', (backend) => {
  it('of any length, one stage a dispatch', { timeout: 300_000 }, async () => {
    const group = await backend.group(1)
    for (const length of [...lengths(1, 128), ...larger, 2048, 2187, 2310, 4096, 5040]) {
      const direction = length % 2 === 0 ? 'inverse' : 'forward'
      const options = { shape: [3, length], axes: [1], limits: { lines: false }, direction } as const
      const { plan, error } = await transformed(group, options)
      expect(error, `length ${length}`).toBeLessThanOrEqual(allowedError(plan))
    }
  })

  // A CPU adapter takes seconds to compile a kernel with barriers, so it runs only one case of each kind.
  const all = backend.name !== 'webgpu'
  it('of any length, each in one kernel', { timeout: 300_000 }, async () => {
    const group = await backend.group(1)
    for (const length of all ? [...lengths(1, 128), ...larger, 2048] : [1, 11, 36]) {
      const direction = length % 2 === 0 ? 'inverse' : 'forward'
      const options = { shape: [3, length], axes: [1], limits: { lines: true }, direction } as const
      const { plan, error } = await transformed(group, options)
      expect(error, `length ${length}`).toBeLessThanOrEqual(allowedError(plan))
    }
  })

  it('of any length that are not contiguous, each in one kernel', { timeout: 300_000 }, async () => {
    const group = await backend.group(1)
    for (const length of all ? [...lengths(1, 40), 64, 100, 128, 256, 257] : [14]) {
      const direction = length % 2 === 0 ? 'inverse' : 'forward'
      const options = { shape: [2, length, 5], axes: [1], limits: { lines: true }, direction } as const
      const { plan, error } = await transformed(group, options)
      expect(plan.passes[0]!.method.kind).toBe('line')
      expect(error, `length ${length}`).toBeLessThanOrEqual(allowedError(plan))
    }
  })

  it('of real numbers and halves of spectra', { timeout: 300_000 }, async () => {
    const group = await backend.group(1)
    for (const length of all ? [1, 2, 3, 4, 7, 8, 11, 15, 16, 30, 37, 64, 77, 128] : [2, 7, 11, 30])
      for (const direction of ['forward', 'inverse'] as const)
        for (const shape of [
          [3, length],
          [length, 3],
        ])
          for (const lines of all || shape[1] === 30 ? [true, false] : [false]) {
            const options = { shape, axes: [shape.indexOf(length)], real: true, limits: { lines }, direction }
            const { plan, error } = await transformed(group, options)
            expect(error, `${shape} ${direction}`).toBeLessThanOrEqual(allowedError(plan))
          }
  })

  it('that are squares of shorter ones, with values in halves where memory is short', {
    timeout: 300_000,
  }, async () => {
    const group = await backend.group(1)
    const limits = {
      ...fftLimits(group.devices),
      lines: true,
      workgroupMemoryByteLength: 2048,
      workgroupInvocations: 128,
    }
    const shapes = all
      ? [
          { shape: [3, 1024], axes: [1] },
          { shape: [2, 256, 3], axes: [1] },
          { shape: [2, 900, 20], axes: [1] },
          { shape: [1024, 6], axes: [0] },
          { shape: [1024, 6], axes: [0], order: 'transposed' as const },
          { shape: [900, 21], axes: [0], order: 'transposed' as const, direction: 'inverse' as const },
          { shape: [900, 3], axes: [0], order: 'transposed' as const, real: true },
          { shape: [256, 6, 5], axes: [0], order: 'transposed' as const },
          { shape: [6, 1024], axes: [1], order: 'transposed' as const },
          { shape: [2, 1024], axes: [1], real: true },
          { shape: [1024, 3], axes: [0], real: true },
          { shape: [1024, 3], axes: [0], real: true, direction: 'inverse' as const },
          { shape: [2, 1024], axes: [1], real: true, direction: 'inverse' as const },
          // Contiguous real numbers are paired only if their number is even; 1125 is odd.
          { shape: [2, 1125], axes: [1], real: true },
          { shape: [2, 1125], axes: [1], real: true, direction: 'inverse' as const },
        ]
      : [{ shape: [2, 1024], axes: [1] }]
    for (const options of shapes) {
      const { method } = planFft({ ...options, limits }).passes[0]!
      expect(method.kind === 'packed' ? method.half.kind : method.kind).toBe('square')
      const { plan, error } = await transformed(group, { ...options, limits })
      expect(error, JSON.stringify(options)).toBeLessThanOrEqual(allowedError(plan))
    }
  })
})
