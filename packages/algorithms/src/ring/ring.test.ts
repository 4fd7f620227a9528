import { openGroup } from '@tandem-gpu/core'
import { referenceBackend, simulateRanks } from '@tandem-gpu/core/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { matmul } from '../matmul/matmul.ts'
import { compileMatmul } from '../matmul/single/matmul-kernels.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { compareRing } from './compare-ring.ts'
import { recordRing, ringSchemes } from './record-ring.ts'
import { ringBound } from './ring-bound.ts'
import { ringBlocking, ringMatmul } from './ring-matmul.ts'
import { allocateRing, fillRing } from './ring-memory.ts'

describeOnBackends('ringMatmul', (backend) => {
  it.each(ringSchemes)('gives the bits of matmul in scheme %s', async (scheme) => {
    const group = await backend.group(3)
    const [m, n, k] = [22, 17, 19]
    const found = new Float32Array(m * n)
    const expected = new Float32Array(m * n)
    await matmul(group, { m, n, k, mode: 'resident', output: expected, verify: false })
    const report = await ringMatmul(group, {
      m,
      n,
      k,
      scheme,
      pieces: 3,
      output: found,
      repetitions: 2,
      samples: 2,
    })
    expect(report).toMatchObject({ verified: true, scheme, slices: [8, 8, 6], columns: [6, 6, 5] })
    expect(new Uint32Array(found.buffer)).toEqual(new Uint32Array(expected.buffer))
  })

  it('is right for any shape, number of devices, scheme, number of pieces and schedule', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          m: fc.nat(40),
          n: fc.nat(40),
          k: fc.nat(40),
          devices: fc.integer({ min: 1, max: 5 }),
          scheme: fc.constantFrom(...ringSchemes),
          pieces: fc.integer({ min: 1, max: 20 }),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          type: fc.constantFrom('f32' as const, 'i32' as const, 'u32' as const),
          seed: fc.nat(1000),
        }),
        async (options) => {
          const group = await backend.group(5)
          const report = await ringMatmul(group, { ...options, warmup: 0, repetitions: 2 })
          expect(report).toMatchObject({ verified: true, devices: options.devices })
        },
      ),
      { numRuns: backend.name === 'reference' ? 40 : 15 },
    )
  })

  it('compares all schemes on rings of growing size', async () => {
    const group = await backend.group(4)
    const comparison = await compareRing(group, { m: 20, n: 20, k: 20, samples: 1, warmup: 0 })
    expect(comparison.map(({ nodes }) => nodes)).toEqual([1, 2, 4])
    for (const { schemes } of comparison) {
      expect(schemes.map(({ scheme }) => scheme)).toEqual(ringSchemes)
      for (const { verified, scheme, hidden } of schemes) {
        expect(verified).toBe(true)
        if (scheme === 'none' || scheme === 'direct' || group.software) expect(hidden).toBeUndefined()
      }
    }
  })

  it('names options that are wrong', async () => {
    const group = await backend.group(2)
    const shape = { m: 2, n: 2, k: 2 }
    for (const [options, message] of [
      [{ ...shape, m: -1 }, 'The option m is -1; it must be a whole number of at least 0.'],
      [{ ...shape, devices: 3 }, 'A ring of 3 devices was requested, but the group has 2.'],
      [{ ...shape, pieces: 0 }, 'The option pieces is 0; it must be a whole number of at least 1.'],
      [{ ...shape, a: new Float32Array(3) }, 'A has 3 elements, but the shape needs 4.'],
    ] as const)
      await expect(ringMatmul(group, options)).rejects.toMatchObject({ code: 'validation', message })
    await expect(ringMatmul(group, { ...shape, scheme: 'all' as never })).rejects.toThrow(
      'There is no ring scheme all; the schemes are none, native',
    )
  })
})

describe('ringMatmul over ranks', () => {
  it.each([
    { ranks: 2, adapters: 1 },
    { ranks: 3, adapters: 2 },
    { ranks: 4, adapters: [1, 0, 2, 1] },
  ])('gives every rank the same verified result: %o', async ({ ranks, adapters }) => {
    const shape = { m: 21, n: 14, k: 9 }
    const alone = await openGroup({ backends: [referenceBackend()], devices: 2 })
    const expected = new Float32Array(21 * 14)
    await matmul(alone, { ...shape, mode: 'resident', output: expected })
    await alone.destroy()
    const { backends } = simulateRanks({ ranks, adapters, order: 'adversarial' })
    await Promise.all(
      backends.map(async (backend) => {
        const group = await openGroup({ backends: [backend] })
        for (const scheme of ringSchemes) {
          const output = new Float32Array(21 * 14)
          const report = await ringMatmul(group, { ...shape, scheme, pieces: 2, output, repetitions: 2 })
          expect(report, scheme).toMatchObject({ verified: true, devices: group.devices.length })
          expect(new Uint32Array(output.buffer), scheme).toEqual(new Uint32Array(expected.buffer))
        }
        expect(await group.destroy()).toEqual({ leaks: [] })
      }),
    )
  })
})

describe('the schemes', () => {
  /** For every step of the device: the kinds of work that the plan's edges allow to run concurrently. */
  async function overlaps(scheme: (typeof ringSchemes)[number]) {
    const group = await openGroup({ backends: [referenceBackend()], devices: 4 })
    const shape = { m: 32, n: 16, k: 8 }
    const kernels = await compileMatmul(group, 'f32', ringBlocking(group.devices, shape))
    const ring = await allocateRing(group, 'f32', shape)
    await fillRing(group, ring, generatedElements('f32'), generatedElements('f32'))
    const program = group.record((r) => recordRing(r, kernels, ring, { scheme, pieces: 2 }))
    const { commands } = program.plan
    const before = commands.map(() => new Set<number>())
    for (const [index, { after }] of commands.entries())
      for (const from of after) {
        before[index]!.add(from)
        for (const earlier of before[from]!) before[index]!.add(earlier)
      }
    const pairs = new Set<string>()
    for (const [later, command] of commands.entries())
      for (let earlier = 0; earlier < later; earlier++) {
        const other = commands[earlier]!
        if (command.device !== other.device || before[later]!.has(earlier)) continue
        pairs.add(
          [other.label, command.label]
            .map((label) => label.replace(/ \d+$/, ''))
            .sort()
            .join(' + '),
        )
      }
    program.destroy()
    ring.destroy()
    kernels.destroy()
    await group.destroy()
    return [...pairs].filter((pair) => !pair.includes('download')).sort()
  }

  it.each([
    ['none', []],
    ['native', ['message + product']],
    ['sequence', ['message + product', 'message + upload']],
    [
      'streamed',
      ['message + product', 'message + upload', 'product + product', 'product + upload', 'upload + upload'],
    ],
    ['interleaved', ['message + product', 'message + upload', 'product + upload']],
  ] as const)('%s overlaps on a device what the book says, and nothing else', async (scheme, expected) => {
    expect(await overlaps(scheme)).toEqual(expected)
  })

  it('have the bounds of the book', () => {
    const step = { message: 3, upload: 2, product: 5 }
    const bound = (scheme: (typeof ringSchemes)[number]) => ringBound(scheme, 4, step, 2)
    expect(ringSchemes.map(bound)).toEqual([40, 28, 28, 24, 23, undefined, undefined])
  })
})
