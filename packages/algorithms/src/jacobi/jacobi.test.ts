import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { referenceJacobiF32 } from '../testing/reference-jacobi-f32.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { randomRuns } from '../testing-runs.ts'
import { decompose } from './decomposition.ts'
import { jacobi, waveBoundary } from './jacobi.ts'
import { rowReader } from './jacobi-cells.ts'
import { referenceJacobi } from './reference-jacobi.ts'
import { scaleJacobi } from './scale-jacobi.ts'
import { verifyJacobi } from './verify-jacobi.ts'

function random(length: number, seed: number): Float32Array<ArrayBuffer> {
  const array = new Float32Array(length)
  generatedElements('f32', seed)(0, array)
  return array
}

const bits = (array: Float32Array<ArrayBuffer>) => new Uint32Array(array.buffer)

describe('decompose', () => {
  it('splits a prime count in x only, other counts into blocks as square as possible', () => {
    const shape = (devices: number, how: '1d' | '2d') => {
      const { down, across } = decompose(100, 100, devices, how)
      return [down, across]
    }
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((devices) => shape(devices, '2d'))).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 2],
      [1, 5],
      [2, 3],
      [1, 7],
      [2, 4],
    ])
    expect(shape(6, '1d')).toEqual([6, 1])
  })

  it('covers every cell once and links neighbours both ways', () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.nat(60),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('1d' as const, '2d' as const),
        (rows, columns, devices, how) => {
          const { blocks } = decompose(rows, columns, devices, how)
          const seen = new Uint8Array(rows * columns)
          expect(new Set(blocks.map((block) => block.device)).size).toBe(blocks.length)
          for (const [index, block] of blocks.entries()) {
            expect(block.device).toBeLessThan(devices)
            expect(block.rows * block.columns).toBeGreaterThan(0)
            for (let row = block.row; row < block.row + block.rows; row++)
              for (let column = block.column; column < block.column + block.columns; column++)
                seen[row * columns + column]!++
            if (block.right !== undefined) {
              expect(blocks[block.right]).toMatchObject({ left: index, row: block.row, rows: block.rows })
              expect(block.columns % 4).toBe(0)
            }
            if (block.below !== undefined)
              expect(blocks[block.below]).toMatchObject({ above: index, column: block.column })
          }
          expect(seen.every((count) => count === 1)).toBe(true)
        },
      ),
    )
  })
})

