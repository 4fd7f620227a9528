import type { BuiltinValue } from '../ir.ts'
import { RandomExpressions, type Variable } from './random-expressions.ts'
import {
  bool,
  composites,
  hasMatrices,
  hasPartialSubgroups,
  i32,
  type RandomSubgroups,
  type RandomType,
  u32,
  vectorOf,
} from './random-types.ts'

/** How a pointer argument may be written. */
export const pointerForms = [
  ...['whole', 'constant element', 'element by position', 'element by counter', 'element by value'],
  ...['member', 'parameter', 'let'],
] as const satisfies readonly string[]
export type PointerForm = (typeof pointerForms)[number]

/** How a value is stored to memory. */
export const storeForms = ['assign', 'copy', 'compound', 'part', 'let', 'parameter', 'whole'] as const
export type StoreForm = (typeof storeForms)[number]

/** A number that is below `count` in every invocation. */
interface Position {
  readonly text: string
  readonly count: number
}

/** A workgroup variable in which each invocation has `slots` elements of its own. */
interface Shared {
  readonly name: string
  readonly element: RandomType
  readonly lengths: readonly number[]
  readonly slots: number
  /** The indices of an element of this invocation; no other invocation gets the same ones. */
  own(slot: string): string
}

/** The expression for each built-in value, and its bound for `size`, `workgroups` and 32 lanes. */
export const builtinValueForms: Readonly<
  Record<
    BuiltinValue,
    {
      readonly name: string
      readonly isVector: boolean
      readonly isUniform: boolean
      readonly ofSubgroup?: true
    }
  >
> = {
  local_invocation_id: { name: 'lid', isVector: true, isUniform: false },
  local_invocation_index: { name: 'li', isVector: false, isUniform: false },
  global_invocation_id: { name: 'gid', isVector: true, isUniform: false },
  global_invocation_index: { name: 'gi', isVector: false, isUniform: false },
  workgroup_id: { name: 'wid', isVector: true, isUniform: true },
  workgroup_index: { name: 'wi', isVector: false, isUniform: false },
  num_workgroups: { name: 'groups', isVector: true, isUniform: true },
  subgroup_invocation_id: { name: 'lane', isVector: false, isUniform: false, ofSubgroup: true },
  subgroup_size: { name: 'lanes', isVector: false, isUniform: false, ofSubgroup: true },
  subgroup_id: { name: 'sid', isVector: false, isUniform: false, ofSubgroup: true },
  num_subgroups: { name: 'subgroups', isVector: false, isUniform: false, ofSubgroup: true },
}

const elementTypes = [
  ...[
    u32,
    u32,
    i32,
    vectorOf('u32', 4),
    vectorOf('u32', 4),
    vectorOf('u32', 4),
    vectorOf('i32', 2),
    vectorOf('u32', 3),
  ],
  ...[vectorOf('bool', 1), composites[4]!, composites[6]!, composites[0]!],
]

type Size = readonly [x: number, y: number, z: number]

const sizes: readonly Size[] = [
  ...([
    [1, 1, 1],
    [3, 1, 1],
    [16, 1, 1],
    [33, 1, 1],
    [1, 8, 1],
  ] as const),
  ...([
    [4, 4, 1],
    [8, 2, 1],
    [2, 3, 4],
    [2, 2, 2],
  ] as const),
]
/** Whole subgroups of 32. */
const sizesOfSubgroups: readonly Size[] = [
  [32, 1, 1],
  [64, 1, 1],
  [8, 4, 1],
  [4, 4, 2],
  [2, 16, 1],
]

/** The last subgroup has only a few lanes, in whole quads. */
const sizesOfPartialSubgroups: readonly Size[] = [
  [40, 1, 1],
  [36, 1, 1],
  [8, 5, 1],
  [4, 3, 1],
]

/** The sizes for kernels that multiply subgroup matrices. */
const sizesOfMatrices: readonly Size[] = [
  [32, 1, 1],
  [64, 1, 1],
]

/** The most bytes of workgroup memory that `RandomMemory` uses; every device has at least 16,384. */
const mostBytes = 6144

/**
 * Writes accesses to workgroup memory, without data races: between two barriers, an invocation stores to its
 * own elements, and the others read them after the next barrier. The owner of an element follows from
 * positions in the workgroup, combined in all ways that keep invocations apart.
 */
