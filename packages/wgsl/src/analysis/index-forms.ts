import type { Call, Expression, For, IrFunction, IrModule, LocalVariable, Parameter, Place } from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

/** Offsets that the loops around an index may make; beyond, nothing is known of it. */
const mostOffsets = 4096

/**
 * An integer, modulo 2³²: `constant` + Σ coefficient · atom + Σ coefficient · repetition of a loop. Atoms are values
 * that are the same as long as none of `depends` (ids of lets and variables) is set anew.
 */
export interface IndexForm {
  readonly constant: number
  readonly atoms: ReadonlyMap<string, number>
  readonly loops: ReadonlyMap<For, number>
  readonly depends: ReadonlySet<number>
  /** It reads a variable that statements change. */
  readonly isMutable: boolean
}

/** A loop whose counter runs through `from`, `from + step`, … at most `count` times. */
export interface CountedLoop {
  readonly variable: LocalVariable
  readonly from: IndexForm
  readonly step: number
  readonly count: number
}

const nothing: IndexForm = {
  constant: 0,
  atoms: new Map(),
  loops: new Map(),
  depends: new Set(),
  isMutable: false,
}

/** Brings indices into a form in which two of them can be compared. */
export class IndexForms {
  /** The loops that are entered now. */
  readonly counted = new Map<For, CountedLoop>()
  /** What the parameters of the functions that are entered now receive; undefined: nothing is known. */
  readonly parameters = new Map<Parameter, IndexForm | undefined>()
  readonly #lets = new Map<number, Expression>()
  readonly #assigned = new Set<number>()
  readonly #addressed = new Set<number>()

  constructor(module: IrModule) {
    walk(module, {
      statement: (s) => {
        if (s.kind === 'let') this.#lets.set(s.variable.id, s.value)
        return undefined
      },
      place: (place, use) => {
        const root = rootOf(place)
        if (root.kind !== 'variable' || use === 'load') return undefined
        if (use === 'address') this.#addressed.add(root.variable.id)
        else this.#assigned.add(root.variable.id)
        return undefined
      },
    })
  }

  /** Is the variable changed by statements that name it, and by nothing else? */
  isNamedAlways(variable: LocalVariable): boolean {
    return !this.#addressed.has(variable.id)
  }

  enter(call: Call, forms: readonly (IndexForm | undefined)[]): void {
    for (const [i, p] of (call.function as IrFunction).parameters.entries()) this.parameters.set(p, forms[i])
  }

  of(e: Expression): IndexForm | undefined {
    switch (e.kind) {
      case 'literal':
        return typeof e.value === 'number' && isInteger(e)
          ? { ...nothing, constant: e.value >>> 0 }
          : undefined
      case 'value':
        return this.#value(e)
      case 'load':
        return this.#load(e.place)
      case 'binary': {
        const left = this.of(e.left)
        const right = this.of(e.right)
        if (left === undefined || right === undefined) return undefined
        const operation = `${e.operator}:${typeName(e.left)}`
        if (!isInteger(e)) return this.#opaque(operation, [left, right])
        if (e.operator === '+') return sum(left, right, 1)
        if (e.operator === '-') return sum(left, right, -1)
        if (e.operator === '*' && isConstant(right)) return scaled(left, right.constant)
        if (e.operator === '*' && isConstant(left)) return scaled(right, left.constant)
        if (e.operator === '<<' && isConstant(right)) return scaled(left, 2 ** (right.constant & 31))
        return this.#opaque(operation, [left, right])
      }
      case 'convert':
      case 'bitcast': {
        const value = this.of(e.value)
        // Between i32 and u32 nothing changes modulo 2³².
        if (value === undefined || (isInteger(e) && isInteger(e.value))) return value
        return this.#opaque(`${e.kind}:${typeName(e.value)}:${typeName(e)}`, [value])
      }
      case 'swizzle':
      case 'member': {
        const base = this.of(e.base)
        const part = e.kind === 'swizzle' ? e.components.join() : e.member.name
        return base && this.#opaque(`.${part}`, [base])
      }
      case 'builtin-call': {
        if (e.name !== 'min' && e.name !== 'max' && e.name !== 'select') return undefined
        const args = e.args.map((a) => this.of(a))
        return args.some((a) => a === undefined)
          ? undefined
          : this.#opaque(`${e.name}:${typeName(e)}`, args as IndexForm[])
      }
      default:
        return undefined
    }
  }

  /** `base · length + index`, the index of an element in an array of arrays. */
  nested(base: IndexForm, length: number, index: IndexForm): IndexForm {
    return sum(scaled(base, length), index, 1)
  }