describeOnBackends('jacobi', (backend) => {
  const slow = backend.name === 'reference'

  it.each([
    [0, 0],
    [1, 9],
    [2, 7],
    [7, 2],
    [3, 3],
    [3, 40],
    [40, 3],
    [37, 23],
  ])('solves %i × %i', async (rows, columns) => {
    const state = random(rows * columns, 3)
    for (const devices of [1, 4]) {
      const output = new Float32Array(rows * columns)
      const group = await backend.group(devices)
      const report = await jacobi(group, {
        rows,
        columns,
        input: state,
        output,
        iterations: 7,
        residualEvery: 3,
      })
      expect(report).toMatchObject({ algorithm: 'jacobi', verified: true, iterations: 7 })
      expect(report.shape).toEqual({ rows, columns })
      expect(output).toEqual(referenceJacobiF32({ rows, columns }, state, 7))
    }
  })

  it('gives the bits of the reference for any shape, device count, decomposition, transport, schedule and interval', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.integer({ min: 3, max: 40 }),
          columns: fc.integer({ min: 3, max: 60 }),
          devices: fc.integer({ min: 1, max: 8 }),
          decomposition: fc.constantFrom('1d' as const, '2d' as const),
          transport: fc.constantFrom('copy' as const, 'direct' as const, 'auto' as const),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          iterations: fc.nat(9),
          residualEvery: fc.integer({ min: 1, max: 6 }),
          withSource: fc.boolean(),
          seed: fc.nat(1000),
        }),
        async ({ devices, seed, withSource, transport, ...options }) => {
          const { rows, columns, iterations } = options
          const peerAccess = transport !== 'copy'
          const group = await backend.group(devices, { peerAccess })
          const state = random(rows * columns, seed)
          const source = withSource ? random(rows * columns, seed + 1) : undefined
          const output = new Float32Array(rows * columns)
          const report = await jacobi(group, {
            ...options,
            transport,
            input: state,
            output,
            ...(source && { source }),
          })
          const problem = { rows, columns, ...(source && { source }) }
          expect(bits(output)).toEqual(bits(referenceJacobiF32(problem, state, iterations)))
          expect(report).toMatchObject({ verified: true, iterations })
          if (iterations > 0) {
            const before = referenceJacobiF32(problem, state, iterations - 1)
            const changes = output.map((value, index) => Math.abs(value - before[index]!))
            expect(report.residual).toBe(changes.reduce((most, change) => Math.max(most, change), 0))
          }
        },
      ),
      { numRuns: randomRuns(slow ? 10 : 15) },
    )
  })

  it.each([1, 2, 3])('gives the bits of the reference with fused sweeps on %i devices', async (devices) => {
    const group = await backend.group(devices)
    const shapes = slow
      ? [
          [17, 22],
          [20, 515],
        ]
      : [
          [17, 22],
          [150, 1100],
        ] // 515 and 1100 columns take two and three stripes
    const intervals = [
      [11, 100],
      [4, 4],
      [13, 6],
    ] as const
    // The barriers of fused sweeps are slow on the reference executor: the wide grid once.
    for (const [rows, columns] of shapes as [number, number][])
      for (const [iterations, residualEvery] of intervals.slice(0, slow && columns > 500 ? 1 : 3)) {
        const state = random(rows * columns, 5)
        const output = new Float32Array(rows * columns)
        const report = await jacobi(group, {
          rows,
          columns,
          input: state,
          output,
          iterations,
          residualEvery,
          decomposition: '1d',
          transport: 'copy',
          fuse: true,
        })
        expect(report).toMatchObject({ verified: true, sweepsPerPass: 4 })
        expect(bits(output)).toEqual(bits(referenceJacobiF32({ rows, columns }, state, iterations)))
        const before = referenceJacobiF32({ rows, columns }, state, iterations - 1)
        const changes = output.map((value, index) => Math.abs(value - before[index]!))
        expect(report.residual).toBe(changes.reduce((most, change) => Math.max(most, change), 0))
      }
  })

  it('gives the same bits on 1, 2, 3, 4 and 8 devices', async () => {
    const [rows, columns] = [45, 67]
    const results: Uint32Array[] = []
    const residuals: (number | undefined)[] = []
    for (const devices of [1, 2, 3, 4, 8])
      for (const decomposition of ['1d', '2d'] as const) {
        const output = new Float32Array(rows * columns)
        const group = await backend.group(devices)
        const report = await jacobi(group, {
          rows,
          columns,
          iterations: 20,
          residualEvery: 8,
          decomposition,
          output,
        })
        results.push(bits(output))
        residuals.push(report.residual)
      }
    for (const result of results) expect(result).toEqual(results[0])
    expect(new Set(residuals).size).toBe(1)
  })

  it('stops at a tolerance, names the iteration and runs at most one more interval', async () => {
    const group = await backend.group(2)
    const [rows, columns] = [14, 18]
    const state = new Float32Array(rows * columns)
    waveBoundary(rows, columns)(0, state)
    const tolerance = 0.004
    for (const residualEvery of [5, 6, 7]) {
      const seen: number[] = []
      const output = new Float32Array(rows * columns)
      const report = await jacobi(group, {
        rows,
        columns,
        iterations: 300,
        tolerance,
        residualEvery,
        output,
        warmup: 1,
        onProgress: ({ iteration }) => seen.push(iteration),
      })
      let first = 0
      for (let iteration = residualEvery; first === 0; iteration += residualEvery) {
        const before = referenceJacobiF32({ rows, columns }, state, iteration - 1)
        const after = referenceJacobiF32({ rows, columns }, state, iteration)
        if (after.every((value, index) => Math.fround(Math.abs(value - before[index]!)) <= tolerance))
          first = iteration
      }
      expect(report.converged?.iteration).toBe(first)
      expect(report.converged!.residual).toBeLessThanOrEqual(tolerance)
      expect(report.iterations).toBe(first + residualEvery)
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => (index + 1) * residualEvery))
      expect(report.verified).toBe(true)
      expect(output).toEqual(referenceJacobiF32({ rows, columns }, state, report.iterations))
    }
    const never = await jacobi(group, { rows, columns, iterations: 17, tolerance: 0, residualEvery: 5 })
    expect(never).toMatchObject({ iterations: 17, verified: true })
    expect(never.converged).toBeUndefined()
  })

  it('continues from a state that the caller saved', async () => {
    const group = await backend.group(3)
    const [rows, columns] = [21, 33]
    const saved = new Float32Array(rows * columns)
    const whole = new Float32Array(rows * columns)
    const resumed = new Float32Array(rows * columns)
    await jacobi(group, { rows, columns, iterations: 7, output: saved })
    const report = await jacobi(group, {
      rows,
      columns,
      input: saved,
      startIteration: 7,
      iterations: 6,
      output: resumed,
    })
    await jacobi(group, { rows, columns, iterations: 13, output: whole })
    expect(report.iterations).toBe(13)
    expect(bits(resumed)).toEqual(bits(whole))
  })

  it('runs more sweeps than one program holds', async () => {
    const group = await backend.group(2)
    const report = await jacobi(group, {
      rows: 9,
      columns: 12,
      iterations: slow ? 300 : 1001,
      residualEvery: 270,
    })
    expect(report).toMatchObject({ verified: true, iterations: slow ? 300 : 1001 })
    const interval = await jacobi(group, {
      rows: 9,
      columns: 12,
      iterations: 300,
      residualEvery: 131,
      tolerance: 1e-9,
    })
    expect(interval).toMatchObject({ verified: true })
  })

  it('streams input and output in pieces, and keeps NaN', async () => {
    const group = await backend.group(4)
    const [rows, columns] = [12, 15]
    const state = random(rows * columns, 9)
    const output = new Float32Array(rows * columns)
    const report = await jacobi(group, {
      rows,
      columns,
      input: (offset, into) => into.set(state.subarray(offset, offset + into.length)),
      output: (offset, data) => output.set(data, offset),
      iterations: 4,
    })
    expect(report.verified).toBe(true)
    expect(output).toEqual(referenceJacobiF32({ rows, columns }, state, 4))
    state[40] = Number.NaN
    const broken = await jacobi(group, { rows, columns, input: state, iterations: 2 })
    expect(broken.residual).toBeNaN()
  })

  it('converges to the solution of Poisson’s equation', async () => {
    // u = x(1 - x)y(1 - y) solves Δu = -f with f = 2(x(1 - x) + y(1 - y)), exactly in the five-point stencil
    // too.
    const size = 17
    const group = await backend.group(4)
    const h = 1 / (size - 1)
    const at = (index: number) => [(index % size) * h, Math.floor(index / size) * h] as const
    const exact = Float32Array.from({ length: size * size }, (_, index) => {
      const [x, y] = at(index)
      return x * (1 - x) * y * (1 - y)
    })
    const source = Float32Array.from({ length: size * size }, (_, index) => {
      const [x, y] = at(index)
      return h * h * 2 * (x * (1 - x) + y * (1 - y))
    })
    const output = new Float32Array(size * size)
    const state = new Float32Array(size * size)
    await jacobi(group, {
      rows: size,
      columns: size,
      input: state,
      source,
      output,
      iterations: slow ? 400 : 1200,
      verify: false,
    })
    const error = Math.max(...output.map((value, index) => Math.abs(value - exact[index]!)))
    expect(error).toBeLessThan(slow ? 1e-3 : 1e-6)
  })

  it('says why sweeps cannot be fused', async () => {
    const group = await backend.group(4)
    const shape = { rows: 30, columns: 30, transport: 'copy', fuse: true } as const
    await expect(jacobi(group, { ...shape, decomposition: '2d' })).rejects.toMatchObject({
      code: 'unsupported',
      message: 'Sweeps cannot be fused: the blocks are arranged in 2 columns.',
    })
    await expect(jacobi(group, { ...shape, rows: 9, decomposition: '1d' })).rejects.toMatchObject({
      message: 'Sweeps cannot be fused: a block has fewer than 4 rows.',
    })
  })

  it('rejects invalid options, and names their values', async () => {
    const group = await backend.group(2, { peerAccess: false })
    const options = { rows: 9, columns: 9 }
    await expect(jacobi(group, { ...options, transport: 'direct' })).rejects.toMatchObject({
      code: 'unsupported',
    })
    await expect(jacobi(group, { ...options, residualEvery: 0 })).rejects.toMatchObject({
      code: 'validation',
    })
    await expect(jacobi(group, { ...options, tolerance: -1 })).rejects.toMatchObject({ code: 'validation' })
    await expect(jacobi(group, { ...options, input: new Float32Array(80) })).rejects.toMatchObject({
      code: 'validation',
      message: 'The input has 80 elements, but the shape needs 81.',
    })
  })
})

