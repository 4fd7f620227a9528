import type { Expression, IrModule, LocalVariable, Statement } from '../ir.ts'
import { walk } from '../walk.ts'

/** Finds where local variables change: by a statement, or through a pointer that is passed to a call. */
export class Assignments {
  readonly #extents = new Map<object, { start: number; end: number }>()
  readonly #positions = new Map<LocalVariable, number[]>()

  constructor(module: IrModule) {
    let position = 0
    const enter = (node: object) => {
      const known = this.#extents.get(node)
      if (known === undefined) this.#extents.set(node, { start: position, end: position })
    }
    const leave = (node: object) => {
      this.#extents.get(node)!.end = position
    }
    walk(module, {
      statement: enter,
      expression: enter,
      leave,
      place: (place, use) => {
        position++
        if (use === 'load' || (place.kind !== 'variable' && place.kind !== 'deref')) return
        if (place.kind === 'variable' && place.variable.kind === 'local-variable') {
          const positions = this.#positions.get(place.variable) ?? []
          positions.push(position - 1)
          this.#positions.set(place.variable, positions)
        }
      },
    })
  }

  /** Whether the code may change the variable. */
  isAssigned(part: Statement | Expression, variable: LocalVariable): boolean {
    const extent = this.#extents.get(part)
    if (extent === undefined) throw new TypeError('only parts of the module can be asked about')
    const positions = this.#positions.get(variable) ?? []
    const next = positions[firstAtLeast(positions, extent.start)]
    return next !== undefined && next < extent.end
  }
}

/** The index of the first entry of an ascending list that is not below `bound`. */
function firstAtLeast(positions: readonly number[], bound: number): number {
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (positions[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}
