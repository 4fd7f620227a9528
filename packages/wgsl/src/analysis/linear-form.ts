import type { Expression, IrModule, LocalVariable, Place, Type } from '../ir.ts'
import { isInteger, typeName } from '../types.ts'
import { isConstantMemory, walk } from '../walk.ts'
import { scalarOf } from './component-ranges.ts'

/**
 * A value that is not decomposed further. Two atoms are the same object if they are the same function of the
 * same values. An atom keeps its value as long as no variable in `variables` is assigned and no let whose id
 * is in `lets` is declared again, in one execution of its function.
 */
export interface Atom {
  readonly key: string
  /**
   * Set only for a component of `local_invocation_id`: it has all values from 0 to extent - 1, for each
   * combination of the others. `local_invocation_index` is a sum of the three components.
   */
  readonly extent: number | undefined
  readonly variables: readonly LocalVariable[]
  readonly lets: readonly number[]
  /** Set if the atom is a whole local variable. */
  readonly variable: LocalVariable | undefined
}

/** An integer modulo 2³²: `constant` + Σ coefficient · atom. A value of another type is a single atom. */
export interface LinearForm {
  readonly constant: number
  readonly terms: ReadonlyMap<Atom, number>
}

/** A name for the value of an expression, with the variables that it depends on. */
export interface Key {
  readonly text: string
  readonly variables: readonly LocalVariable[]
}

/** The maximum number of atoms in a form, and of variables or lets that an atom depends on. */
const mostAtoms = 64

/**
 * Converts the values of a module to linear forms, so that they can be compared. Each form is created once. A
 * form with more than `mostAtoms` is not kept, since a chain of lets would take quadratic memory.
 */
export class LinearForms {
  readonly #workgroupSize: readonly [number, number, number]
  readonly #lets = new Map<number, Expression>()
  readonly #atoms = new Map<string, LinearForm>()
  readonly #numbers = new Map<LinearForm, number>()
  readonly #numberOfText = new Map<string, number>()
  readonly #variables = new Map<LinearForm, readonly LocalVariable[]>()
  readonly #known = new Map<object, LinearForm | undefined>()

  constructor(module: IrModule) {
    this.#workgroupSize = module.workgroupSize
    walk(module, {
      leave: (s) => {
        if (s.kind !== 'let') return
        this.#lets.set(s.variable.id, s.value)
        // Each form now, not recursively at the first use: a long chain of lets would overflow the stack.
        this.of(s.value)
      },
    })
  }

  /** The key of a scalar; undefined if its value may change without a known assignment. */
  key(e: Expression): Key | undefined {
    return this.#key(this.of(e), e.type)
  }

  /** The key of a place's value. */
  placeKey(place: Place): Key | undefined {
    return this.#key(this.#place(place), place.type)
  }

  of(e: Expression): LinearForm | undefined {
    // Loads are not cached: their forms are cheap to compute, and the range analysis creates its own loads.
    if (e.kind === 'load') return this.#place(e.place)
    if (this.#known.has(e)) return this.#known.get(e)
    const made = this.#make(e)
    const form = made !== undefined && isSmall(made) ? made : undefined
    this.#known.set(e, form)
    return form
  }

  /** Component `c` of a vector. */
  component(e: Expression, c: number): LinearForm | undefined {
    if (e.kind === 'swizzle') return this.component(e.base, e.components[c]!)
    if (e.kind === 'splat') return this.of(e.value)
    if (e.kind === 'value' && e.value.kind === 'parameter' && e.value.builtin === 'local_invocation_id')
      return this.#position(c)
    const base = this.of(e)
    return base && this.#opaque(`.${c}`, [base])
  }

  #make(e: Expression): LinearForm | undefined {
    switch (e.kind) {
      case 'literal':
        return isInteger(e.type) ? { constant: Number(e.value) >>> 0, terms: new Map() } : undefined
      case 'value': {
        const { value } = e
        if (value.kind === 'let-value') {
          const definition = this.#lets.get(value.id)
          const form = definition && this.of(definition)
          if (form !== undefined && isFixed(form)) return form
          return this.#atom(`${value.id}`, { lets: [value.id] })
        }
        if (value.builtin !== 'local_invocation_index') return this.#atom(`${value.id}`, {})
        const [x, y] = this.#workgroupSize
        return sum(
          this.#position(0),
          sum(scaled(this.#position(1), x), scaled(this.#position(2), x * y), 1),
          1,
        )
      }
      case 'swizzle':
        return e.components.length === 1 ? this.component(e.base, e.components[0]!) : undefined
      case 'convert':
      case 'bitcast':
        // A conversion between i32 and u32 does not change the value modulo 2³².
        return isInteger(e.type) && isInteger(e.value.type) ? this.of(e.value) : undefined
      case 'binary':
        return this.#binary(e)
      default:
        return undefined
    }
  }

  /** A component of `local_invocation_id`. */
  #position(c: number): LinearForm {
    const extent = this.#workgroupSize[c]!
    return extent === 1 ? { constant: 0, terms: new Map() } : this.#atom(`position ${c}`, { extent })
  }

  #binary(e: Extract<Expression, { kind: 'binary' }>): LinearForm | undefined {
    const left = this.of(e.left)
    const right = this.of(e.right)
    if (left === undefined || right === undefined || !isInteger(e.type)) return undefined
    const factor = isConstant(right) ? right.constant : undefined
    if (e.operator === '+') return sum(left, right, 1)
    if (e.operator === '-') return sum(left, right, -1)
    if (e.operator === '*' && factor !== undefined) return scaled(left, factor)
    if (e.operator === '*' && isConstant(left)) return scaled(right, left.constant)
    if (e.operator === '<<' && factor !== undefined) return scaled(left, 2 ** (factor & 31))
    return this.#opaque(`${typeName(e.type)} ${e.operator}`, [left, right])
  }

