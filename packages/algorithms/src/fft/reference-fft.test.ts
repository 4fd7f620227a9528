import { describe, expect, it, vi } from 'vitest'
import { mixedRadixFft, referenceFft } from './reference-fft.ts'
import { chirpSpectrum, chirpTable, mirrorRoots, stageFactors } from './twiddles.ts'

describe('the reference', () => {
  it('is the sum of which a transform consists, for every length up to 64 and some primes', async () => {
    for (const length of [...Array.from({ length: 64 }, (_, i) => i + 1), 97, 121, 210]) {
      const re = Float64Array.from({ length }, (_, n) => Math.sin(n * n + 1))
      const im = Float64Array.from({ length }, (_, n) => Math.cos(3 * n * n))
      const found = await referenceFft(
        Float64Array.from({ length: 2 * length }, (_, at) => (at % 2 ? im : re)[at >> 1]!),
      )
      for (let k = 0; k < length; k++) {
        let [x, y] = [0, 0]
        for (let n = 0; n < length; n++) {
          const angle = (-2 * Math.PI * ((k * n) % length)) / length
          x += re[n]! * Math.cos(angle) - im[n]! * Math.sin(angle)
          y += re[n]! * Math.sin(angle) + im[n]! * Math.cos(angle)
        }
        expect(Math.hypot(found[2 * k]! - x, found[2 * k + 1]! - y), `${length}, ${k}`).toBeLessThan(1e-11)
      }
    }
  })

  // The number of values, and how often each is computed: by stages of radix 4, and once in a table.
  it.each([
    ['the transform', 2 ** 18, 9, () => mixedRadixFft(new Float64Array(2 ** 19))],
    ['the factors of a stage', 2 ** 18, 1, () => stageFactors(2, 2 ** 18)],
    ['the factors of half a spectrum', 2 ** 18, 1, () => mirrorRoots(2 ** 20)],
    ['a chirp', 99_991, 1, () => chirpTable(99_991)],
    ['the spectrum of a chirp', 2 ** 18, 9, () => chirpSpectrum(99_991, 2 ** 18)],
  ] as const)(
    '%s of long lines lets the event loop turn at least once per 2^17 values, if a turn is due',
    async (_, values, times, work) => {
      // Whether it is due depends on the clock.
      const clock = vi.spyOn(performance, 'now')
      await work()
      const { length } = clock.mock.calls
      clock.mockRestore()
      expect(length).toBeGreaterThanOrEqual(times * Math.floor(values / 2 ** 17))
      expect(length).toBeGreaterThan(times)
    },
  )
})