describe('verification', () => {
  const [rows, columns] = [19, 23]
  const state = random(rows * columns, 2)
  const reader = (data: Float32Array) => rowReader(data as Float32Array<ArrayBuffer>, columns)
  const places = [{ row: 1, column: 0, rows: rows - 2, columns }]

  it.each([1, 4])(
    'repeats a last pass of %i sweeps on large grids and notices one wrong bit',
    async (behind) => {
      const previous = referenceJacobiF32({ rows, columns }, state, 8 - behind)
      const final = referenceJacobiF32({ rows, columns }, state, 8)
      const before = referenceJacobiF32({ rows, columns }, state, 7)
      const residual = Math.fround(Math.max(...final.map((value, index) => Math.abs(value - before[index]!))))
      const result = {
        ...{ rows, columns, places, iterations: 8, initial: state, source: undefined, behind, residual },
      }
      const readers = () => ({ previous: reader(previous), final: reader(final) })
      expect(await verifyJacobi({ ...result, ...readers() }, 0)).toMatchObject({
        verified: true,
        maxError: 0,
      })
      expect(await verifyJacobi({ ...result, ...readers(), residual: residual / 2 }, 0)).toMatchObject({
        verified: false,
      })
      bits(final)[5 * columns + 7]! ^= 1
      expect(await verifyJacobi({ ...result, ...readers() }, 0)).toMatchObject({ verified: false })
    },
  )

  it('accepts that a device flushes subnormal numbers, as WGSL allows, and says so', async () => {
    // Cells near the upper edge are around one, far from it they are subnormal.
    const previous = Float32Array.from(
      state,
      (value, at) => value * 2 ** (at < 3 * columns ? 0 : -127 - (at % 20)),
    )
    const final = referenceJacobiF32({ rows, columns }, previous, 1)
    const flush = final.map((value, at) => (at % columns > 0 && Math.abs(value) < 2 ** -126 ? 0 : value))
    expect(flush).not.toEqual(final)
    const result = { rows, columns, places, iterations: 1, initial: previous, source: undefined, behind: 1 }
    const check = () =>
      verifyJacobi({ ...result, residual: undefined, previous: reader(previous), final: reader(flush) }, 0)
    expect(await check()).toMatchObject({
      verified: true,
      verification: expect.stringMatching(/; in \d+ cells the device treats subnormal numbers as zero/),
    })
    bits(flush)[columns + 7]! ^= 1
    expect(await check()).toMatchObject({ verified: false })
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'of a grid with %d still bounds its finite cells',
    async (odd) => {
      const initial = state.slice()
      initial[9 * columns + 11] = odd
      const previous = referenceJacobiF32({ rows, columns }, initial, 2)
      const final = referenceJacobiF32({ rows, columns }, initial, 3)
      const result = {
        rows,
        columns,
        places,
        iterations: 3,
        initial,
        source: undefined,
        behind: 1,
        residual: odd,
      }
      const check = (fullCheckUpdates?: number) =>
        verifyJacobi({ ...result, previous: reader(previous), final: reader(final) }, fullCheckUpdates)
      expect([await check(), await check(0)]).toMatchObject([{ verified: true }, { verified: true }])
      final[2 * columns + 2]! += 1
      expect([await check(), await check(0)]).toMatchObject([{ verified: false }, { verified: false }])
    },
  )
})

describe('the f32 reference', () => {
  it('differs from the f64 reference by rounding alone', async () => {
    const [rows, columns] = [11, 13]
    const state = random(rows * columns, 1)
    const exact = await referenceJacobi({ rows, columns }, state, 10)
    const rounded = referenceJacobiF32({ rows, columns }, state, 10)
    for (const [index, value] of rounded.entries())
      expect(Math.abs(value - exact[index]!)).toBeLessThan(30 * 2 ** -24)
  })
})

describeOnBackends('scaleJacobi', (backend) => {
  it('times bands against blocks on every number of devices, and marks grids without rows to overlap', async () => {
    const group = await backend.group(4)
    const seen: number[] = []
    const figures = await scaleJacobi(group, {
      rows: 20,
      columns: 200,
      iterations: 4,
      samples: 1,
      warmup: 0,
      onFigure: ({ devices }) => seen.push(devices),
    })
    expect(seen).toEqual([1, 2, 2, 3, 3, 4, 4])
    expect(figures.map(({ decomposition, grid }) => [decomposition, ...grid])).toEqual([
      ['1d', 1, 1],
      ['1d', 2, 1],
      ['2d', 1, 2],
      ['1d', 3, 1],
      ['2d', 1, 3],
      ['1d', 4, 1],
      ['2d', 2, 2],
    ])
    expect(figures.map(({ overlapsRows }) => overlapsRows)).toEqual([
      false,
      true,
      false,
      true,
      false,
      true,
      true,
    ])
    for (const { verified, efficiency, packShare, decomposition } of figures) {
      expect(verified).toBe(true)
      expect(efficiency).toBeGreaterThan(0)
      if (packShare !== undefined && decomposition === '1d') expect(packShare).toBe(0)
    }
    expect(figures[0]!.efficiency).toBe(1)
  })

  it('names a number of devices that the group does not have', async () => {
    const group = await backend.group(2)
    await expect(jacobi(group, { rows: 9, columns: 9, devices: 3 })).rejects.toThrow(
      '3 devices were requested, but the group has 2.',
    )
  })
})