  /** What does not depend on loops, as text to compare, and the offsets that the loops add. */
  offsets(
    form: IndexForm,
    around: readonly For[],
  ): { readonly signature: string; readonly offsets: readonly number[] } | undefined {
    let offsets = [form.constant]
    for (const loop of new Set([...around, ...form.loops.keys()])) {
      const count = this.counted.get(loop)?.count
      if (count === undefined || offsets.length * count > mostOffsets) return undefined
      const step = form.loops.get(loop) ?? 0
      offsets = Array.from({ length: count }, (_, i) =>
        offsets.map((o) => (o + Math.imul(i, step)) >>> 0),
      ).flat()
    }
    return { signature: keyOf(form.atoms), offsets }
  }

  #value(e: Extract<Expression, { kind: 'value' }>): IndexForm | undefined {
    const { value } = e
    if (value.kind === 'parameter') {
      if (this.parameters.has(value)) {
        const form = this.parameters.get(value)
        if (form !== undefined) return form
      }
      return atom(`v${value.id}`, value.id)
    }
    const definition = this.#lets.get(value.id)
    const form = definition === undefined ? undefined : this.of(definition)
    return form === undefined || form.isMutable ? atom(`v${value.id}`, value.id) : form
  }

  #load(place: Place): IndexForm | undefined {
    if (place.kind === 'component-place' || place.kind === 'member-place') {
      const base = this.#load(place.base)
      const part = place.kind === 'component-place' ? place.component : place.member.name
      return base && this.#opaque(`.${part}`, [base])
    }
    if (place.kind !== 'variable') return undefined
    const { variable } = place
    if (variable.kind === 'module-variable')
      return variable.space === 'uniform' ? atom(`v${variable.id}`, variable.id) : undefined
    for (const [loop, c] of this.counted)
      if (c.variable === variable) return sum(c.from, { ...nothing, loops: new Map([[loop, c.step]]) }, 1)
    if (this.#addressed.has(variable.id)) return undefined
    return { ...atom(`v${variable.id}`, variable.id), isMutable: this.#assigned.has(variable.id) }
  }

  /** What an operation makes of its operands, of which only equality is known. */
  #opaque(operation: string, operands: readonly IndexForm[]): IndexForm | undefined {
    if (operands.some((o) => o.loops.size > 0)) return undefined
    const parts = operands.map((o) => `${o.constant}+${keyOf(o.atoms)}`)
    return {
      constant: 0,
      atoms: new Map([[`${operation}(${parts.join('; ')})`, 1]]),
      loops: new Map(),
      depends: new Set(operands.flatMap((o) => [...o.depends])),
      isMutable: operands.some((o) => o.isMutable),
    }
  }
}

function atom(key: string, id: number): IndexForm {
  return { ...nothing, atoms: new Map([[key, 1]]), depends: new Set([id]) }
}

function isConstant(form: IndexForm): boolean {
  return form.atoms.size === 0 && form.loops.size === 0
}

function isInteger(e: Expression): boolean {
  const type = e.type
  return type?.kind === 'scalar' && (type.scalar === 'i32' || type.scalar === 'u32')
}

function typeName(e: Expression): string {
  const type = e.type
  if (type?.kind === 'scalar') return type.scalar
  return type?.kind === 'vector' ? `${type.scalar}${type.size}` : ''
}

function keyOf(atoms: ReadonlyMap<string, number>): string {
  return [...atoms]
    .map(([key, coefficient]) => `${coefficient}*${key}`)
    .sort()
    .join('+')
}

function scaled(form: IndexForm, by: number): IndexForm {
  return {
    ...form,
    constant: Math.imul(form.constant, by) >>> 0,
    atoms: combined(new Map(), form.atoms, by),
    loops: combined(new Map(), form.loops, by),
  }
}

function sum(a: IndexForm, b: IndexForm, sign: 1 | -1): IndexForm {
  return {
    constant: (a.constant + Math.imul(b.constant, sign)) >>> 0,
    atoms: combined(a.atoms, b.atoms, sign),
    loops: combined(a.loops, b.loops, sign),
    depends: new Set([...a.depends, ...b.depends]),
    isMutable: a.isMutable || b.isMutable,
  }
}

function combined<K>(a: ReadonlyMap<K, number>, b: ReadonlyMap<K, number>, by: number): Map<K, number> {
  const result = new Map(a)
  for (const [key, coefficient] of b) {
    const total = ((result.get(key) ?? 0) + Math.imul(coefficient, by)) >>> 0
    if (total === 0) result.delete(key)
    else result.set(key, total)
  }
  return result
}