export class RandomMemory extends RandomExpressions {
  readonly size: Size
  readonly workgroups: Size
  /** Whether the entry point receives the built-in values as a structure, none of whose members is uniform. */
  readonly isInputStructure: boolean
  /** Declarations of module scope. */
  readonly declarations: string[] = []
  #bytes = 0
  #turn: number | undefined

  constructor(seed: number, subgroups: RandomSubgroups) {
    super(seed, subgroups)
    const ofSubgroups = hasPartialSubgroups(seed)
      ? sizesOfPartialSubgroups
      : hasMatrices(seed)
        ? sizesOfMatrices
        : sizesOfSubgroups
    this.size = this.pick(subgroups === 'none' ? sizes : ofSubgroups)
    this.isInputStructure = this.oneIn(4)
    this.workgroups = this.pick([
      [2, 1, 1],
      [2, 1, 1],
      [1, 2, 1],
      [1, 1, 2],
    ] as const)
  }

  /** Returns one of the choices; consecutive calls return different ones. */
  next<T>(choices: readonly T[]): T {
    this.#turn = (this.#turn ?? this.below(choices.length)) + 7
    return choices[this.#turn % choices.length]!
  }

  get threads(): number {
    return this.size[0] * this.size[1] * this.size[2]
  }

  /** The built-in values that the entry point receives, as variables. */
  builtinVariables(): Variable[] {
    return Object.values(builtinValueForms).flatMap(({ name, isVector, isUniform, ofSubgroup }) => {
      if (ofSubgroup && this.subgroups !== 'of-32') return []
      const names = isVector ? ['x', 'y', 'z'].map((c) => `${name}.${c}`) : [name]
      return names.map(
        (n): Variable => ({
          name: n,
          type: u32,
          isMutable: false,
          isUniform: isUniform && !this.isInputStructure,
        }),
      )
    })
  }

  /** Built-in values and data as small numbers. */
  #position(isLocalWanted = false): Position {
    const [x, y, z] = this.size
    const counts: Record<string, number> = {
      ...{ 'lid.x': x, 'lid.y': y, 'lid.z': z, li: this.threads },
      ...{ 'wid.x': this.workgroups[0], 'wid.y': this.workgroups[1], 'wid.z': this.workgroups[2], wi: 2 },
      ...{ lane: 32, sid: Math.ceil(this.threads / 32) },
    }
    // Mostly positions in the workgroup that differ, because rules about elements depend on them.
    const local = ['lid.x', 'lid.y', 'lid.z', 'li', ...(this.subgroups === 'of-32' ? ['lane', 'sid'] : [])]
    const isLocal = this.threads > 1 && (isLocalWanted || this.oneIn(2))
    const text = isLocal
      ? this.pick(local.filter((name) => counts[name]! > 1))
      : this.oneIn(6)
        ? this.scalar('u32')
        : this.pick(this.builtinVariables()).name
    const count = counts[text]
    if (count !== undefined && (count <= 33 || this.oneIn(2))) return { text, count }
    const limit = 2 + this.below(4)
    return { text: this.oneIn(2) ? `(${text} % ${limit}u)` : `min(${text}, ${limit - 1}u)`, count: limit }
  }

