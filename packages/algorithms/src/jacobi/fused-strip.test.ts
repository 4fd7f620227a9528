import { describe, expect, it } from 'vitest'
import { fusedStripes, fusedStripRows, fusedSweepsSeconds } from './fused-strip.ts'

/** Eight workgroups on each of an H200's 132 multiprocessors. */
const atOnce = 1056
const workgroups = (rows: number, columns: number) =>
  Math.ceil(rows / fusedStripRows(rows, columns)) * fusedStripes(columns)

describe('fusedStripRows', () => {
  // Blocks of squares on one, two, four and eight GPUs: rows, columns, the quickest strip that was measured
  // on an H200 (docs/measurements/2026-11-22-h200-jacobi-strips.txt).
  it.each([
    [4095, 16_382, 128],
    [4096, 16_382, 128],
    [2047, 8190, 34],
    [4095, 8190, 67],
    [8190, 8190, 133],
    [4094, 4094, 35],
    [2047, 16_382, 64],
    [2499, 9998, 49],
    [3071, 12_286, 74],
  ])('lets all workgroups of %i × %i cells run at once, in strips of %i rows', (rows, columns, quickest) => {
    expect(fusedStripRows(rows, columns)).toBe(quickest)
    expect(workgroups(rows, columns)).toBeLessThanOrEqual(atOnce)
  })
  it.each([
    [8191, 16_382, 2],
    [16_382, 16_382, 4],
    [9998, 9998, 2],
  ])('cuts %i × %i cells into turns that are full', (rows, columns, turns) => {
    expect(workgroups(rows, columns) / atOnce).toBeGreaterThan(turns - 0.02)
    expect(workgroups(rows, columns) / atOnce).toBeLessThanOrEqual(turns)
  })
  it.each([
    [511, 2046, 7],
    [255, 2046, 5],
    [1023, 2046, 10],
    [2046, 2046, 20],
    [1023, 4094, 18],
  ])(
    'weighs rows that are computed twice against idle multiprocessors for %i × %i cells',
    (rows, columns, quickest) => {
      expect(Math.abs(fusedStripRows(rows, columns) - quickest)).toBeLessThanOrEqual(3)
    },
  )
  it('covers any number of rows with one dispatch', () => {
    for (const rows of [1, 4, 7, 100, 65_535 * 160, 65_535 * 160 + 1]) {
      expect(fusedStripRows(rows, 100)).toBeGreaterThan(0)
      expect(Math.ceil(rows / fusedStripRows(rows, 100))).toBeLessThanOrEqual(65_535)
    }
  })
})

describe('fusedSweepsSeconds', () => {
  // Rows, columns, strip, microseconds of a pass of the kernel on an H200, which include 1.5 from its start
  // to its end.
  it.each([
    [4095, 16_382, 128, 208.5],
    [4095, 16_382, 205, 253.3],
    [2047, 8190, 34, 65.1],
    [2047, 8190, 137, 132.3],
    [4094, 4094, 18, 75.9],
    [511, 2046, 7, 11.3],
    [511, 2046, 16, 15.5],
    [255, 2046, 10, 11.2],
    [2046, 2046, 40, 31.5],
    [1023, 4094, 9, 24.9],
    [16_382, 16_382, 128, 802.6],
  ])(
    'of %i × %i cells in strips of %i is within 8 percent of what was measured',
    (rows, columns, strip, measured) => {
      const microseconds = 1e6 * fusedSweepsSeconds(rows, columns, strip) + 1.5
      expect(Math.abs(microseconds / measured - 1)).toBeLessThan(0.08)
    },
  )
})
