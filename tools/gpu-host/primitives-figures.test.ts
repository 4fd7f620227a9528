import { describe, expect, it } from 'vitest'
import {
  comparedFigures,
  type PrimitivesDocument,
  primitivesFigures,
  withPrimitivesFigures,
} from './primitives-figures.ts'

const table: PrimitivesDocument = {
  ...{ schema: 1, kind: 'primitives', date: '2026-11-23T15:00:00Z', commit: 'abc', machine: 'One GPU' },
  results: [
    { work: 'scan f32', by: 'Tandem', elements: 2 ** 28, devices: 1, seconds: 800e-6 },
    { work: 'scan f32', by: 'CUB', elements: 2 ** 28, devices: 1, seconds: 720e-6 },
    { work: 'scan f32', by: 'PyTorch', elements: 2 ** 28, devices: 1, seconds: 880e-6 },
    { work: 'scan f32', by: 'Tandem', elements: 2 ** 28, devices: 4, seconds: 210e-6 },
    { work: 'fft lines 1000', by: 'Tandem', elements: 134_217_000, devices: 1, seconds: 1e-3 },
    { work: 'fft lines 1000', by: 'cuFFT', elements: 134_217_000, devices: 1, seconds: 800e-6 },
  ],
}

describe('the figures of primitives', () => {
  it('have the ratios to their peers, of which some are targets on one GPU', () => {
    const [scan, four, lines] = comparedFigures(table.results)
    expect(scan!.peers).toEqual([
      { by: 'CUB', seconds: 720e-6, ratio: 0.9, target: { ratio: 0.88, met: true } },
      { by: 'PyTorch', seconds: 880e-6, ratio: expect.closeTo(1.1) },
    ])
    expect(four!.peers.every(({ target }) => target === undefined)).toBe(true)
    expect(lines!.peers[0]!.target).toEqual({ ratio: 0.9, met: false })
  })

  it('stand in tables of their own, where a missed target is bold', () => {
    const path = 'docs/measurements/x.json'
    expect(primitivesFigures('vectors', table, path)).toBe(`One GPU, 2026-11-23, commit abc; from \`${path}\`.

| work | elements | Tandem | 10⁹ elements/s | peer: its time, and over Tandem’s |
|---|---|---|---|---|
| scan f32 | 2²⁸ | 800 µs | 335.5 | CUB 720 µs: 0.90, target 0.88; PyTorch 880 µs: 1.10 |`)
    expect(primitivesFigures('fft', table, path)).toContain(
      '| fft lines 1000 | 134,217,000 | 1,000 µs | 134.2 | cuFFT 800 µs: 0.80, **target 0.9** |',
    )
    expect(primitivesFigures('several', table, path)).toContain('| scan f32 | 2²⁸ | 4 | 210 µs | 1278.3 |')
    expect(() => primitivesFigures('none', table, path)).toThrow(/no figures named none/)
  })

  it('replace the blocks of their kind, and no others', () => {
    const text =
      '<!-- primitives:fft -->\nold\n<!-- /primitives -->\n<!-- tensor:fft -->\nold\n<!-- /tensor -->\n'
    const written = withPrimitivesFigures(text, table, 'x.json')
    expect(written).toContain('fft lines 1000')
    expect(written).toContain('<!-- tensor:fft -->\nold\n<!-- /tensor -->')
  })
})