  /** Positions that are different for any two invocations of a workgroup. */
  #distinct(isTidy = false): Position[] {
    const [x, y, z] = this.size
    const { threads } = this
    const odd = [1, 3, 5, 7, 11].filter((n) => threads % n !== 0 || n === 1)
    const choices: (() => Position[])[] = [
      () => [{ text: 'li', count: threads }],
      () => [{ text: 'li', count: threads }],
      () => [{ text: `(${threads - 1}u - li)`, count: threads }],
      () => [{ text: `((li * ${this.pick(odd)}u + ${this.below(9)}u) % ${threads}u)`, count: threads }],
      () => [{ text: `(lid.x + ${x}u * (lid.y + ${y}u * lid.z))`, count: threads }],
      () => [
        { text: 'lid.x', count: x },
        { text: 'lid.y', count: y },
        { text: 'lid.z', count: z },
      ],
    ]
    if (y === 1 && z === 1)
      choices.push(
        () => [{ text: 'lid.x', count: x }],
        () => [{ text: `(gid.x % ${x}u)`, count: x }],
      )
    if (this.subgroups === 'of-32')
      choices.push(() => [
        { text: 'lane', count: 32 },
        { text: 'sid', count: Math.ceil(threads / 32) },
      ])
    if (isTidy) {
      const tidy = [0, 3, 4, 5].map((k) => choices[k]!)
      return this.pick(y === 1 && z === 1 ? [...tidy, choices[6]!] : tidy)()
    }
    return this.pick(choices)()
  }

  /** The byte length of a value in an array. */
  #stride(type: RandomType): number {
    if (type.members !== undefined) return 64
    if (type.element !== undefined) return type.length! * this.#stride(type.element)
    return type.size === 3 ? 16 : 4 * type.size!
  }

  /** A new workgroup variable; undefined if there is not enough workgroup memory. */
  #shared(element: RandomType, isTidy: boolean): Shared | undefined {
    const most = Math.floor((mostBytes - this.#bytes) / this.#stride(element))
    const distinct = this.#distinct(isTidy)
    const slots = this.pick([1, 1, 2, 3])
    const extra = Array.from({ length: this.pick(isTidy ? [0, 0, 1] : [0, 1, 1, 1, 2]) }, () =>
      this.#position(isTidy),
    )
    const terms: Position[] = [...distinct, ...(slots > 1 ? [{ text: '', count: slots }] : []), ...extra]
    const dimensions = this.pick([1, 1, 2, 2, 3])
    const parts = Array.from({ length: dimensions }, (): Position[] => [])
    // In any order, and with any number of them in one index.
    while (terms.length > 0) this.pick(parts).push(...terms.splice(this.below(terms.length), 1))
    const first = parts.map(() => (!isTidy && this.oneIn(6) ? this.below(3) : 0))
    const lengths = parts.map(
      (part, d) =>
        part.reduce((product, { count }) => product * count, 1) +
        first[d]! +
        (!isTidy && this.oneIn(3) ? this.below(3) : 0),
    )
    const count = lengths.reduce((a, b) => a * b, 1)
    if (count > most) return undefined
    this.#bytes += Math.ceil((count * this.#stride(element)) / 16) * 16
    const name = this.name('shared')
    const type = lengths.reduceRight((inner, length) => `array<${inner}, ${length}>`, element.name)
    this.declarations.push(`var<workgroup> ${name}: ${type};`)
    const signed = parts.map(() => !isTidy && this.oneIn(5))
    return {
      ...{ name, element, lengths, slots },
      own: (slot) =>
        parts
          .map((part, d) => {
            let factor = 1
            const sum = part.map(({ text, count }) => {
              const term = `${text === '' ? slot : text}${factor === 1 ? '' : ` * ${factor}u`}`
              factor *= count
              return term
            })
            if (first[d]! > 0 || sum.length === 0) sum.push(`${first[d]}u`)
            return `[${signed[d] ? `i32(${sum.join(' + ')})` : sum.join(' + ')}]`
          })
          .join(''),
    }
  }

  /** A value of any type. */
  anyValue(type: RandomType): string {
    if (type.kind === undefined) return this.composite(type)
    return type.kind === 'f32' ? this.smallFloat(type) : this.expression(type, 1)
  }

  /** Any element, in bounds or not; with `isUniform`, the same one in all invocations. */
  #any({ lengths }: Shared, isUniform = false): string {
    const uniform = this.variables.filter((v) => v.isUniform && v.type === u32).map((v) => v.name)
    return lengths
      .map((length) => {
        if (this.oneIn(3)) return `[${this.below(length)}u]`
        if (isUniform) return `[${this.pick(uniform)}${this.oneIn(2) ? ` % ${length}u` : ''}]`
        return `[${this.oneIn(2) ? this.index(length) : this.#position().text}]`
      })
      .join('')
  }

  /**
   * Stores, barriers that make them visible, and accesses. All invocations of the workgroup reach them;
   * `between` writes statements that all of them also reach, and `after` writes calls after the stores.
   */
  scenario(indent: string, between: () => string, after: () => string): string {
    // Half of them cover their variable as kernels do: without gaps, before any other access to it.
    const isTidy = this.oneIn(2)
    const types = isTidy ? elementTypes.filter((t) => t.kind !== undefined) : elementTypes
    const shared = this.#shared(this.pick(types), isTidy)
    if (shared === undefined) return between()
    const line = (text: string) => `${indent}${text}\n`
    const meet = () => line(this.#meeting())
    const isRepeated = indent.length > 2
    let text = isRepeated || this.oneIn(3) ? (this.oneIn(4) ? '' : between()) : ''
    for (let phases = this.pick([0, 1, 1, 1, 2]); phases > 0; phases--) {
      const isWhole = !isTidy && this.oneIn(8) && shared.lengths.length === 1 && shared.lengths[0]! <= 12
      text += isWhole ? line(this.#storeWhole(shared)) : this.#stores(shared, indent, isTidy)
      if (!isWhole && !isTidy && this.oneIn(4))
        text += line(this.#use(`${shared.name}${shared.own('0u')}`, shared))
      text += after()
      if (this.oneIn(4)) text += between()
      // A uniform load, or a function that waits, is itself a barrier.
      text += this.oneIn(4) ? line(this.#uniformLoad(shared)) : meet()
      if (this.oneIn(5)) text += meet()
      if (this.oneIn(3)) text += between()
      for (let k = 1 + this.below(3); k > 0; k--)
        text += line(
          this.oneIn(3) ? this.#uniformLoad(shared) : this.#use(`${shared.name}${this.#any(shared)}`, shared),
        )
      if (phases > 1 || isRepeated || this.oneIn(2)) text += line('workgroupBarrier();')
    }
    if (text === '' || this.oneIn(3)) {
      text += line('workgroupBarrier();')
      text += line(this.#use(`${shared.name}${this.#any(shared)}`, shared))
      text += line('workgroupBarrier();')
    }
    return text
  }

  /** A statement that ends with a barrier for workgroup memory. */
  #meeting(): string {
    return this.pick([
      'workgroupBarrier();',
      'workgroupBarrier();',
      'storageBarrier(); workgroupBarrier();',
      'textureBarrier(); workgroupBarrier();',
      this.isStraight ? 'workgroupBarrier();' : 'state += meet(1u);',
    ])
  }

  #stores(shared: Shared, indent: string, isTidy: boolean): string {
    const { slots, name } = shared
    const isCopied = shared.element.size === 4 && this.oneIn(2)
    const form = isCopied
      ? 'copy'
      : isTidy
        ? 'assign'
        : this.pick([
            'assign',
            'assign',
            'assign',
            'copy',
            'compound',
            'part',
            'part',
            'let',
            'parameter',
            'parameter',
          ] as const)
    const store = (slot: string, inner: string) => {
      const place = `${name}${shared.own(slot)}`
      const first = `${inner}${this.#store(form, place, shared)}\n`
      return this.oneIn(5) ? `${first}${inner}${this.#store('compound', place, shared)}\n` : first
    }
    if (slots === 1 || this.oneIn(3))
      return Array.from({ length: slots }, (_, k) => store(`${k}u`, indent)).join('')
    const k = this.name('k')
    const most = this.oneIn(isTidy ? 8 : 3) ? `min(limits.z, ${slots}u)` : `${slots}u`
    const leave = this.oneIn(isTidy ? 8 : 4)
      ? `${indent}  if ${this.expression(bool, 1)} { ${this.pick(['break', this.isStraight ? 'break' : 'continue'])}; }\n`
      : ''
    const body = `${store(k, `${indent}  `)}`
    if (!isTidy && !this.isStraight && this.oneIn(4))
      return `${indent}var ${k} = 0u;\n${indent}while ${k} < ${most} {\n${body}${indent}  ${k}++;\n${indent}}\n`
    if (!isTidy && !this.isStraight && this.oneIn(4))
      return `${indent}var ${k} = 0u;\n${indent}loop {\n${body}${indent}  continuing {\n${indent}    ${k} += 1u;\n${indent}    break if ${k} >= ${slots}u;\n${indent}  }\n${indent}}\n`
    return `${indent}for (var ${k} = 0u; ${k} < ${most}; ${k}++) {\n${leave}${body}${indent}}\n`
  }

  #store(form: StoreForm, place: string, shared: Shared): string {
    const { element } = shared
    const { kind, size } = element
    const value = () => this.anyValue(element)
    switch (form) {
      case 'copy':
        if (kind === 'u32' && size === 4)
          return `${place} = quads[${this.oneIn(2) ? `i + ${this.below(9)}u` : this.expression(u32, 1)}];`
        if (element === u32) return `${place} = values[${this.expression(u32, 1)}];`
        return `${place} = ${value()};`
      case 'compound':
        if (kind === 'bool') return `${place} |= ${value()};`
        if (kind === undefined) return `${place} = ${value()};`
        if (size === 1 && this.oneIn(3)) return `${place}${this.pick(['++', '--'])};`
        return `${place} ${this.pick(['+=', '-=', '^=', '&='])} ${value()};`
      case 'part':
        if (element.members !== undefined)
          return `${place}.${element.members[0]!.name} = ${this.anyValue(element.members[0]!.type)};`
        if (element.element !== undefined)
          return `${place}[${this.index(element.length!)}] = ${this.anyValue(element.element)};`
        if (size! > 1)
          return `${place}${this.pick(['.x', '.y', `[${this.index(size!)}]`])} = ${this.anyValue(vectorOf(kind!, 1))};`
        return this.#store('parameter', place, shared)
      case 'let': {
        const p = this.name('p')
        return `let ${p} = &${place}; *${p} = ${value()};`
      }
      case 'parameter': {
        const f = this.name('put')
        const inner = this.oneIn(3) ? 'if state == 7u { return; } ' : ''
        this.declarations.push(
          `fn ${f}(p: ptr<workgroup, ${element.name}>, v: ${element.name}) { ${inner}*p = v; }`,
        )
        return `${f}(&${place}, ${value()});`
      }
      default:
        return `${place} = ${value()};`
    }
  }

  /** Executed by one invocation. */
  #storeWhole({ name, element, lengths }: Shared): string {
    const parts = Array.from({ length: lengths[0]! }, () => this.anyValue(element))
    const type = `array<${element.name}, ${lengths[0]}>`
    return `if li == ${this.below(this.threads)}u { ${name} = ${this.oneIn(4) ? `${type}()` : `${type}(${parts.join(', ')})`}; }`
  }

  /** Reads an element into the kernel's output. */
  #use(place: string, { element }: Shared): string {
    const operator = this.pick(['=', '+=', '^='])
    if (this.oneIn(4)) {
      const f = this.name('get')
      this.declarations.push(`fn ${f}(p: ptr<workgroup, ${element.name}>) -> ${element.name} { return *p; }`)
      const v = this.name('g')
      return `let ${v} = ${f}(&${place}); state ${operator} ${this.digest(v, element)};`
    }
    if (this.oneIn(3)) return `state ${operator} ${this.digest(place, element)};`
    const v = this.name('e')
    return `let ${v} = ${place}; state ${operator} ${this.digest(v, element)};`
  }

  /** `workgroupUniformLoad` of all of it, of an element or of a part of one. */
  #uniformLoad(shared: Shared): string {
    const { name, element, lengths } = shared
    const v = this.name('same')
    const type = lengths.reduceRight((inner, length) => `array<${inner}, ${length}>`, element.name)
    const isSmall = lengths.reduce((a, b) => a * b, 1) <= 8
    let place = name
    let of = element
    let digest = this.digest(`${v}${lengths.map(() => '[0]').join('')}`, element)
    let ofName = type
    if (!isSmall || !this.oneIn(3)) {
      place += this.#any(shared, true)
      ofName = element.name
      if (of.members !== undefined && this.oneIn(2)) {
        const member = this.pick(of.members)
        place += `.${member.name}`
        of = member.type
        ofName = of.name
      }
      digest = this.digest(v, of)
    }
    const isPlain = of.kind !== undefined || ofName === type
    switch (this.below(4)) {
      case 0: {
        const p = this.name('p')
        return `let ${p} = &${place}; let ${v} = workgroupUniformLoad(${p}); state += ${digest};`
      }
      case 1: {
        const f = this.name('load')
        this.declarations.push(
          `fn ${f}(p: ptr<workgroup, ${ofName}>) -> ${ofName} { return workgroupUniformLoad(p); }`,
        )
        return `let ${v} = ${f}(&${place}); state += ${digest};`
      }
      case 2:
        if (isPlain && of === u32 && ofName !== type)
          return `state = state * 3u + workgroupUniformLoad(&${place});`
    }
    return `let ${v} = workgroupUniformLoad(&${place}); state += ${digest};`
  }
}
