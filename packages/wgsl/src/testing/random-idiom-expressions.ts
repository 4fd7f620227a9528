import { Random } from './random.ts'

export type Make = () => string

/** Families of idioms, and one in how many kernels has them: with halves or products, most compile with less optimization. */
const families = {
  ...{ permutation: 2, funnel: 2, products: 6, extremes: 3, field: 2, quotient: 2, bits: 2, insertion: 2 },
  ...{ floats: 2, wide: 2, lanes: 2, halves: 8 },
} as const
type Family = keyof typeof families

/** Bits of a word. */
interface Field {
  readonly position: number
  readonly width: number
}

const extremes = [0, 1, 2, 255, 256, 32767, 32768, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]
const masks = [
  ...[0xff, 0xff00, 0xff0000, 0xff000000, 0xffff, 0xffff0000, 0xff00ff, 0xff00ff00, 0xf, 0xf0f0f0f],
  ...[0x80, 0x8000, 0x80808080, 0x7f7f7f7f, 0x7fffffff, 0x80000000, 0xffffff, 0xffffff00, 0x1f, 0x55555555],
]
const divisors = [1, 2, 3, 5, 7, 10, 12, 16, 100, 255, 641, 1000, 32768, 65535, 65537, 2 ** 31 - 1]

const bitcastOf = { i32: 'bitcast<i32>', u32: 'bitcast<u32>' } as const
type Kind = keyof typeof bitcastOf

/** Random expressions of integers, made of the idioms of some families. */
export class RandomIdiomExpressions extends Random {
  /** Names of `u32`s in scope. */
  protected words: string[] = ['a', 'b', 'c', 'acc', 'li', 'n']
  /** The families of this kernel; with fewer of them, each comes together with the others more often. */
  readonly #families = (Object.keys(families) as Family[]).filter((family) => this.oneIn(families[family]))
  /** Counters of the loops around, which are below 16. */
  protected counters: string[] = []

  /** Components and elements that belong to the invocation, in storage and workgroup memory and in its own. */
  protected readonly places = {
    pair: () => `pairs[${this.#own()}]${this.#component(2)}`,
    quad: () => `quads[${this.#own()}]${this.#component(4)}`,
    local: () => `local[${this.#index(8)}]`,
    cell: () => `${this.pick(['cells', 'slots'])}[${this.first()} + (${this.#position(8)})]`,
  }

  protected choose(choices: readonly Make[]): string {
    return this.pick(choices)()
  }

