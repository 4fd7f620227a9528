import type { Expression } from '../ir.ts'
import { Random } from './random.ts'
import { formsIn } from './random-calls.ts'
import {
  bool,
  composites,
  hasStraightFlow,
  i32,
  type Kind,
  type RandomSubgroups,
  type RandomType,
  randomHalves,
  u32,
  vectorOf,
} from './random-types.ts'

/** A variable in scope. */
export interface Variable {
  readonly name: string
  readonly type: RandomType
  readonly isMutable: boolean
  /** Whether it has the same value in all invocations of the workgroup. */
  readonly isUniform?: boolean
  /** The greatest possible value. */
  readonly most?: number
  /** The expression for its value, if that is not its name. */
  readonly as?: string
  /** A pointer parameter, passed on as `p`. */
  readonly isPointer?: boolean
}

/** A place to which values can be stored. */
export interface RandomPlace {
  readonly text: string
  readonly type: RandomType
  readonly isComponent?: boolean
}

/** Writes random expressions over the variables in scope. */
export class RandomExpressions extends Random {
  readonly subgroups: RandomSubgroups
  readonly hasHalves: boolean
  readonly isStraight: boolean
  variables: Variable[] = []
  readonly functions: { readonly name: string; readonly kind: Kind }[] = []
  #names = 0
  /** The current depth of nested calls, which would make kernels long. */
  #calls = 0

  constructor(seed: number, subgroups: RandomSubgroups) {
    super(seed)
    this.subgroups = subgroups
    this.hasHalves = randomHalves(seed)
    this.isStraight = hasStraightFlow(seed)
  }

  name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** A u32 that depends on all of a variable. */
  digest(text: string, type: RandomType): string {
    if (type.members !== undefined)
      return type.members
        .map((m, k) => `${this.digest(`${text}.${m.name}`, m.type)} * ${k * 2 + 1}u`)
        .join(' + ')
    if (type.element !== undefined) {
      const { element } = type
      return Array.from(
        { length: type.length! },
        (_, k) => `${this.digest(`${text}[${k}]`, element)} * ${k * 2 + 1}u`,
      ).join(' + ')
    }
    if (type.size! > 1)
      return ['x', 'y', 'z', 'w']
        .slice(0, type.size)
        .map((c, k) => `${this.digest(`${text}.${c}`, vectorOf(type.kind!, 1))} * ${k * 2 + 1}u`)
        .join(' + ')
    return type.kind === 'u32' ? text : `u32(${text})`
  }

  /** Places of mutable variables and their parts, of a type that `fits`; one per variable. */
  places(fits: (type: RandomType) => boolean): RandomPlace[] {
    return this.variables
      .filter((v) => v.isMutable)
      .flatMap((v) => {
        const place = this.#part({ text: v.name, type: v.type })
        return fits(place.type) ? [place] : []
      })
  }

