import type { Expression, IrModule, LocalVariable, ModuleVariable, Statement } from '../ir.ts'
import { walk } from '../walk.ts'

/** Finds where local variables change: by a statement, or through a pointer that is passed to a call. */
export class Assignments {
  readonly #extents = new Map<object, { start: number; end: number }>()
  readonly #positions = new Map<LocalVariable | ModuleVariable, number[]>()

  constructor(module: IrModule) {
    let position = 0
    const enter = (node: object) => {
      this.#extents.set(node, { start: position, end: position })
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
        if (use === 'load' || place.kind !== 'variable') return
        const positions = this.#positions.get(place.variable) ?? []
        positions.push(position - 1)
        this.#positions.set(place.variable, positions)
      },
    })
  }

  /** Whether the code, a part of the module, may change the variable. */
  isAssigned(part: Statement | Expression, variable: LocalVariable): boolean {
    const { start, end } = this.#extents.get(part)!
    const positions = this.#positions.get(variable) ?? []
    return (positions[firstAtLeast(positions, start)] ?? Infinity) < end
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
