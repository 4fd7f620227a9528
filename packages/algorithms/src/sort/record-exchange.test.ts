import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitRows } from '../sharded-matrix.ts'
import { segmentsOf } from './record-exchange.ts'
import { bucketCount, type SortPart } from './record-partition.ts'

const partsOf = (lengths: readonly number[]) => {
  let first = 0
  return lengths.map((length, ordinal) => {
    first += length
    return { ordinal, first: first - length, length } as SortPart
  })
}

it('gives each key the place that it has behind those of lower buckets and of earlier parts, once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 6 }),
      fc.array(fc.nat(99), { minLength: 1 }),
      (lengths, seeds) => {
        const parts = partsOf(lengths)
        const buckets = bucketCount(parts)
        // The bucket of each key of each part, in partition order.
        const own = parts.map(({ length }, part) =>
          Array.from({ length }, (_, i) => seeds[(7 * part + i) % seeds.length]! % buckets).sort(
            (a, b) => a - b,
          ),
        )
        const counts = own.flatMap((keys) =>
          Array.from({ length: buckets }, (_, bucket) => keys.filter((key) => key === bucket).length),
        )
        const all = parts.flatMap((_, part) => own[part]!.map((bucket, i) => ({ bucket, part, i })))
        const expected = all.sort((a, b) => a.bucket - b.bucket || a.part - b.part || a.i - b.i)
        const segments = segmentsOf(parts, counts)
        const found: { part: number; i: number }[] = []
        for (const [slice, { first }] of parts.entries())
          for (const part of parts.keys())
            for (const { source, target, length } of segments(part, slice))
              for (let i = 0; i < length; i++) {
                expect(found[first + target + i]).toBe(undefined)
                found[first + target + i] = { part, i: source + i }
              }
        expect(found).toEqual(expected.map(({ part, i }) => ({ part, i })))
      },
    ),
  )
})

it('is one segment of each part for each slice where keys are spread evenly', () => {
  const parts = partsOf(splitRows(4000, 4).map(({ rows }) => rows))
  // Between splitters: a quarter of each part; at a splitter: only the splitter itself.
  const counts = parts.flatMap((_, part) => [250, part === 0 ? 1 : 0, 249, part === 1 ? 1 : 0, 250, 0, 250])
  const segments = segmentsOf(parts, counts)
  for (const part of parts.keys())
    for (const slice of parts.keys()) expect(segments(part, slice).length).toBeLessThanOrEqual(2)
})