  #part(place: RandomPlace): RandomPlace {
    const { text, type } = place
    if (this.oneIn(4) && type.kind === undefined) return place
    if (type.members !== undefined) {
      const member = this.pick(type.members)
      return this.#part({ text: `${text}.${member.name}`, type: member.type })
    }
    if (type.element !== undefined)
      return this.#part({ text: `${text}[${this.index(type.length!)}]`, type: type.element })
    if (type.size! > 1 && this.oneIn(2)) {
      const component = vectorOf(type.kind!, 1)
      return this.oneIn(2)
        ? { text: `${text}[${this.index(type.size!)}]`, type: component, isComponent: true }
        : { text: `${text}.${'xyzw'[this.below(type.size!)]}`, type: component, isComponent: true }
    }
    return place
  }

  /** An index into `length` elements; one in three may be out of bounds, which clamps it. */
  index(length: number): string {
    switch (this.below(7)) {
      case 6:
        return `bounded${this.below(2)}(${this.scalar('u32')})`
      case 0:
      case 1:
        return `${this.below(length)}u`
      case 2:
        return this.scalar(this.pick(['u32', 'i32'] as const))
      case 3:
        return `(${this.scalar('i32')} + ${this.expression(i32, 1)})`
      case 4:
        return `min(${this.scalar('u32')}, ${length - 1 + this.below(2)}u)`
      default:
        return `((${this.scalar('u32')} ^ ${this.expression(u32, 1)}) % ${length}u)`
    }
  }

  /** A condition with the same value in all invocations of a workgroup. */
  uniformCondition(): string {
    const found = this.variables.filter((v) => v.isUniform)
    const v = this.pick(found)
    const value = v.as ?? v.name
    return `${value} ${this.pick(['<', '>', '!=', '=='])} ${v.type.kind === 'u32' ? `${this.below(6)}u` : `${this.below(9) - 4}i`}`
  }

  /** A scalar that is not a constant, so that the rules for constants do not apply. */
  scalar(kind: 'u32' | 'i32'): string {
    const found = this.variables.filter((v) => v.type.kind === kind && v.type.size === 1)
    if (found.length === 0) return kind === 'i32' ? 'i32(state)' : 'state'
    const v = this.pick(found)
    return v.as ?? v.name
  }

  /** Small whole numbers, so that sums and products of a few of them are exact. */
  smallFloat(type: RandomType): string {
    const one = () => `f32(${this.scalar('u32')} & 7u)`
    return type.size === 1 ? one() : `vec${type.size}f(${Array.from({ length: type.size! }, one).join(', ')})`
  }

  /** A value of a structure, array or matrix. */
  composite(type: RandomType): string {
    const same = this.variables.filter((v) => v.type === type)
    if (same.length > 0 && this.oneIn(3)) return this.pick(same).name
    if (this.oneIn(6)) return `${type.name}()`
    const part = (t: RandomType): string =>
      t.kind === undefined ? this.composite(t) : t.kind === 'f32' ? this.smallFloat(t) : this.expression(t, 1)
    if (type.members !== undefined) return `${type.name}(${type.members.map((m) => part(m.type)).join(', ')})`
    return `${type.name}(${Array.from({ length: type.length! }, () => part(type.element!)).join(', ')})`
  }

  /** An expression of a scalar or vector of integers or bools. */
  expression(type: RandomType, depth: number): string {
    const kind = type.kind as Kind
    const size = type.size!
    if (depth <= 0) {
      const same = this.variables.filter((v) => v.type === type)
      if (same.length > 0 && !this.oneIn(4)) {
        const v = this.pick(same)
        return v.as ?? v.name
      }
      return size === 1 ? this.#literal(kind) : `${type.name}(${this.expression(vectorOf(kind, 1), 0)})`
    }
    if (size > 1) return this.#vector(kind, size as 2 | 3 | 4, depth)
    return kind === 'bool' ? this.#bool(depth) : this.#integer(kind, depth)
  }

  #literal(kind: Kind): string {
    if (kind === 'bool') return this.pick(['true', 'false'])
    if (kind === 'u32')
      return `${this.pick([0, 1, 2, 3, 7, 31, 32, 255, 65536, 2147483648, 4294967295, this.below(1000)])}u`
    return `i32(${this.pick([0, 1, -1, 2, -7, 31, 255, -65536, 2147483647, -2147483648, this.below(1000) - 500])})`
  }

  #vector(kind: Kind, size: 2 | 3 | 4, depth: number): string {
    const type = vectorOf(kind, size)
    const e = (t = type) => this.expression(t, depth - 1)
    if (this.oneIn(8))
      return kind === 'bool' ? `!(${e()})` : `${this.pick(kind === 'i32' ? ['-', '~'] : ['~'])}${e()}`
    if (kind !== 'bool' && this.oneIn(8)) {
      const amount = `vec${size}u(${this.scalar('u32')})`
      return this.oneIn(2)
        ? `(${e()} ${this.pick(['<<', '>>'])} ${amount})`
        : `(${e()} ${this.pick(['/', '%'])} ${type.name}(${this.scalar(kind)}))`
    }
    if (kind !== 'bool' && this.oneIn(8)) return `(${e()} ${this.pick(['+', '-', '*'])} ${this.scalar(kind)})`
    switch (this.below(6)) {
      case 0:
        return `${type.name}(${Array.from({ length: size }, () => e(vectorOf(kind, 1))).join(', ')})`
      case 1:
        return `(${e()} ${this.pick(kind === 'bool' ? ['&', '|'] : ['+', '-', '*', '^', '&'])} ${e()})`
      case 2:
        return `select(${e()}, ${e()}, ${e(vectorOf('bool', this.oneIn(2) ? 1 : size))})`
      case 3: {
        const of = this.variables.filter((v) => v.type.kind === kind && v.type.size! > 1)
        if (of.length === 0) return e()
        const v = this.pick(of)
        return `${v.name}.${Array.from({ length: size }, () => 'xyzw'[this.below(v.type.size!)]).join('')}`
      }
      case 4:
        if (kind === 'bool')
          return `(${e(vectorOf('i32', size))} ${this.pick(['<', '>=', '==', '!='])} ${e(vectorOf('i32', size))})`
        return `${this.pick(['min', 'max'])}(${e()}, ${e()})`
      default: {
        if (kind === 'bool') return `!${e()}`
        const other = kind === 'u32' ? 'i32' : 'u32'
        return `${type.name}(${e(vectorOf(other, size))} | vec${size}<${other}>(${this.scalar(other)}))`
      }
    }
  }

  #bool(depth: number): string {
    const e = (type: RandomType) => this.expression(type, depth - 1)
    if (this.oneIn(8)) return `bool(${this.oneIn(2) ? e(u32) : this.smallFloat(vectorOf('f32', 1))})`
    if (this.oneIn(8))
      return `(${e(bool)} ${this.pick(['&&', '||'])} (${this.call('u32') ?? e(u32)} > ${this.below(9)}u))`
    switch (this.below(6)) {
      case 0:
        return `(${e(bool)} ${this.pick(['&&', '||'])} ${e(bool)})`
      case 1:
        return `!${e(bool)}`
      case 2:
        return `(${e(bool)} ${this.pick(['==', '!=', '&', '|'])} ${e(bool)})`
      case 3:
        return `${this.pick(['any', 'all'])}(${e(vectorOf('bool', this.pick([2, 3, 4] as const)))})`
      default: {
        const type = this.pick([u32, i32])
        return `(${e(type)} ${this.pick(['<', '<=', '>', '>=', '==', '!='])} ${e(type)})`
      }
    }
  }

  /** A part of a variable, of type `kind`: through members, elements in and out of bounds, and components. */
  read(kind: 'u32' | 'i32'): string | undefined {
    const found = this.variables.filter((v) => v.type.kind === undefined || v.type.size! > 1)
    if (found.length === 0) return undefined
    let { text, type } = { text: this.pick(found).name, type: undefined as RandomType | undefined }
    type = found.find((v) => v.name === text)!.type
    while (type.size !== 1) {
      if (type.members !== undefined) {
        const member: { name: string; type: RandomType } = this.pick(type.members)
        text += `.${member.name}`
        type = member.type
      } else {
        text += `[${this.index(type.length ?? type.size!)}]`
        type = type.element ?? vectorOf(type.kind!, 1)
      }
    }
    if (type.kind === kind) return text
    return type.kind === 'bool' || type.kind === 'u32' || type.kind === 'i32'
      ? `${kind}(${text})`
      : `${kind}(${text} * 2.0)`
  }

  /** A call of a function of the module. */
  call(kind: 'u32' | 'i32'): string | undefined {
    const callable = this.functions.filter((f) => f.kind === kind)
    const pointed = this.variables.filter(
      (v) => v.type === u32 && v.isMutable && (v.isPointer || /^[vw]\d/.test(v.name)),
    )
    if (callable.length === 0 || pointed.length === 0 || this.#calls > 1) return undefined
    this.#calls++
    const v = this.pick(pointed)
    const text = `${this.pick(callable).name}(${this.expression(u32, 1)}, ${this.expression(i32, 1)}, ${v.isPointer ? 'p' : `&${v.name}`})`
    this.#calls--
    return text
  }

  #integer(kind: 'u32' | 'i32', depth: number): string {
    const form = drawn(this, expressionForms)
    return (
      form.write?.(this, kind, depth) ??
      `(${this.expression(vectorOf(kind, 1), depth - 1)} + ${this.scalar(kind)})`
    )
  }
}

