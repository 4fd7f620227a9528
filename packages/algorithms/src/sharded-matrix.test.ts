import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generatedElements } from './element-source.ts'
import {
  allocateSharded,
  gatherSharded,
  readSharded,
  shardedFromViews,
  splitRows,
  writeSharded,
} from './sharded-matrix.ts'
import { describeOnBackends } from './testing-groups.ts'

describe('splitRows', () => {
  it('covers every row once, in order, on the alignment grid', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 1, max: 300 }),
        (rows, parts, alignment) => {
          const ranges = splitRows(rows, parts, alignment)
          expect(ranges).toHaveLength(parts)
          let next = 0
          for (const range of ranges) {
            expect(range.row).toBe(next)
            expect(range.rows).toBeGreaterThanOrEqual(0)
            if (range.rows > 0) expect(range.row % alignment).toBe(0)
            next += range.rows
          }
          expect(next).toBe(rows)
        },
      ),
    )
  })

  it('gives ceil(rows / parts) rows to all but the last', () => {
    expect(splitRows(5, 4)).toEqual([
      { row: 0, rows: 2 },
      { row: 2, rows: 2 },
      { row: 4, rows: 1 },
      { row: 5, rows: 0 },
    ])
  })
})

describeOnBackends('ShardedMatrix', (backend) => {
  it.each([
    [7, 5, 3],
    [2, 3, 4],
    [0, 4, 2],
    [1, 1, 1],
  ])('carries %i × %i elements to %i devices and back', async (rows, columns, devices) => {
    const group = await backend.group(devices)
    const matrix = await allocateSharded(group, 'i32', rows, columns)
    const data = new Int32Array(rows * columns)
    generatedElements('i32', 3)(0, data)
    await writeSharded(group, matrix, data)
    expect(await gatherSharded(group, matrix)).toEqual(data)
    matrix.destroy()
  })

  it('accepts views with leading dimensions and does not change the rest of their buffers', async () => {
    const group = await backend.group(2)
    const buffers = await Promise.all(group.devices.map((device) => device.allocate('f32', [6, 10])))
    const matrix = shardedFromViews(
      group,
      'f32',
      buffers.map((buffer) => buffer.block(1, 2, 4, 7)),
    )
    await writeSharded(group, matrix, (offset, into) => {
      for (let index = 0; index < into.length; index++) into[index] = offset + index + 1
    })
    const pieces: number[] = []
    await readSharded(group, matrix, (offset, data) => {
      expect(offset).toBe(pieces.length)
      pieces.push(...data)
    })
    expect(pieces).toEqual(Array.from({ length: 56 }, (_, index) => index + 1))
    const whole = await group.queue.read(buffers[0]!)
    expect(whole.filter((value) => value !== 0)).toHaveLength(28)
    expect(whole[12]).toBe(1)
    for (const buffer of buffers) buffer.destroy()
  })

  it('rejects arrays of the wrong length and numbers that are not sizes, and names the values', async () => {
    const group = await backend.group(2)
    const matrix = await allocateSharded(group, 'f32', 2, 3)
    await expect(writeSharded(group, matrix, new Float32Array(5))).rejects.toThrow(/5 elements.*needs 6/)
    matrix.destroy()
    await expect(allocateSharded(group, 'f32', 2.5, 3)).rejects.toMatchObject({ code: 'validation' })
  })
})
