import type { ElementSource } from '../element-source.ts'
import { gatherNumbers } from '../gather-numbers.ts'
import type { Verification } from '../report.ts'
import { blockReader, cellsOf } from './jacobi-cells.ts'
import type { JacobiField } from './jacobi-field.ts'
import type { IterateResult } from './jacobi-iteration.ts'
import { type JacobiFindings, type JacobiResult, verifyJacobi } from './verify-jacobi.ts'

/**
 * Checks the state of a field after `iterations` sweeps from `initial`. Each process checks its blocks; all
 * get the same result. `fullCheckUpdates`: see `verifyJacobi`.
 */
export async function verifyField(
  field: JacobiField,
  initial: ElementSource<'f32'>,
  source: ElementSource<'f32'> | undefined,
  { iterations, parity, behind, residual }: IterateResult,
  fullCheckUpdates?: number,
): Promise<Verification> {
  const { group, rows, columns, blocks } = field
  const owners = blocks.map(({ owner }) => owner)
  const first = owners.findIndex(({ local }) => local)
  const result: JacobiResult = {
    rows,
    columns,
    iterations,
    initial,
    source,
    behind,
    residual,
    places: blocks.filter(({ owner }) => owner.local).map(cellsOf),
    final: await blockReader(field, parity, 0, initial),
    previous: await blockReader(field, parity === 0 ? 1 : 0, behind, initial),
    async gather({ maxError, different, flushedCells, bound, change }) {
      // The first block of a process stands for all of its blocks.
      const numbers = await gatherNumbers(group, owners, 5, (index) =>
        index === first ? [maxError, different, flushedCells, bound, change] : [0, 0, 0, 0, 0],
      )
      return owners.map((_, index): JacobiFindings => {
        const number = (at: number) => numbers[5 * index + at]!
        return {
          maxError: number(0),
          different: number(1),
          flushedCells: number(2),
          bound: number(3),
          change: number(4),
        }
      })
    },
  }
  return verifyJacobi(result, fullCheckUpdates)
}
