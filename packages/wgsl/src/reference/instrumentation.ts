import type { BuiltinCall, Evaluated, Expression, For, Index, IndexPlace, Place, Statement } from '../ir.ts'
import { isInteger } from '../types.ts'
import { moduleVariableOf, type PlaceUse } from '../walk.ts'

/** Observes an instrumented run, to check the results of analyses. */
export interface ExecutionObserver {
  /** Control reaches a statement; `invocation` is the same object for all events of one invocation. */
  reached(statement: Statement, invocation: object): void
  /** A barrier or a subgroup operation is called. */
  called(call: BuiltinCall, invocation: object): void
  /**
   * A place in workgroup memory is used; `path` lists the members, elements and components that lead to it.
   */
  touched(place: Place, path: readonly number[], use: PlaceUse, invocation: object): void
  /** An expression of type i32 or u32 has a value. */
  value(e: Expression, value: number): void
  /** An index is used; `index` is not yet clamped to the `length` elements. */
  indexed(access: IndexPlace | Index, index: number, length: number): void
  /** A loop is left by its condition after `repetitions` iterations. */
  left(loop: For, repetitions: number): void
}

/**
 * Adds the calls of an observer, named `O`, to emitted JavaScript; `N` contains the nodes that they refer to.
 */
export class Instrumentation {
  readonly observes: boolean
  readonly nodes: object[] = []
  readonly #traps: boolean

  /** `traps`: indices outside an array in a storage binding are reported, not clamped. */
  constructor(observes: boolean, traps = false) {
    this.observes = observes
    this.#traps = traps
  }

  reached(s: Statement): string {
    return this.observes ? `O.reached(${this.#node(s)}, inv); ` : ''
  }

  called(call: BuiltinCall): string {
    return this.observes ? `O.called(${this.#node(call)}, inv), ` : ''
  }

  /** A statement that ends in `; `. */
  touched(place: Place, path: readonly (string | number)[], use: PlaceUse): string {
    return this.observes ? `O.touched(${this.#node(place)}, [${path.join(', ')}], '${use}', inv); ` : ''
  }

  value(e: Evaluated, text: string): string {
    return this.observes && e.kind !== 'literal' && isInteger(e.type)
      ? `O.value(${this.#node(e)}, ${text})`
      : text
  }

  /** The index that is used for the access. */
  clamped(access: IndexPlace | Index, index: string, length: string): string {
    const trapped = access.kind === 'index-place' ? this.#trapped(access) : undefined
    if (trapped !== undefined) return `R.trapIndex(${index}, ${length}, ${trapped})`
    return this.observes
      ? `O.clamped(${this.#node(access)}, ${index}, ${length})`
      : `R.clampIndex(${index}, ${length})`
  }

  /** Reports a use of a storage variable outside of its `length` elements or bytes, if these are reported. */
  outside(place: Place, index: string, length: string): string | undefined {
    const trapped = this.#trapped(place)
    return trapped && `R.outside(${trapped}, ${index}, ${length})`
  }

  /**
   * The code at the loop's entry, for each repetition, and for the exit by its condition; `count` is the name
   * of a variable.
   */
  repetitions(loop: For, count: string) {
    if (!this.observes) return { enter: '', repeat: '', leave: '' }
    return {
      enter: `${count} = 0; `,
      repeat: `${count}++; `,
      leave: `O.left(${this.#node(loop)}, ${count}); `,
    }
  }

  /** The quoted name of the storage variable that contains a place, if accesses outside of it are reported. */
  #trapped(place: Place): string | undefined {
    const variable = moduleVariableOf(place)
    return this.#traps && variable?.space === 'storage' ? JSON.stringify(variable.name) : undefined
  }

  #node(node: object): string {
    return `N[${this.nodes.push(node) - 1}]`
  }
}

/** Adds nothing to emitted JavaScript. */
export const plain = new Instrumentation(false)
