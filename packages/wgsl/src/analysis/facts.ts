import type { Expression, LocalVariable, Place } from '../ir.ts'
import { rootOf, viewOf } from '../walk.ts'
import type { Interval } from './interval.ts'

/** A name for the value of an expression: equal keys are equal values as long as none of `variables` is assigned. */
export interface Key {
  readonly text: string
  readonly variables: readonly LocalVariable[]
}

/** Something that a condition says of a value. */
export type Fact =
  | { readonly kind: 'interval'; readonly key: Key; readonly range: Interval }
  /** `key` is less than `than`. */
  | { readonly kind: 'less'; readonly key: Key; readonly than: Key }

/** The facts that hold at a place in the program. */
export class Facts {
  readonly #ranges: ReadonlyMap<string, Interval>
  readonly #less: ReadonlySet<string>

  constructor(ranges: ReadonlyMap<string, Interval> = new Map(), less: ReadonlySet<string> = new Set()) {
    this.#ranges = ranges
    this.#less = less
  }

  /** These facts and those of `added` about variables that do not change where the facts are to hold. */
  with(added: readonly Fact[], changes: (variable: LocalVariable) => boolean): Facts {
    const lasting = added.filter((f) => {
      const variables = f.kind === 'less' ? [...f.key.variables, ...f.than.variables] : f.key.variables
      return !variables.some(changes)
    })
    if (lasting.length === 0) return this
    const ranges = new Map(this.#ranges)
    const less = new Set(this.#less)
    for (const f of lasting) {
      if (f.kind === 'less') less.add(`${f.key.text}<${f.than.text}`)
      else {
        const known = ranges.get(f.key.text)
        ranges.set(
          f.key.text,
          known === undefined
            ? f.range
            : { low: Math.max(known.low, f.range.low), high: Math.min(known.high, f.range.high) },
        )
      }
    }
    return new Facts(ranges, less)
  }

  range(key: Key): Interval | undefined {
    return this.#ranges.get(key.text)
  }

  isLess(key: Key, than: string): boolean {
    return this.#less.has(`${key.text}<${than}`)
  }
}

/**
 * Makes keys; lets stand for their definitions where those cannot change. A key names the parts of its expression by number, so that
 * it stays short where lets are used several times.
 */
export class Keys {
  readonly #numbers = new Map<string, number>()
  readonly #definitions = new Map<number, Expression>()
  readonly #known = new Map<Expression, Key | undefined>()

  define(letId: number, value: Expression): void {
    this.#definitions.set(letId, value)
  }

  definition(letId: number): Expression | undefined {
    return this.#definitions.get(letId)
  }

  of(e: Expression): Key | undefined {
    if (this.#known.has(e)) return this.#known.get(e)
    const key = this.#make(e)
    this.#known.set(e, key)
    return key
  }

  /** Component `c` of a vector. */
  component(e: Expression, c: number): Key | undefined {
    if (e.kind === 'swizzle') return this.component(e.base, e.components[c]!)
    if (e.kind === 'splat') return this.of(e.value)
    if (e.kind === 'construct' && e.type.kind === 'vector') {
      let at = c
      for (const a of e.args) {
        const size = a.type?.kind === 'vector' ? a.type.size : 1
        if (at < size) return size === 1 ? this.of(a) : this.component(a, at)
        at -= size
      }
    }
    if (e.kind === 'value' && e.value.kind === 'let-value') {
      const definition = this.#definitions.get(e.value.id)
      if (definition !== undefined) {
        const key = this.component(definition, c)
        if (key !== undefined && key.variables.length === 0) return key
      }
    }
    const base = this.of(e)
    return base && this.#numbered(`${base.text}.${c}`, base.variables)
  }

  #make(e: Expression): Key | undefined {
    switch (e.kind) {
      case 'literal':
        return { text: `${e.value}`, variables: [] }
      case 'value': {
        if (e.value.kind === 'let-value') {
          const definition = this.#definitions.get(e.value.id)
          const key = definition === undefined ? undefined : this.of(definition)
          if (key !== undefined && key.variables.length === 0) return key
        }
        return { text: `$${e.value.id}`, variables: [] }
      }
      case 'swizzle':
        return e.components.length === 1 ? this.component(e.base, e.components[0]!) : undefined
      case 'load':
        return this.#place(e.place)
      case 'convert':
      case 'bitcast':
      case 'unary': {
        const value = this.of(e.value)
        const name = e.kind === 'unary' ? e.operator : `${e.kind} ${typeKey(e.type)}`
        return value && this.#numbered(`${name}(${value.text})`, value.variables)
      }
      case 'binary': {
        const left = this.of(e.left)
        const right = this.of(e.right)
        return (
          left &&
          right &&
          this.#numbered(`${left.text}${e.operator}${right.text}`, [...left.variables, ...right.variables])
        )
      }
      case 'builtin-call': {
        if (e.name === 'arrayLength') {
          const address = e.args[0]!
          if (address.kind !== 'address-of' || viewOf(address.place) !== undefined) return undefined
          const root = rootOf(address.place)
          return root.kind === 'variable' ? { text: lengthKey(root.variable.id), variables: [] } : undefined
        }
        if (e.name !== 'min' && e.name !== 'max' && e.name !== 'clamp') return undefined
        const args = e.args.map((a) => this.of(a))
        if (args.some((a) => a === undefined)) return undefined
        return this.#numbered(
          `${e.name}(${args.map((a) => a!.text)})`,
          args.flatMap((a) => a!.variables),
        )
      }
      default:
        return undefined
    }
  }

  #numbered(text: string, variables: readonly LocalVariable[]): Key {
    const number = this.#numbers.get(text) ?? this.#numbers.size
    this.#numbers.set(text, number)
    return { text: `#${number}`, variables }
  }

  #place(place: Place): Key | undefined {
    switch (place.kind) {
      case 'variable': {
        const v = place.variable
        if (v.kind === 'local-variable') return { text: `$${v.id}`, variables: [v] }
        const constant = v.space === 'uniform' || (v.space === 'storage' && v.access === 'read')
        return constant ? { text: `$${v.id}`, variables: [] } : undefined
      }
      case 'member-place': {
        const base = this.#place(place.base)
        return base && this.#numbered(`${base.text}.m${place.member.index}`, base.variables)
      }
      case 'component-place': {
        const base = this.#place(place.base)
        return base && this.#numbered(`${base.text}.${place.component}`, base.variables)
      }
      case 'index-place': {
        const base = this.#place(place.base)
        const index = this.of(place.index)
        return (
          base &&
          index &&
          this.#numbered(`${base.text}[${index.text}]`, [...base.variables, ...index.variables])
        )
      }
      default:
        return undefined
    }
  }
}

/** The key of a runtime-sized array's length. */
export function lengthKey(variableId: number): string {
  return `length $${variableId}`
}

function typeKey(type: Expression['type']): string {
  return type?.kind === 'scalar'
    ? type.scalar
    : type?.kind === 'vector'
      ? `${type.size}${type.scalar}`
      : 'other'
}
