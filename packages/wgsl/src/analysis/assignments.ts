import type { Block, Expression, IrModule, LocalVariable, Statement } from '../ir.ts'
import { isConstantMemory, operandsOf, rootOf, viewOf, walk } from '../walk.ts'

/** Tells where local variables change: by a statement, or through a pointer that a call is given. */
export class Assignments {
  readonly #extents = new Map<object, { start: number; end: number }>()
  readonly #positions = new Map<LocalVariable, number[]>()

  constructor(module: IrModule) {
    let position = 0
    const enter = (node: object) => {
      const known = this.#extents.get(node)
      if (known === undefined) this.#extents.set(node, { start: position, end: position })
      return undefined
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
        if (use === 'load' || (place.kind !== 'variable' && place.kind !== 'deref')) return undefined
        if (place.kind === 'variable' && place.variable.kind === 'local-variable') {
          const positions = this.#positions.get(place.variable) ?? []
          positions.push(position - 1)
          this.#positions.set(place.variable, positions)
        }
        return undefined
      },
    })
  }

  /** May the code change the variable? */
  isAssigned(part: Statement | Expression, variable: LocalVariable): boolean {
    const extent = this.#extents.get(part)
    if (extent === undefined) throw new TypeError('only parts of the module can be asked about')
    const positions = this.#positions.get(variable) ?? []
    const next = positions[firstAtLeast(positions, extent.start)]
    return next !== undefined && next < extent.end
  }

  /** Is the expression invariant: does it have the same value before and after each execution of `body`? */
  isInvariant(e: Expression, body: Block): boolean {
    const isInvariant = (x: Expression) => this.isInvariant(x, body)
    switch (e.kind) {
      case 'literal':
      case 'value':
      case 'constant':
        return true
      case 'load': {
        const root = rootOf(e.place)
        if (root.kind === 'deref' || !operandsOf(e.place).every(isInvariant)) return false
        const v = root.variable
        if (v.kind === 'local-variable') return !this.isAssigned(body, v)
        return isConstantMemory(v)
      }
      case 'swizzle':
      case 'member':
        return isInvariant(e.base)
      case 'binary':
        return isInvariant(e.left) && isInvariant(e.right)
      case 'builtin-call': {
        const [array] = e.args
        return e.name === 'arrayLength' && array?.kind === 'address-of' && viewOf(array.place) === undefined
      }
      default:
        return false
    }
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
