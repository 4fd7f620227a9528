import { Random } from './random.ts'
import { bool, i32, type Kind, type RandomSubgroups, type RandomType, u32, vectorOf } from './random-types.ts'

/** A variable in scope. */
export interface Variable {
  readonly name: string
  readonly type: RandomType
  readonly isMutable: boolean
  /** The same in all invocations of the workgroup. */
  readonly isUniform?: boolean
  /** Its greatest value. */
  readonly most?: number
  /** How its value is written, when not by its name. */
  readonly as?: string
  /** A pointer parameter, passed on as `p`. */
  readonly isPointer?: boolean
}

/** Something that can be stored to. */
export interface RandomPlace {
  readonly text: string
  readonly type: RandomType
  readonly isComponent?: boolean
}

/** Writes random expressions over the variables in scope. */
export class RandomExpressions extends Random {
  readonly subgroups: RandomSubgroups
  variables: Variable[] = []
  readonly functions: { readonly name: string; readonly kind: Kind }[] = []
  #names = 0
  /** Calls nested in each other, which would make kernels long. */
  #calls = 0

  constructor(seed: number, subgroups: RandomSubgroups) {
    super(seed)
    this.subgroups = subgroups
  }

  name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** All of a variable as one u32. */
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

  /** Places of mutable variables and their parts; one for each variable, of a type that `fits`. */
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

  /** An index into `length` elements; one in three may be outside, which clamps. */
  index(length: number): string {
    switch (this.below(6)) {
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

  /** A condition on which all invocations of a workgroup agree. */
  uniformCondition(): string {
    const found = this.variables.filter((v) => v.isUniform)
    const v = this.pick(found)
    const value = v.as ?? v.name
    return `${value} ${this.pick(['<', '>', '!=', '=='])} ${v.type.kind === 'u32' ? `${this.below(6)}u` : `${this.below(9) - 4}i`}`
  }

  /** A scalar that is no constant, so that no rule about constants applies. */
  scalar(kind: 'u32' | 'i32'): string {
    const found = this.variables.filter((v) => v.type.kind === kind && v.type.size === 1)
    if (found.length === 0) return kind === 'i32' ? 'i32(state)' : 'state'
    const v = this.pick(found)
    return v.as ?? v.name
  }

  /** Small whole numbers, of which sums and products of a few are exact. */
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

  /** A part of a variable, of type `kind`: through members, elements in and out of range, and components. */
  #read(kind: 'u32' | 'i32'): string | undefined {
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

  #call(kind: 'u32' | 'i32'): string | undefined {
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
    const type = vectorOf(kind, 1)
    const e = () => this.expression(type, depth - 1)
    const other = kind === 'u32' ? 'i32' : 'u32'
    switch (this.below(15)) {
      case 0:
      case 1:
        return `(${e()} ${this.pick(['+', '-', '*'])} ${e()})`
      case 2:
        return `(${e()} ${this.pick(['&', '|', '^'])} ${e()})`
      case 3:
        return `(${e()} ${this.pick(['/', '%'])} ${this.scalar(kind)})`
      case 4:
        return `(${e()} ${this.pick(['<<', '>>'])} ${this.scalar('u32')})`
      case 5:
        return `${kind}(${this.scalar(other)} ^ ${this.expression(vectorOf(other, 1), 1)})`
      case 6:
        return `select(${e()}, ${e()}, ${this.expression(bool, 1)})`
      case 7:
        return this.#call(kind) ?? `(${e()} + ${e()})`
      case 8:
      case 9:
        return this.#read(kind) ?? e()
      case 10:
        return kind === 'i32' ? `constants[${this.index(4)}]` : `values[${this.index(16)}]`
      case 11: {
        const size = this.pick([2, 3, 4] as const)
        return `dot(vec${size}<${kind}>(${this.scalar(kind)}), ${this.expression(vectorOf(kind, size), depth - 1)})`
      }
      case 12:
        return kind === 'u32' ? `~${e()}` : `-${e()}`
      case 13: {
        const f = this.pick([
          'countOneBits',
          'firstLeadingBit',
          'firstTrailingBit',
          'reverseBits',
          'countLeadingZeros',
          'abs',
          'sign',
        ])
        if (f === 'sign' && kind === 'u32') return `clamp(${this.scalar('u32')}, 3u, ${9 + this.below(9)}u)`
        return `${f}(${this.scalar(kind)} ^ ${e()})`
      }
      default:
        return kind === 'u32'
          ? `extractBits(${this.scalar('u32')}, ${this.below(20)}u, ${this.below(12)}u)`
          : `min(${e()}, ${this.scalar('i32')})`
    }
  }
}
