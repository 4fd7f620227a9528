import { type DeviceGroup, type ElementArray, openGroup } from '@tandem-gpu/core'
import { simulateRanks } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { type ElementReader, generatedElements } from './element-source.ts'
import { gatherNumbers } from './gather-numbers.ts'
import { jacobi } from './jacobi/jacobi.ts'
import { allocateField, writeState } from './jacobi/jacobi-field.ts'
import { JacobiIteration } from './jacobi/jacobi-iteration.ts'
import { compileJacobi } from './jacobi/jacobi-kernels.ts'
import { verifyField } from './jacobi/verify-field.ts'
import { matmul } from './matmul/matmul.ts'
import { matmulVerifier, resultOfAll } from './matmul/verify/verify-matmul.ts'
import { reduce } from './reduction/reduce.ts'
import { leafLength } from './reduction/reduction-kernels.ts'
import type { Verification } from './report.ts'
import { ringMatmul } from './ring/ring-matmul.ts'
import { splitRows } from './sharded-matrix.ts'
import { referenceMatmul } from './testing/reference-results.ts'
import { transpose } from './transpose/transpose.ts'

const rankCount = 3

/** The results of `body` on every rank. */
async function onRanks<R>(body: (group: DeviceGroup) => Promise<R>): Promise<R[]> {
  const { backends } = simulateRanks({ ranks: rankCount, seed: 5 })
  return Promise.all(
    backends.map(async (backend) => {
      const group = await openGroup({ backends: [backend] })
      const result = await body(group)
      expect(await group.destroy()).toEqual({ leaks: [] })
      return result
    }),
  )
}

/**
 * Elements of a source, and the number that a rank requests. On rank 1, the element at `wrongAt` is wrong
 * when it is first read.
 */
function watched(group: DeviceGroup, wrongAt: number, seed = 1) {
  const right = generatedElements('f32', seed)
  let first = true
  const counted = { elements: 0 }
  const source: ElementReader<'f32'> = async (offset, into) => {
    await right(offset, into)
    counted.elements += into.length
    const at = wrongAt - offset
    if (group.rank !== 1 || !first || at < 0 || at >= into.length) return
    first = false
    into[at]! += 100
  }
  return { source, counted }
}

type Work = (group: DeviceGroup, input: ElementReader<'f32'>) => Promise<Verification>

/** In each, an element that only rank 1 has or uses, which makes the result wrong there. */
const works: Readonly<Record<string, { wrongAt: number; work: Work }>> = {
  transpose: {
    wrongAt: 5 * 7 + 2,
    work: (group, input) => transpose(group, { rows: 12, columns: 7, type: 'f32', input }),
  },
  reduce: {
    wrongAt: leafLength + 3,
    work: (group, input) => reduce(group, { elements: 3 * leafLength, type: 'f32', operation: 'max', input }),
  },
  'resident matmul': {
    wrongAt: 5 * 8 + 1,
    work: (group, a) => matmul(group, { m: 12, n: 9, k: 8, mode: 'resident', a }),
  },
  'streamed matmul': {
    wrongAt: 5 * 8 + 1,
    work: (group, a) => matmul(group, { m: 12, n: 9, k: 8, mode: 'streamed', streamWidth: 4, a }),
  },
  'ring, of which each rank has columns of B': {
    wrongAt: 4,
    work: (group, b) => ringMatmul(group, { m: 6, n: 9, k: 8, b }),
  },
  'jacobi in bands': {
    wrongAt: 7 * 16 + 5,
    work: (group, input) =>
      jacobi(group, { rows: 14, columns: 16, iterations: 2, decomposition: '1d', input }),
  },
  'jacobi in blocks': {
    wrongAt: 7 * 26 + 12,
    work: (group, input) =>
      jacobi(group, { rows: 14, columns: 26, iterations: 2, decomposition: '2d', input }),
  },
}

describe('what is wrong on one rank', () => {
  it.each(Object.keys(works))('of %s is the report of all', async (name) => {
    const { wrongAt, work } = works[name]!
    for (const at of [Number.NaN, wrongAt]) {
      const reports = await onRanks(async (group) => {
        const { verified, verification, maxError } = await work(group, watched(group, at).source)
        return { verified, verification, maxError }
      })
      expect(reports[0]!.verified, reports[0]!.verification).toBe(Number.isNaN(at))
      for (const report of reports) expect(report).toEqual(reports[0])
      if (!Number.isNaN(at)) expect(reports[0]!.maxError).toBeGreaterThan(1)
    }
  })
})