  #place(place: Place): LinearForm | undefined {
    switch (place.kind) {
      case 'variable': {
        const v = place.variable
        if (v.kind === 'local-variable') return this.#atom(`${v.id}`, { variables: [v], variable: v })
        return isConstantMemory(v) ? this.#atom(`${v.id}`, {}) : undefined
      }
      case 'member-place':
      case 'component-place': {
        const base = this.#place(place.base)
        const part = place.kind === 'member-place' ? `m${place.member.index}` : `${place.component}`
        return base && this.#opaque(`.${part}`, [base])
      }
      default:
        return undefined
    }
  }

  /**
   * The result of an operation that can only be compared for equality. Operands are identified by number, so
   * that keys stay short.
   */
  #opaque(operation: string, operands: readonly LinearForm[]): LinearForm {
    const key = `${operation}(${operands.map((form) => this.#number(form))})`
    const known = this.#atoms.get(key)
    if (known !== undefined) return known
    const atoms = operands.flatMap((form) => [...form.terms.keys()])
    return this.#atom(key, {
      variables: [...new Set(atoms.flatMap((a) => a.variables))],
      lets: [...new Set(atoms.flatMap((a) => a.lets))],
    })
  }

  #atom(key: string, facts: Partial<Atom>): LinearForm {
    let form = this.#atoms.get(key)
    if (form === undefined) {
      const none = { extent: undefined, variable: undefined, variables: [], lets: [] }
      const atom: Atom = { ...none, ...facts, key: `a${this.#atoms.size}` }
      form = only(atom)
      this.#atoms.set(key, form)
    }
    return form
  }

  /** An i32 and a u32 may have the same bits but different numbers, so a key includes the kind. */
  #key(form: LinearForm | undefined, type: Type): Key | undefined {
    if (form === undefined) return undefined
    let variables = this.#variables.get(form)
    if (variables === undefined) {
      variables = [...form.terms.keys()].flatMap((a) => a.variables)
      this.#variables.set(form, variables)
    }
    return { text: `${scalarOf(type)} ${this.#number(form)}`, variables }
  }

  /** Two forms have the same number if and only if they have the same atoms, coefficients and constant. */
  #number(form: LinearForm): number {
    let number = this.#numbers.get(form)
    if (number === undefined) {
      const text = `${form.constant}+${termsText(form)}`
      number = this.#numberOfText.get(text) ?? this.#numberOfText.size
      this.#numberOfText.set(text, number)
      this.#numbers.set(form, number)
    }
    return number
  }
}

function isSmall({ terms }: LinearForm): boolean {
  const atoms = [...terms.keys()]
  return [atoms, ...atoms.flatMap((a) => [a.variables, a.lets])].every((part) => part.length <= mostAtoms)
}

/** Whether no assignment can change the value. */
export function isFixed(form: LinearForm): boolean {
  return [...form.terms.keys()].every((a) => a.variables.length === 0)
}

/** The terms of a form as text; forms with equal text have the same atoms and coefficients. */
export function termsText(form: LinearForm): string {
  return [...form.terms]
    .map(([atom, coefficient]) => `${coefficient}*${atom.key}`)
    .sort()
    .join('+')
}

export function sum(a: LinearForm, b: LinearForm, sign: 1 | -1): LinearForm {
  const terms = new Map(a.terms)
  for (const [atom, coefficient] of b.terms) {
    const total = ((terms.get(atom) ?? 0) + Math.imul(coefficient, sign)) >>> 0
    if (total === 0) terms.delete(atom)
    else terms.set(atom, total)
  }
  return { constant: (a.constant + Math.imul(b.constant, sign)) >>> 0, terms }
}

/** The form with atoms substituted by the forms that `replace` returns. */
export function substituted(form: LinearForm, replace: (atom: Atom) => LinearForm | undefined): LinearForm {
  let result: LinearForm = { constant: form.constant, terms: new Map() }
  for (const [atom, coefficient] of form.terms)
    result = sum(result, scaled(replace(atom) ?? only(atom), coefficient), 1)
  return result
}

/** The form that consists of one atom. */
export function only(atom: Atom): LinearForm {
  return { constant: 0, terms: new Map([[atom, 1]]) }
}

export function scaled(form: LinearForm, by: number): LinearForm {
  const terms = [...form.terms].map(([a, c]) => [a, Math.imul(c, by) >>> 0] as const)
  return {
    constant: Math.imul(form.constant, by) >>> 0,
    terms: new Map(terms.filter(([, coefficient]) => coefficient !== 0)),
  }
}

function isConstant(form: LinearForm): boolean {
  return form.terms.size === 0
}