  protected number(): number {
    return this.#oneOf(
      () => this.bits(),
      () => this.below(64),
      () => this.pick(extremes),
      () => this.pick(masks),
      () => 2 ** this.below(32),
      () => (2 ** 32 - 1 - this.below(300)) >>> 0,
    )
  }

  #oneOf<T>(...makes: readonly (() => T)[]): T {
    return this.pick(makes)()
  }

  protected field(): Field {
    return this.#oneOf(
      () => ({ position: 8 * this.below(4), width: 8 }),
      () => ({ position: 16 * this.below(2), width: 16 }),
      () => ({ position: 4 * this.below(8), width: 4 }),
      () => {
        const position = this.below(32)
        return { position, width: 1 + this.below(32 - position) }
      },
    )
  }

  /** A literal of the kind. */
  protected literal(kind: Kind): string {
    const value = this.number()
    if (kind === 'u32') return `${value}u`
    const signed = value | 0
    if (signed === -(2 ** 31)) return 'i32(-2147483648)'
    return signed < 0 ? `(${signed}i)` : `${signed}i`
  }

  #cast(kind: Kind, of: Kind, text: string): string {
    return kind === of ? text : `${bitcastOf[kind]}(${text})`
  }

  protected word(depth: number): string {
    return this.#value('u32', depth)
  }

  /** A name, or an element of an array. */
  protected leaf(): string {
    if (!this.oneIn(8)) return this.pick(this.words)
    return this.#oneOf(() => `table[${this.#index(8)}]${this.#component(4)}`, ...Object.values(this.places))
  }

  /** An expression of the kind in parentheses. */
  #value(kind: Kind, depth: number): string {
    if (depth <= 0) return this.#leafOf(kind)
    const other = kind === 'u32' ? 'i32' : 'u32'
    const less = () => this.#value(kind, depth - 1)
    const operator = () => this.pick(['+', '-', '*', '&', '|', '^'])
    const plain: Make[] = [
      () => `(${less()} ${operator()} ${less()})`,
      () => `(${less()} ${operator()} ${this.literal(kind)})`,
      () => `(${less()} ${this.pick(['<<', '>>'])} ${this.#amount()})`,
      () => this.#cast(kind, other, this.#value(other, depth - 1)),
      () => `select(${less()}, ${less()}, ${this.condition(depth - 1)})`,
      () => `${kind}(${this.condition(depth - 1)})`,
      () => (kind === 'i32' ? `(-${less()})` : `(~${less()})`),
      () => this.#leafOf(kind),
    ]
    const ofFamily: Readonly<Record<Family, Make>> = {
      permutation: () => this.#cast(kind, 'u32', this.#permutation(depth - 1)),
      funnel: () => this.#cast(kind, 'u32', this.#funnel(depth - 1)),
      products: () => this.#products(kind, depth - 1),
      extremes: () => this.#extremes(kind, depth - 1),
      field: () => this.fieldOf(kind, this.word(depth - 1), this.field()),
      quotient: () => this.#quotient(kind, depth - 1),
      bits: () => this.#bits(kind, depth - 1),
      insertion: () => this.#insertion(kind, depth - 1),
      floats: () => this.#converted(kind),
      wide: () => this.#cast(kind, 'u32', this.#wide()),
      lanes: () => this.#cast(kind, 'u32', this.#lanes(depth - 1)),
      halves: () => this.#cast(kind, 'u32', this.#halves()),
    }
    return this.choose([...plain, ...this.#families.flatMap((f) => [ofFamily[f], ofFamily[f]])])
  }

  #leafOf(kind: Kind): string {
    return this.#cast(kind, 'u32', this.leaf())
  }

  /** The bits of a field, with its sign or without, in one of the ways to write them. */
  protected fieldOf(kind: Kind, word: string, field: Field): string {
    const { position, width } = field
    const isSigned = kind === 'i32' ? !this.oneIn(3) : this.oneIn(5)
    const left = 32 - position - width
    const top = 32 - width
    const mask = 2 ** width - 1
    const choices: Make[] = isSigned
      ? [
          () => `extractBits(bitcast<i32>(${word}), ${position}u, ${width}u)`,
          () => `((bitcast<i32>(${word}) << ${left}u) >> ${top}u)`,
          () => `(bitcast<i32>((${word} >> ${position}u) << ${top}u) >> ${top}u)`,
        ]
      : [
          () => `((${word} >> ${position}u) & ${mask}u)`,
          () => `extractBits(${word}, ${position}u, ${width}u)`,
          () => `((${word} << ${left}u) >> ${top}u)`,
          () => `((${word} & ${(mask * 2 ** position) >>> 0}u) >> ${position}u)`,
        ]
    if (width === 8 && position % 8 === 0) {
      const letter = 'xyzw'[position / 8]!
      choices.push(() => `unpack4x${isSigned ? 'I' : 'U'}8(${word}).${letter}`)
    }
    if (isSigned && width < 31) {
      const sign = 2 ** (width - 1)
      const plain = `bitcast<i32>((${word} >> ${position}u) & ${mask}u)`
      choices.push(() => `((${plain} ^ ${sign}i) - ${sign}i)`)
    }
    return this.#cast(kind, isSigned ? 'i32' : 'u32', this.choose(choices))
  }

  /** A shift amount; WGSL takes it modulo 32. */
  #amount(): string {
    return this.choose([
      () => `${this.below(32)}u`,
      () => `${8 * this.below(4)}u`,
      () => `(${this.leaf()} & 31u)`,
      () => `(${this.leaf()} & 7u)`,
      () => this.leaf(),
      () => `(32u - ${this.leaf()})`,
      () => `(${this.leaf()} >> 27u)`,
      () => `(8u * (${this.leaf()} & 3u))`,
    ])
  }

  /** Fields moved to other places and joined. */
  #permutation(depth: number): string {
    const sources = Array.from({ length: 1 + this.below(2) }, () => this.word(Math.min(depth, 1)))
    const moved = () => {
      const source = this.pick(sources)
      const place = this.pick([0, 0, 4, 8, 12, 16, 24, this.below(32)])
      return this.choose([
        () => `(${this.fieldOf('u32', source, this.field())} << ${place}u)`,
        () => `(${source} & ${this.pick(masks)}u)`,
        () => `((${source} ${this.pick(['<<', '>>'])} ${place}u) & ${this.pick(masks)}u)`,
        () => `(${source} ${this.pick(['<<', '>>'])} ${8 * this.below(4)}u)`,
        () =>
          `((${source} & ${this.pick([0xff, 0xffff, 0xf])}u) * ${this.pick([0x101, 0x10001, 0x1010101, 0x11])}u)`,
      ])
    }
    const letters = () => Array.from({ length: 4 }, () => this.pick(['x', 'y', 'z', 'w'])).join('')
    return this.choose([
      () => `(${Array.from({ length: 2 + this.below(3) }, moved).join(this.pick([' | ', ' + ', ' ^ ']))})`,
      () => `(${Array.from({ length: 2 + this.below(3) }, moved).join(' | ')})`,
      () => {
        const kind = this.pick(['U', 'I'])
        return `pack4x${kind}8(unpack4x${kind}8(${sources[0]!}).${letters()})`
      },
      () => {
        const shift = this.below(4)
        const bytes = [0, 1, 2, 3].map(
          (i) =>
            `(${this.fieldOf('u32', sources[0]!, { position: 8 * (this.oneIn(6) ? this.below(4) : (i + shift) % 4), width: 8 })} << ${8 * i}u)`,
        )
        return `(${bytes.join(' | ')})`
      },
      () => {
        const mask = this.pick(masks)
        return `((${sources[0]!} & ${mask}u) | (${sources.at(-1)!} & ${~mask >>> 0}u))`
      },
    ])
  }

  /** A rotation or another funnel shift, or nearly one. */
  #funnel(depth: number): string {
    const high = this.word(Math.min(depth, 1))
    const low = this.oneIn(2) ? high : this.word(Math.min(depth, 1))
    const n = this.below(33)
    const leaf = this.leaf()
    const by = this.pick([`${leaf}`, `(${leaf} & 31u)`, `(${leaf} & 15u)`, `(${leaf} >> 28u)`])
    const join = this.pick(['|', '|', '+', '^'])
    return this.choose([
      () =>
        `((${high} << ${n % 32}u) ${join} (${low} >> ${(this.oneIn(6) ? this.below(32) : 32 - n) & 31}u))`,
      () => `((${high} << ${by}) ${join} (${low} >> (32u - ${by})))`,
      () => `((${high} << (${by} & 31u)) ${join} ((${low} >> 1u) >> (31u - (${by} & 31u))))`,
      () => `((${high} << (31u ^ (${by} & 31u))) ${join} (${low} >> ((${by} + 1u) & 31u)))`,
      () => `select((${high} << ${by}) ${join} (${low} >> (32u - ${by})), ${high}, (${by} & 31u) == 0u)`,
    ])
  }

  /** A sum of products of fields and literals. */
  #products(kind: Kind, depth: number): string {
    const sources = Array.from({ length: 1 + this.below(2) }, () => this.word(Math.min(depth, 0)))
    const width = this.pick([4, 8, 8, 16])
    const other = this.pick([8, 16, width])
    const term = (i: number) => {
      const at = (w: number) => w * (this.oneIn(5) ? this.below(32 / w) : i % (32 / w))
      const left = this.fieldOf(kind, sources[0]!, { position: at(width), width })
      const right = this.oneIn(5)
        ? this.literal(kind)
        : this.fieldOf(kind, sources.at(-1)!, { position: at(other), width: other })
      return `${left} * ${right}`
    }
    const terms = Array.from({ length: 1 + this.below(4) }, (_, i) => term(i))
    if (this.oneIn(2)) terms.push(this.#value(kind, depth - 1))
    const bytes = () =>
      this.pick([`unpack4xI8(${sources.at(-1)!})`, `bitcast<vec4i>(unpack4xU8(${sources.at(-1)!}))`])
    return this.choose([
      () => `(${terms.join(' + ')})`,
      () => `(${terms.join(this.pick([' + ', ' - ']))})`,
      () => this.#cast(kind, 'i32', `dot(unpack4xI8(${sources[0]!}), ${bytes()})`),
      () => this.#cast(kind, 'i32', `dot4I8Packed(${sources[0]!}, ${sources.at(-1)!})`),
      () => this.#cast(kind, 'u32', `dot4U8Packed(${sources[0]!}, ${sources.at(-1)!})`),
      () =>
        `(${this.#cast(kind, 'i32', `abs(${this.#value('i32', 0)} - ${this.#value('i32', 0)})`)} + ${terms[0]!})`,
    ])
  }

  /** Smallest and largest of values, of which some are literals or negated. */
  #extremes(kind: Kind, depth: number): string {
    const less = () => (this.oneIn(3) ? this.literal(kind) : this.#value(kind, depth - 1))
    const low = this.number()
    const limits =
      kind === 'i32'
        ? [low | 0, this.number() | 0].sort((x, y) => x - y)
        : [low, this.number()].sort((x, y) => x - y)
    const [least, most] = limits.map((limit) => (kind === 'u32' ? `${limit}u` : `i32(${limit})`))
    const given = this.#value(kind, depth)
    return this.choose([
      () => `${this.pick(['min', 'max'])}(${given}, ${less()})`,
      () => `clamp(${given}, ${least}, ${most})`,
      () => `min(max(${given}, ${less()}), ${less()})`,
      () => `max(min(${given}, ${less()}), ${less()})`,
      () => `abs(${given})`,
      () => this.#cast(kind, 'i32', `(-abs(${this.#value('i32', depth)}))`),
      () => this.#cast(kind, 'i32', `sign(${this.#value('i32', depth)})`),
      () => this.#cast(kind, 'i32', `max(${this.#value('i32', 0)}, -${this.#value('i32', 0)})`),
      () => {
        const right = less()
        return `select(${given}, ${right}, ${given} ${this.pick(['<', '>', '<=', '>='])} ${right})`
      },
      () => {
        const [x, y] = [this.#leafOf(kind), this.#leafOf(kind)]
        return `select(${x} - ${y}, ${y} - ${x}, ${x} < ${y})`
      },
    ])
  }

  protected condition(depth: number): string {
    const kind = this.pick(['u32', 'i32'] as const)
    const relation = this.pick(['<', '<=', '>', '>=', '==', '!='])
    const less = () => this.#value(kind, depth - 1)
    const [x, y] = [this.leaf(), this.leaf()]
    return this.choose(
      [
        () => `(${less()} ${relation} ${less()})`,
        () => `(${less()} ${relation} ${this.literal(kind)})`,
        () =>
          `((${this.word(depth - 1)} & ${this.pick(masks)}u) ${this.pick(['==', '!='])} ${this.pick([0, 0, 1, 0x80, 0xff])}u)`,
        () => `((${x} + ${y}) ${relation} ${x})`,
        () => `((${x} - ${y}) ${relation} ${this.pick([x, y])})`,
        () => `(((${x} ^ ${y}) & 2147483648u) ${this.pick(['==', '!='])} 0u)`,
        () => `((${x} & ${y}) ${relation} ${this.pick([x, y, '0u'])})`,
        () => `((${x} ${this.pick(['<<', '>>'])} ${1 + this.below(31)}u) ${relation} ${this.literal('u32')})`,
        () => `(${this.fieldOf(kind, x, this.field())} ${relation} ${this.fieldOf(kind, y, this.field())})`,
        () =>
          `(${this.condition(Math.max(0, depth - 1))} ${this.pick(['&&', '||', '&', '|', '!='])} (${less()} ${relation} ${less()}))`,
        () => `!(${less()} ${relation} ${less()})`,
      ].slice(0, depth <= 0 ? 8 : undefined),
    )
  }

  /** A quotient or remainder, mostly of a literal. */
  #quotient(kind: Kind, depth: number): string {
    const divisor = this.pick(divisors)
    const literal =
      kind === 'u32'
        ? `${divisor}u`
        : this.oneIn(3)
          ? `(-${divisor}i)`
          : this.oneIn(12)
            ? 'i32(-2147483648)'
            : `${divisor}i`
    const by = this.oneIn(4) ? this.#value(kind, 0) : literal
    const given = this.oneIn(2) ? this.#value(kind, depth) : this.fieldOf(kind, this.leaf(), this.field())
    return this.choose([
      () => `(${given} / ${by})`,
      () => `(${given} % ${by})`,
      () => `(${given} - (${given} / ${by}) * ${by})`,
      () => `((${given} / ${by}) / ${literal})`,
      () => `(${given} * ${literal} / ${literal})`,
      () => `${kind}((${given} % ${by}) == ${kind}(${this.below(3)}))`,
    ])
  }

  #bits(kind: Kind, depth: number): string {
    const functions = [
      ...['countOneBits', 'countLeadingZeros', 'countTrailingZeros'],
      ...['firstLeadingBit', 'firstTrailingBit', 'reverseBits'],
    ]
    const given = this.#value(kind, depth)
    const x = this.#leafOf('u32')
    return this.choose([
      () => `${this.pick(functions)}(${given})`,
      () => `${this.pick(functions)}(${given} & ${this.literal(kind)})`,
      () => `(31 - ${this.pick(functions)}(${given}))`,
      () => `reverseBits(reverseBits(${given}) ${this.pick(['<<', '>>'])} ${this.below(32)}u)`,
      () => this.#cast(kind, 'u32', `(${x} & (~${x} + 1u))`),
      () =>
        this.#cast(kind, 'u32', `((${x} & (${x} - 1u)) ${this.pick(['^', '+', '|'])} (${x} | (${x} - 1u)))`),
    ])
  }

  #insertion(kind: Kind, depth: number): string {
    const { position, width } = this.field()
    const mask = 2 ** width - 1
    const moved = (mask * 2 ** position) >>> 0
    const [into, of] = [this.#value(kind, depth), this.#value(kind, Math.min(depth, 1))]
    const [i, o] = [this.#cast('u32', kind, into), this.#cast('u32', kind, of)]
    return this.choose([
      () => `insertBits(${into}, ${of}, ${position}u, ${width}u)`,
      () => `insertBits(${into}, ${of}, ${this.leaf()} & 31u, ${this.leaf()} & 7u)`,
      () => `extractBits(${into}, ${this.leaf()} & 31u, ${this.leaf()} & 31u)`,
      () => `extractBits(${into}, ${this.leaf()}, ${width}u)`,
      () => this.#cast(kind, 'u32', `((${i} & ${~moved >>> 0}u) | ((${o} & ${mask}u) << ${position}u))`),
      () => this.#cast(kind, 'u32', `((${i} & ${~moved >>> 0}u) | ((${o} << ${position}u) & ${moved}u))`),
      () => this.#cast(kind, 'u32', `(${i} ^ ((${i} ^ (${o} << ${position}u)) & ${moved}u))`),
    ])
  }

  /** Fields as floats and back; all numbers are exact. */
  #converted(kind: Kind): string {
    const small = () => {
      const width = this.pick([4, 8, 8])
      const field = { position: width * this.below(32 / width), width }
      return this.fieldOf(this.pick(['u32', 'i32'] as const), this.leaf(), field)
    }
    const literal = `${this.below(200)}`
    const whole = () => this.fieldOf('u32', this.leaf(), { position: this.below(2) * 8, width: 16 })
    const magnitude = (text: string) => (kind === 'i32' ? `i32(${text})` : `bitcast<u32>(i32(${text}))`)
    return this.choose([
      () => magnitude(`f32(${small()})`),
      () => magnitude(`f32(${small()} & 15) * f32(${small()} & 31) + ${literal}f`),
      () => magnitude(`fma(f32(${small()} & 255), ${literal}f, f32(${whole()}))`),
      () => magnitude(`max(f32(${small()}), -f32(${small()} & 127))`),
      () => magnitude(`f32(${whole()}) * ${this.pick(['0.5f', '0.25f', '2f', '-1f'])}`),
      () => magnitude(`dot(vec4f(unpack4xU8(${this.leaf()})), vec4f(1f, 2f, 3f, 4f))`),
      () => magnitude(`select(f32(${small()}), -1.5f, ${this.condition(0)})`),
    ])
  }

  /** A part of the product of two words from products of their halves, or nearly so. */
  #wide(): string {
    const [x, y] = [this.leaf(), this.leaf()]
    const low = (w: string) => this.pick([`(${w} & 65535u)`, `extractBits(${w}, 0u, 16u)`])
    const high = (w: string) => `(${w} >> 16u)`
    return this.choose([
      () =>
        `(${high(x)} * ${high(y)} + ((${high(x)} * ${low(y)}) >> 16u) + ((${low(x)} * ${high(y)}) >> 16u))`,
      () => `((${low(x)} * ${low(y)}) >> ${this.pick([8, 15, 16])}u)`,
      () => `(${low(x)} * ${low(y)} + ((${high(x)} * ${low(y)}) << 16u) + ((${low(x)} * ${high(y)}) << 16u))`,
      () => `(${x} * ${low(y)} + ((${x} * ${high(y)}) << 16u))`,
      () => `(${x} + ${y} + u32((${x} + ${y}) < ${this.pick([x, y])}))`,
      () => `(${x} - ${y} - u32(${x} < ${y}))`,
      () => `(select(0u, 1u, (${x} + ${y}) < ${x}) + select(0u, 1u, (${x} + ${y} + acc) < acc))`,
      () => `((${x} << ${this.below(16)}u) * ${this.below(100)}u + (${y} >> ${this.below(32)}u))`,
    ])
  }

  /** Words of two halves or four bytes, each computed on its own. */
  #lanes(depth: number): string {
    const [x, y] = [this.leaf(), this.word(Math.min(depth, 1))]
    const lanes = (width: number, of: (left: string, right: string) => string) => {
      const mask = 2 ** width - 1
      const lane = (i: number) => {
        const field = { position: i * width, width }
        const value = of(this.fieldOf('u32', x, field), this.fieldOf('u32', y, field))
        return `(((${value}) & ${mask}u) << ${i * width}u)`
      }
      return `(${Array.from({ length: 32 / width }, (_, i) => lane(i)).join(' | ')})`
    }
    const signed = (left: string, right: string) =>
      `bitcast<u32>(${this.pick(['min', 'max'])}(bitcast<i32>(${left} << 16u), bitcast<i32>(${right} << 16u)) >> 16u)`
    const width = this.pick([8, 16, 16])
    const most = 2 ** width - 1
    return this.choose([
      () => lanes(width, (left, right) => `min(${left} + ${right}, ${most}u)`),
      () => lanes(width, (left, right) => `(${left} + ${right} + 1u) >> 1u`),
      () => lanes(width, (left, right) => `${this.pick(['min', 'max'])}(${left}, ${right})`),
      () => lanes(width, (left, right) => `${left} ${this.pick(['+', '-', '*', '^'])} ${right}`),
      () => lanes(16, signed),
    ])
  }

  /** Words made of f16 values. */
  #halves(): string {
    const [x, y] = [this.leaf(), this.leaf()]
    const letters = this.pick(['yx', 'xx', 'yy'])
    return this.choose([
      () => `bitcast<u32>(bitcast<vec2h>(${x} & 0x3fff3fffu).${letters})`,
      () => `bitcast<vec2u>(vec4h(f16(${x} & 63u), f16(${x} >> 27u), 2h, f16(li))).${this.pick(['x', 'y'])}`,
      () =>
        `bitcast<u32>(vec2h(f16(${x} & 31u), f16(${y} & 15u)) * vec2h(3h, -1h) + vec2h(1h, f16(${y} >> 30u)))`,
      () => `u32(f16(${x} & 31u) * f16(${y} & 15u) + 3h)`,
      () => `bitcast<u32>(max(bitcast<vec2h>(${x} & 0x3bff3bffu), bitcast<vec2h>(${y} & 0x3bff3bffu)))`,
    ])
  }

  /** An index below `count`, a power of two. */
  #index(count: number): string {
    return this.oneIn(10) ? `i32(${this.#position(count)})` : this.#position(count)
  }

  #position(count: number): string {
    const most = count - 1
    const base = this.pick([...this.words.slice(0, 5), ...this.counters, ...this.counters])
    return this.choose([
      () => `${base} & ${most}u`,
      () => `${base} % ${count}u`,
      () => `(${base} >> ${this.pick([1, 2, 3, 16, 27])}u) & ${most}u`,
      () =>
        `(${base} * ${this.pick([3, 5, 7, 2 ** 32 - 1])}u + ${this.pick([1, 2, 2 ** 32 - 1, 2 ** 32 - 4])}u) & ${most}u`,
      () => `min(${base}, ${most}u)`,
      () => `${most}u - (${base} & ${most}u)`,
      () => `(${base} & ${most}u) ^ ${this.below(count)}u`,
      () => `select(${this.below(count)}u, ${base} & ${most}u, ${this.condition(0)})`,
      () => `${base} >> ${32 - Math.log2(count)}u`,
    ])
  }

  /** One of the two elements that belong to the invocation. */
  #own(): string {
    return this.choose([
      () => `2u * li`,
      () => `(li << 1u) + 1u`,
      () => `2u * li + (${this.#position(2)})`,
      () => `(li << 1u) | (${this.pick([...this.words.slice(0, 4), ...this.counters])} & 1u)`,
      () => `2u * li + (${this.pick(this.words.slice(0, 4))} >> 31u)`,
    ])
  }

  /** The first of the eight elements that belong to the invocation. */
  protected first(): string {
    return this.pick(['8u * li', '(li << 3u)', '(li * 8u)', '((li * 4u) << 1u)', '((li + li) * 4u)'])
  }

  #component(count: number): string {
    if (this.oneIn(2)) return `.${'xyzw'[this.below(count)]!}`
    return `[${this.#index(count)}]`
  }
}