describe('a rank reads, to write and to verify,', () => {
  /** The number of elements that each rank requests. */
  const asked = (work: Work) =>
    onRanks(async (group) => {
      const { source, counted } = watched(group, Number.NaN)
      await work(group, source)
      return counted.elements
    })

  it('its rows of a matrix that is transposed', async () => {
    expect(await asked(works.transpose!.work)).toEqual([2 * 28, 2 * 28, 2 * 28])
  })

  it('its elements of a vector that is reduced', async () => {
    expect(await asked(works.reduce!.work)).toEqual([2 * leafLength, 2 * leafLength, 2 * leafLength])
  })

  it('its rows of A, of a product', async () => {
    for (const name of ['resident matmul', 'streamed matmul'])
      expect(await asked(works[name]!.work)).toEqual([2 * 32, 2 * 32, 2 * 32])
  })

  it('its rows of B, of a streamed product', async () => {
    const work: Work = async (group, b) =>
      matmul(group, { m: 12, n: 9, k: 8, mode: 'streamed', streamWidth: 4, b, verify: false })
    expect(await asked(work)).toEqual([27, 27, 18])
  })

  it('no more than its rows and those near them, of a grid', async () => {
    // Rows 1 to 4, 5 to 8 and 9 to 12, one row more at each end to write them, and two, the sweeps, to verify
    // them.
    expect(await asked(works['jacobi in bands']!.work)).toEqual([13 * 16, 14 * 16, 13 * 16])
  })
})

it('every rank gets the numbers of all devices, of which a rank may have two or none', async () => {
  const { backends } = simulateRanks({ ranks: 4, adapters: [2, 0, 1, 2] })
  await Promise.all(
    backends.map(async (backend) => {
      const group = await openGroup({ backends: [backend] })
      const numbers = await gatherNumbers(group, group.devices, 2, (index) => [index, -1 / (index + 1)])
      expect([...numbers]).toEqual([0, 1, 2, 3, 4].flatMap((index) => [index, -1 / (index + 1)]))
      await group.destroy()
    }),
  )
})

it("Freivalds' algorithm takes the rows of B that each rank has, and finds what is wrong on one", async () => {
  const shape = { m: 9, n: 7, k: 11 }
  const { m, n, k } = shape
  const a = new Float32Array(m * k).map((_, i) => Math.sin(i))
  const b = new Float32Array(k * n).map((_, i) => Math.cos(i))
  for (const wrong of [0, 1]) {
    const results = await onRanks(async (group) => {
      const asked: number[] = []
      const rowsOfB: ElementReader<'f32'> = (offset, into) => {
        asked.push(offset / n, into.length / n)
        into.set(b.subarray(offset, offset + into.length))
      }
      const checkers = { group, devices: group.devices }
      const verifier = await matmulVerifier('f32', shape, a, rowsOfB, { checkers, everyElement: false })
      const { row, rows } = splitRows(k, rankCount)[group.rank]!
      expect(asked).toEqual([row, rows])
      const own = splitRows(m, rankCount)[group.rank]!
      const c = referenceMatmul('f32', shape, a, b).subarray(own.row * n, (own.row + own.rows) * n)
      if (group.rank === 1) c[4]! += wrong
      await verifier.rows(own.row, c as ElementArray<'f32'>)
      return resultOfAll(verifier, checkers)
    })
    for (const result of results) expect(result).toEqual(results[0])
    expect(results[0]!.verified, results[0]!.verification).toBe(wrong === 0)
  }
})

it.each(['1d', '2d'] as const)(
  'the last pass of sweeps in %s blocks is repeated with the cells of other ranks, not with halos',
  async (decomposition) => {
    const [rows, columns] = [11, 27]
    const input = generatedElements('f32', 3)
    const wrongs: (readonly [row: number, column: number] | undefined)[] = [undefined, [5, 13]]
    for (const wrong of wrongs) {
      const results = await onRanks(async (group) => {
        const kernels = await compileJacobi(group, { transport: 'copy', source: false, fuse: false })
        const field = await allocateField(group, rows, columns, decomposition, {
          source: false,
          columnHalos: true,
          haloRows: 1,
        })
        await writeState(field, input)
        const options = { iterations: 5, residualEvery: 5, schedule: 'overlapped' } as const
        const iteration = new JacobiIteration(field, kernels, options)
        const result = await iteration.run()
        // The cell of one rank changes after the run: not the halos that other ranks have of it.
        for (const block of field.blocks) {
          const [row, column] = [wrong?.[0] ?? -1, wrong?.[1] ?? -1]
          const [down, across] = [row - 1 - block.row, column - 1 - block.column]
          if (down < 0 || down >= block.rows || across < 0 || across >= block.columns) continue
          const cells = block.cells[result.parity === 0 ? 1 : 0]
          const cell = cells.block(down + block.haloRows, 32 + across, 1, 1)
          await group.queue.write(cell, Float32Array.of(9))
        }
        const verification = await verifyField(field, input, undefined, result, 0)
        iteration.destroy()
        field.destroy()
        kernels.destroy()
        return verification
      })
      for (const result of results) expect(result).toEqual(results[0])
      const { verified, verification } = results[0]!
      expect(verified, verification).toBe(wrong === undefined)
      // All four neighbours of the changed cell, whichever rank has them.
      if (wrong) expect(verification).toContain('; 4 cells differ')
    }
  },
)