/** A form, its weight among other forms, and the function that writes it. */
export interface WeightedForm<Write> {
  readonly weight: number
  readonly write: Write
}

/** Chooses one of the forms, by weight. */
export function drawn<Write>(
  random: Random,
  forms: Readonly<Record<string, WeightedForm<Write>>>,
): WeightedForm<Write> {
  const all = Object.values(forms)
  let at = random.below(all.reduce((sum, { weight }) => sum + weight, 0))
  return all.find(({ weight }) => {
    at -= weight
    return at < 0
  })!
}

/**
 * Writes a scalar of a kind as an expression whose outermost parts have a form; undefined if the variables in
 * scope do not allow it.
 */
type WriteInteger = (w: RandomExpressions, kind: 'u32' | 'i32', depth: number) => string | undefined

const converted = (kind: 'u32' | 'i32', text: string) => (kind === 'u32' ? text : `i32(${text})`)
const smaller = (w: RandomExpressions, kind: 'u32' | 'i32', depth: number) =>
  w.expression(vectorOf(kind, 1), depth - 1)

/** How random kernels write each kind of expression. */
export const expressionForms: Readonly<Record<Expression['kind'], WeightedForm<WriteInteger>>> = {
  literal: { weight: 1, write: (w, kind) => w.expression(vectorOf(kind, 1), 0) },
  zero: { weight: 1, write: (w, kind) => `${w.pick(integerArrays)}()[${w.index(3)}]`.replace('KIND', kind) },
  splat: {
    weight: 1,
    write: (w, kind, depth) =>
      `(vec3<${kind}>(${smaller(w, kind, depth)}) ^ vec3<${kind}>(${w.scalar(kind)})).y`,
  },
  construct: {
    weight: 1,
    write(w, kind, depth) {
      const [a, b] = [smaller(w, kind, depth), w.scalar(kind)]
      return w.pick([
        `array<${kind}, 2>(${a}, ${b})[${w.index(2)}]`,
        `vec2<${kind}>(${a}, ${b})[${w.index(2)}]`,
      ])
    },
  },
  convert: {
    weight: 1,
    write(w, kind) {
      const from = w.pick(['u32', 'i32', 'bool', w.hasHalves ? 'f16' : 'f32'] as const)
      if (from === 'f16')
        return `${kind}(f16(${w.smallFloat(vectorOf('f32', 1))}) * ${w.below(9)}.0h + ${w.oneIn(2) ? 'f16()' : '0.5h'})`
      if (from === 'f32') return `${kind}(${w.smallFloat(vectorOf('f32', 1))})`
      if (from === 'bool') return `${kind}(${w.expression(bool, 1)})`
      const other = kind === 'u32' ? 'i32' : 'u32'
      return `${kind}(${w.scalar(other)} ^ ${w.expression(vectorOf(other, 1), 1)})`
    },
  },
  bitcast: {
    weight: 1,
    write(w, kind) {
      if (w.oneIn(3)) return `bitcast<${kind}>(${w.smallFloat(vectorOf('f32', 1))})`
      const other = kind === 'u32' ? 'i32' : 'u32'
      return w.oneIn(2)
        ? `bitcast<${kind}>(${w.expression(vectorOf(other, 1), 1)})`
        : `bitcast<vec3<${kind}>>(${w.expression(vectorOf(other, 3), 1)}).${w.pick(['x', 'y', 'z'])}`
    },
  },
  value: { weight: 1, write: (w, kind) => w.scalar(kind) },
  constant: {
    weight: 1,
    write: (w, kind) => (kind === 'i32' ? `constants[${w.index(4)}]` : `u32(constants[${w.index(4)}])`),
  },
  load: {
    weight: 3,
    write: (w, kind) => w.read(kind) ?? (kind === 'u32' ? `values[${w.index(16)}]` : undefined),
  },
  'address-of': {
    weight: 1,
    write: (w, kind) =>
      converted(
        kind,
        w.pick([
          'arrayLength(&values)',
          'arrayLength(&tailed.rest)',
          'arrayLength(bufferView<array<u32>>(&bytes, 8u))',
          'bufferLength(&bytes)',
          `from_storage(&values, ${w.scalar('u32')})`,
          `from_uniform(&limits, ${w.scalar('u32')})`,
          `from_private(&place.d[${w.index(2)}], ${w.scalar('u32')})`,
          `from_tailed(&tailed, ${w.scalar('u32')})`,
          `from_bytes(&bytes, ${w.scalar('u32')})`,
          `bufferView<array<u32>>(&bytes, ${w.pick(['8u', '0u', w.scalar('u32')])})[${w.index(9)}]`,
          `bufferView<Tailed>(&bytes, ${w.pick(['0u', '16u'])}).rest[${w.index(9)}]`,
          `bufferArrayView<array<vec2u>>(&bytes, 8u, ${w.pick(['16u', '40u'])})[${w.index(4)}].y`,
        ]),
      ),
  },
  member: {
    weight: 1,
    write: (w, kind) =>
      converted(
        kind,
        w.pick([
          `u32(${w.composite(composites[4]!)}.a)`,
          `${w.composite(composites[5]!)}.c`,
          `frexp(${w.smallFloat(vectorOf('f32', 1))} + 1.0).exp`.replace(/^(.*)$/, 'u32($1)'),
        ]),
      ),
  },
  index: {
    weight: 1,
    write(w, kind) {
      const [array, matrix] = [composites[kind === 'u32' ? 0 : 1]!, composites[6]!]
      if (w.oneIn(4)) {
        const parts = Array.from({ length: 6 }, () => w.smallFloat(vectorOf('f32', 1)))
        return `${kind}((${w.pick(['-1.0 * ', '', '2.0 * '])}mat3x2f(${parts.join(', ')}) * ${w.smallFloat(vectorOf('f32', 3))})[${w.index(2)}])`
      }
      if (w.oneIn(3)) return `${kind}(${w.composite(matrix)}[${w.index(2)}][${w.index(3)}])`
      return `${w.composite(array)}[${w.index(array.length!)}]`
    },
  },
  swizzle: {
    weight: 1,
    write(w, kind) {
      const vector = w.expression(vectorOf(kind, w.pick([2, 3, 4] as const)), 1)
      return w.oneIn(2) ? `${vector}.${w.pick(['x', 'y'])}` : `${vector}.yx.${w.pick(['x', 'y'])}`
    },
  },
  unary: {
    weight: 1,
    write: (w, kind, depth) => `${kind === 'u32' ? '~' : w.pick(['-', '~'])}${smaller(w, kind, depth)}`,
  },
  binary: {
    weight: 7,
    write(w, kind, depth) {
      const left = smaller(w, kind, depth)
      const operator = w.pick(['+', '-', '*', '+', '-', '*', '&', '|', '^', '/', '%', '<<', '>>'])
      if (operator === '/' || operator === '%') return `(${left} ${operator} ${w.scalar(kind)})`
      if (operator === '<<' || operator === '>>') return `(${left} ${operator} ${w.scalar('u32')})`
      return `(${left} ${operator} ${smaller(w, kind, depth)})`
    },
  },
  logical: {
    weight: 1,
    write: (w, kind) => `${kind}(${w.expression(bool, 1)} ${w.pick(['&&', '||'])} ${w.expression(bool, 1)})`,
  },
  'builtin-call': {
    weight: 4,
    write: (w, kind) => converted(kind, w.pick(formsIn('value'))[1].write(w)),
  },
  call: { weight: 1, write: (w, kind) => w.call(kind) },
}

const integerArrays = ['array<KIND, 3>', 'vec3<KIND>']
