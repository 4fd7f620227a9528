import { describe, expect, it } from 'vitest'
import { withoutPauses } from './pauses.ts'
import { referenceFft } from './reference-fft.ts'

describe('the reference', () => {
  it('is the sum of which a transform consists, for every length up to 64 and some primes', () => {
    for (const length of [...Array.from({ length: 64 }, (_, i) => i + 1), 97, 121, 210]) {
      const re = Float64Array.from({ length }, (_, n) => Math.sin(n * n + 1))
      const im = Float64Array.from({ length }, (_, n) => Math.cos(3 * n * n))
      const { re: foundRe, im: foundIm } = withoutPauses(referenceFft(re.slice(), im.slice()))
      for (let k = 0; k < length; k++) {
        let [x, y] = [0, 0]
        for (let n = 0; n < length; n++) {
          const angle = (-2 * Math.PI * ((k * n) % length)) / length
          x += re[n]! * Math.cos(angle) - im[n]! * Math.sin(angle)
          y += re[n]! * Math.sin(angle) + im[n]! * Math.cos(angle)
        }
        expect(Math.hypot(foundRe[k]! - x, foundIm[k]! - y), `${length}, ${k}`).toBeLessThan(1e-11)
      }
    }
  })
})
