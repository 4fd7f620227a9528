import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flattened, regionCovers, regionsOverlap } from './byte-region.ts'
import { type CommandAccesses, deriveHazards } from './hazards.ts'
import type { ByteRegion } from './plan.ts'
import { transitiveReduction } from './transitive-reduction.ts'

const contiguous = fc
  .record({ byteOffset: fc.nat(60), rowByteLength: fc.integer({ min: 1, max: 30 }) })
  .map(({ byteOffset, rowByteLength }) => ({
    byteOffset,
    rowByteLength,
    rows: 1,
    rowByteStride: rowByteLength,
  }))

const strided = fc
  .record({
    byteOffset: fc.nat(30),
    rowByteLength: fc.integer({ min: 1, max: 9 }),
    rows: fc.integer({ min: 1, max: 6 }),
    padding: fc.nat(7),
  })
  .map(({ padding, ...rest }) => ({ ...rest, rowByteStride: rest.rowByteLength + padding }))

/** Columns of one matrix, like the views of halos and tiles. */
const block = fc
  .record({
    row: fc.nat(5),
    column: fc.nat(7),
    rows: fc.integer({ min: 1, max: 4 }),
    columns: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ row, column, rows, columns }) => ({
    byteOffset: row * 11 + column,
    rowByteLength: columns,
    rows,
    rowByteStride: 11,
  }))

const region = (buffers: number): fc.Arbitrary<ByteRegion> =>
  fc
    .tuple(fc.nat(buffers - 1), fc.oneof(contiguous, strided, block))
    .map(([buffer, extent]) => flattened({ buffer, ...extent }))

function bytesOf(r: ByteRegion): Set<number> {
  const bytes = new Set<number>()
  for (let row = 0; row < r.rows; row++)
    for (let i = 0; i < r.rowByteLength; i++) bytes.add(r.byteOffset + row * r.rowByteStride + i)
  return bytes
}

const holdsAny = (set: Set<number>, of: Set<number>) => [...of].some((byte) => set.has(byte))
const holdsAll = (set: Set<number>, of: Set<number>) => [...of].every((byte) => set.has(byte))
const meets = (a: ByteRegion, b: ByteRegion) => a.buffer === b.buffer && holdsAny(bytesOf(a), bytesOf(b))

describe('regions', () => {
  test('overlap exactly as their sets of bytes do', () => {
    fc.assert(
      fc.property(region(1), region(1), (a, b) => regionsOverlap(a, b) === meets(a, b)),
      { numRuns: 3000 },
    )
  })

  test('cover only their set of bytes', () => {
    fc.assert(
      fc.property(region(1), region(1), (a, b) => !regionCovers(a, b) || holdsAll(bytesOf(a), bytesOf(b))),
      { numRuns: 3000 },
    )
  })

  test('cover themselves and their own blocks', () => {
    const matrix = { byteOffset: 7, rowByteLength: 8, rows: 9, rowByteStride: 20 }
    expect(regionCovers(matrix, matrix)).toBe(true)
    expect(
      regionCovers(matrix, { byteOffset: 7 + 20 * 2 + 3, rowByteLength: 5, rows: 4, rowByteStride: 20 }),
    ).toBe(true)
    expect(
      regionCovers(matrix, { byteOffset: 7 + 20 * 2 + 3, rowByteLength: 6, rows: 4, rowByteStride: 20 }),
    ).toBe(false)
  })

  test('of more rows than are compared one by one count as overlapping if their outer ranges overlap', () => {
    const even = { byteOffset: 0, rowByteLength: 4, rows: 5000, rowByteStride: 16 }
    expect(regionsOverlap(even, { byteOffset: 8, rowByteLength: 4, rows: 2500, rowByteStride: 32 })).toBe(
      true,
    )
    expect(regionsOverlap(even, { byteOffset: 8, rowByteLength: 4, rows: 1000, rowByteStride: 32 })).toBe(
      false,
    )
  })
})

const commands = (maxLength: number): fc.Arbitrary<CommandAccesses[]> =>
  fc.array(
    fc.record({
      reads: fc.array(region(2), { maxLength: 2 }),
      writes: fc.array(region(2), { minLength: 1, maxLength: 2 }),
    }),
    { minLength: 1, maxLength },
  )

/** Ancestors of each node, as sets. */
function closure(predecessors: readonly (readonly number[])[]): Set<number>[] {
  const sets: Set<number>[] = []
  for (const list of predecessors) {
    const set = new Set<number>()
    for (const p of list) {
      set.add(p)
      for (const q of sets[p]!) set.add(q)
    }
    sets.push(set)
  }
  return sets
}

function conflictsByBytes(list: readonly CommandAccesses[], repetitions: number): number[][] {
  const unrolled = Array.from({ length: list.length * repetitions }, (_, i) => list[i % list.length]!)
  return unrolled.map((later, i) =>
    unrolled.slice(0, i).flatMap((earlier, j) => {
      const conflict =
        later.writes.some((w) => [...earlier.reads, ...earlier.writes].some((e) => meets(w, e))) ||
        later.reads.some((r) => earlier.writes.some((w) => meets(r, w)))
      return conflict ? [j] : []
    }),
  )
}

describe('hazards', () => {
  test('order exactly the commands that share a byte that one of them writes, within and across repetitions', () => {
    fc.assert(
      fc.property(commands(12), (list) => {
        const derived = deriveHazards(list, 2)
        const oracle = conflictsByBytes(list, 2)
        expect(closure(derived)).toEqual(closure(oracle))
        for (const [i, found] of derived.entries()) for (const j of found) expect(oracle[i]).toContain(j)
      }),
      { numRuns: 300 },
    )
  })

  test('are the same with the grid index of buffers that many commands touch', () => {
    fc.assert(
      fc.property(commands(60), (list) => {
        expect(closure(deriveHazards(list, 1))).toEqual(closure(conflictsByBytes(list, 1)))
      }),
      { numRuns: 60 },
    )
  })

  test('of two repetitions suffice for any number', () => {
    fc.assert(
      fc.property(commands(6), (list) => {
        const n = list.length
        const two = deriveHazards(list, 2)
        const chained = Array.from({ length: 4 * n }, (_, i) => {
          const repetition = Math.floor(i / n)
          if (repetition === 0) return two[i]!
          return two[n + (i % n)]!.map((j) => j + (repetition - 1) * n)
        })
        expect(closure(chained)).toEqual(closure(conflictsByBytes(list, 4)))
      }),
      { numRuns: 200 },
    )
  })
})

describe('transitive reduction', () => {
  const graph = fc
    .integer({ min: 1, max: 24 })
    .chain((n) =>
      fc.tuple(
        ...Array.from({ length: n }, (_, i) =>
          fc.uniqueArray(fc.nat(Math.max(0, i - 1)), { maxLength: i === 0 ? 0 : 6 }),
        ),
      ),
    )

  test('keeps the order and no edge that others imply', () => {
    fc.assert(
      fc.property(graph, (predecessors) => {
        const reduced = transitiveReduction(predecessors)
        const ancestors = closure(predecessors)
        expect(closure(reduced)).toEqual(ancestors)
        for (const list of reduced) {
          expect(list).toEqual(list.toSorted((a, b) => a - b))
          for (const p of list) expect(list.some((q) => q !== p && ancestors[q]!.has(p))).toBe(false)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
