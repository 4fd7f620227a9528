import { Random } from './random.ts'
import { type Float, type Kind, type RandomType, vectorOf } from './random-types.ts'

/**
 * A random valid kernel of one invocation that copies structures, arrays, vectors and matrices, whole and in
 * part, between every address space, and passes them to functions that read them on some paths only. Indices
 * and conditions have side effects. The same seed produces the same kernel; every implementation has the same
 * results, because operations on floats are exact or correctly rounded sums.
 *
 * nvcc 13.0 has lost parts of such values, in functions that take a class by value and where a class is copied
 * as part of another one.
 */
export function randomComposites(seed: number): string {
  return new CompositeWriter(seed, seed % 4 === 2 ? 'f16' : 'f32').kernel()
}

const words = 32
const bits = '1065353216, 1073741824, 1077936128, 1082130432, 3221225472'

const u32 = vectorOf('u32', 1)
const bool = vectorOf('bool', 1)

interface Named {
  readonly name: string
  readonly type: RandomType
  readonly isMutable: boolean
}

interface Callable {
  readonly name: string
  readonly parameters: readonly RandomType[]
  readonly result: RandomType
  /** A structure that the function changes through a pointer. */
  readonly changed: RandomType | undefined
}

const isFloat = ({ kind }: RandomType) => kind === 'f32' || kind === 'f16'
const isVector = (type: RandomType) => type.size !== undefined && type.size > 1
const scalarOf = (type: RandomType) => vectorOf(type.kind!, 1)
const isMatrix = (type: RandomType) => type.name.startsWith('mat')

/** The types of the parts of a composite, with the ways to reach each. */
function partsOf(type: RandomType, index: (length: number) => string, isPlace: boolean) {
  if (type.members !== undefined) return type.members.map((m) => ({ path: `.${m.name}`, type: m.type }))
  if (type.element !== undefined) return [{ path: `[${index(type.length!)}]`, type: type.element }]
  if (!isVector(type)) return []
  const letters = [...'xyzw'].slice(0, type.size)
  const component = scalarOf(type)
  return [
    ...letters.map((letter) => ({ path: `.${letter}`, type: component })),
    { path: `[${index(type.size!)}]`, type: component },
    ...(type.size! > 2 && !isPlace ? [{ path: '.zx', type: vectorOf(type.kind!, 2) }] : []),
  ]
}

function hasBools(type: RandomType): boolean {
  if (type.kind !== undefined) return type.kind === 'bool'
  return (type.members?.map((m) => m.type) ?? [type.element!]).some(hasBools)
}

/** An expression for every scalar in a value, as `u32`. */
function scalarsOf(text: string, type: RandomType): string[] {
  if (type.size === 1) return [isFloat(type) ? `u32(i32(${text}))` : `u32(${text})`]
  const parts =
    type.members?.map((m) => scalarsOf(`${text}.${m.name}`, m.type)) ??
    Array.from({ length: type.length ?? type.size! }, (_, i) =>
      scalarsOf(`${text}[${i}]`, type.element ?? scalarOf(type)),
    )
  return parts.flat()
}

class CompositeWriter extends Random {
  readonly #structures: RandomType[] = []
  readonly #functions: Callable[] = []
  #variables: Named[] = []
  #names = 0
  readonly #float: Float

  constructor(seed: number, float: Float) {
    super(seed)
    this.#float = float
  }

  kernel(): string {
    const structures = Array.from({ length: 2 + this.below(3) }, () => this.#structure()).join('\n')
    const ofMemory = this.#structures.filter((type) => !hasBools(type))
    const stored = ofMemory.length > 0 ? this.pick(ofMemory) : u32
    const variable = (name: string): Named => ({ name, type: this.pick(this.#structures), isMutable: true })
    const privates = [0, 1].map((i) => variable(`g${i}`))
    const shared = variable('shared_part')
    const given = { name: `given[${this.below(2)}]`, type: stored, isMutable: false }
    const functions = Array.from({ length: 2 + this.below(4) }, () => this.#function()).join('\n')
    const locals = [0, 1].map((i) => variable(`w${i}`))
    const all = [...privates, shared, ...locals, { name: 'stored', type: stored, isMutable: true }]
    this.#variables = [...all, given, { name: 'k', type: u32, isMutable: true }]
    const body = this.#statements(6 + this.below(10), 2, '  ')
    const sums = all.map(({ name, type }, i) => {
      const lines = scalarsOf(name, type).map((scalar) => `    h = h * 31u + ${scalar};`)
      return `  {\n    var h = 1u;\n${lines.join('\n')}\n    out[${2 + i}] = h;\n  }`
    })
    return `// run: workgroups=1,1,1
// buffer out: u32[${words}] random
// buffer values: u32[${words}] random
// The bits of 1, 2, 3, 4 and -2 as f32, and of multiples of 1/8 as f16.
// buffer stored: u32[1024] values(${bits})
// buffer given: u32[2048] values(${bits})
${this.#float === 'f16' ? 'enable f16;\n' : ''}${structures}
@group(0) @binding(0) var<storage, read_write> out: array<u32, ${words}>;
@group(0) @binding(1) var<storage, read_write> values: array<u32, ${words}>;
@group(0) @binding(2) var<storage, read_write> stored: ${stored.name};
@group(0) @binding(3) var<storage, read> given: array<${stored.name}, 2>;
${privates.map(({ name, type }) => `var<private> ${name}: ${type.name};`).join('\n')}
var<workgroup> shared_part: ${shared.type.name};
var<private> count: u32 = ${this.below(3)}u;
var<private> order: array<u32, 4> = array<u32, 4>(1u, 0u, 2u, 1u);
fn next() -> u32 {
  count += 1u;
${this.oneIn(2) ? `  order[count & 3u] ^= ${this.below(2)}u;\n` : ''}  return count & 3u;
}
fn step(p: ptr<function, u32>) -> u32 {
  *p += 1u;
  return *p & 1u;
}
${functions}
@compute @workgroup_size(1) fn main() {
  var k = 3u;
${locals.map(({ name, type }) => `  var ${name}: ${type.name};`).join('\n')}
${body}  out[0] = k;
  out[1] = count;
${sums.join('\n')}
}
`
  }

  #structure(): string {
    const name = `S${this.#structures.length}`
    const members = Array.from({ length: 1 + this.below(3) }, (_, i) => ({
      name: `m${i}`,
      type: this.oneIn(3) ? this.#type(1) : this.#leaf(),
    }))
    const isInMemory = !members.some((m) => hasBools(m.type))
    const lines = members.map((m) => {
      const attributes = m.type.kind === undefined ? ['@align(16) '] : ['@align(16) ', '@size(48) ']
      const attribute = isInMemory && this.oneIn(5) ? this.pick(attributes) : ''
      return `  ${attribute}${m.name}: ${m.type.name},`
    })
    this.#structures.push({ name, members })
    return `struct ${name} {\n${lines.join('\n')}\n}`
  }

  #leaf(): RandomType {
    const kind = this.pick<Kind | Float>(['u32', 'u32', 'u32', 'i32', this.#float, 'bool'])
    if (kind === this.#float && this.oneIn(2)) {
      const [columns, rows] = this.pick([
        [2, 2],
        [2, 3],
        [3, 2],
        [3, 3],
        [4, 3],
      ] as const)
      return this.#matrix(columns, rows)
    }
    return vectorOf(kind, this.pick([1, 1, 2, 3, 3, 3, 4]))
  }

  #matrix(columns: number, rows: 2 | 3 | 4): RandomType {
    return {
      name: `mat${columns}x${rows}<${this.#float}>`,
      element: vectorOf(this.#float, rows),
      length: columns,
    }
  }

  #type(depth: number): RandomType {
    if (depth > 0 && this.oneIn(4)) {
      const element = this.#type(depth - 1)
      const length = 1 + this.below(3)
      return { name: `array<${element.name}, ${length}>`, element, length }
    }
    return this.#structures.length > 0 && this.oneIn(2) ? this.pick(this.#structures) : this.#leaf()
  }

  /** An index below `length`, which may have side effects. */
  #index(length: number): string {
    if (length === 1) return '0u'
    return this.pick([
      () => `${this.below(length)}`,
      () => `${this.below(length)}`,
      () => `next() % ${length}u`,
      () => `step(&k) % ${length}u`,
      () => `values[${this.below(words)}] % ${length}u`,
      () => `order[next()] % ${length}u`,
      () => `k % ${length}u`,
    ])()
  }

  /** Places and values in the variables, whole and in part. */
  #places(name: string, type: RandomType, isPlace: boolean, depth = 0): { name: string; type: RandomType }[] {
    const parts = depth > 3 ? [] : partsOf(type, (length) => this.#index(length), isPlace)
    return [
      { name, type },
      ...parts.flatMap((part) => this.#places(`${name}${part.path}`, part.type, isPlace, depth + 1)),
    ]
  }

  #placesOf(accepts: (type: RandomType) => boolean, isStored: boolean) {
    const variables = this.#variables.filter((v) => !isStored || v.isMutable)
    return variables
      .flatMap(({ name, type }) => this.#places(name, type, isStored))
      .filter(({ type }) => accepts(type))
  }

  #call(callable: Callable, depth: number): string | undefined {
    const { name, parameters, changed } = callable
    const given = parameters.map((type) => this.#expression(type, depth - 1))
    if (changed !== undefined) {
      // Only variables of functions: pointers to other memory may alias what the function uses.
      const own = this.#variables.filter((v) => v.isMutable && v.type === changed && /^[wv]\d/.test(v.name))
      if (own.length === 0) return undefined
      given.push(`&${this.pick(own).name}`)
    }
    return `${name}(${given.join(', ')})`
  }

  #expression(type: RandomType, depth: number): string {
    const places = this.#placesOf((t) => t.name === type.name, false)
    if (places.length > 0 && this.oneIn(2)) return this.pick(places).name
    const functions = this.#functions.filter((f) => f.result.name === type.name)
    if (depth > 0 && functions.length > 0 && this.oneIn(3)) {
      const call = this.#call(this.pick(functions), depth)
      if (call !== undefined) return call
    }
    if (depth <= 0) return type.kind === undefined || isVector(type) ? `${type.name}()` : this.#literal(type)
    const parts = (of: RandomType) => this.#expression(of, depth - 1)
    const forms: (() => string)[] = [() => this.#constructed(type, depth)]
    if (type.kind !== undefined) {
      forms.push(() => `select(${parts(type)}, ${parts(type)}, ${parts(bool)})`)
      if (isVector(type))
        forms.push(() => `select(${parts(type)}, ${parts(type)}, ${parts(vectorOf('bool', type.size!))})`)
      if (type.kind !== 'bool') forms.push(() => `(${parts(type)} + ${parts(type)})`)
      if (type.kind === 'bool')
        forms.push(() => {
          const compared = vectorOf(this.pick(['u32', this.#float] as const), type.size!)
          return `(${parts(compared)} ${this.pick(['<', '==', '>='])} ${parts(compared)})`
        })
    }
    // Exact: the products have a factor of 0, 1 or -1, and there is no root but that of 0.
    if (isVector(type) && isFloat(type))
      forms.push(
        () => `faceForward(${parts(type)}, ${type.name}(1), ${this.#unit(type, depth)})`,
        () => `refract(${parts(type)}, ${type.name}(), ${this.pick(['1.0', '2.0'])})`,
        () => `reflect(${parts(type)}, ${type.name}())`,
      )
    if (isMatrix(type)) {
      forms.push(() => `(${parts(type)} + ${parts(type)})`)
      const rows = type.element!.size!
      forms.push(() => `transpose(${parts(this.#matrix(rows, type.length as 2 | 3 | 4))})`)
    }
    if (type === u32)
      forms.push(
        () => `(${parts(u32)} * 3u + ${parts(u32)})`,
        () => `values[${this.#index(words)}]`,
        () => `dot(${parts(vectorOf('u32', 3))}, ${parts(vectorOf('u32', 3))})`,
        () => `(${parts(u32)} ^ next())`,
      )
    if (type === bool)
      forms.push(
        () => `(${parts(u32)} % 2u == 0u)`,
        () => `${this.pick(['all', 'any'])}(${parts(vectorOf('bool', this.pick([2, 3, 4])))})`,
        () => `(${parts(bool)} ${this.pick(['&&', '||', '&', '|'])} ${parts(bool)})`,
      )
    return this.pick(forms)()
  }

  /** 1 or -1 in the first component. */
  #unit(type: RandomType, depth: number): string {
    const one = `${type.kind}(1)`
    const first = `select(${one}, -${one}, ${this.#expression(bool, depth - 1)})`
    return `${type.name}(${[first, ...Array(type.size! - 1).fill('0.0')].join(', ')})`
  }

  #literal(type: RandomType): string {
    if (type.kind === 'bool') return this.pick(['true', 'false', '(k > 3u)'])
    if (isFloat(type)) return `${this.below(5)}.0${type.kind === 'f16' ? 'h' : 'f'}`
    return type.kind === 'u32' ? `${this.below(9)}u` : `${this.below(9) - 4}i`
  }

  #constructed(type: RandomType, depth: number): string {
    const list = (types: readonly RandomType[]) => types.map((t) => this.#expression(t, depth - 1)).join(', ')
    if (type.size === 1) {
      if (isFloat(type)) return `${type.name}(${this.#expression(u32, depth - 1)} & 7u)`
      if (type.kind === 'i32') return `i32(${this.#expression(u32, depth - 1)})`
      return this.#literal(type)
    }
    if (type.members !== undefined) return `${type.name}(${list(type.members.map((m) => m.type))})`
    if (type.element !== undefined) return `${type.name}(${list(Array(type.length!).fill(type.element))})`
    const component = scalarOf(type)
    const pair = vectorOf(type.kind!, 2)
    const choices = [Array(type.size!).fill(component)]
    if (type.size === 3) choices.push([pair, component], [component, pair])
    if (type.size === 4) choices.push([pair, pair], [component, vectorOf(type.kind!, 3)])
    return `${type.name}(${list(this.pick(choices))})`
  }

  #nested(count: number, depth: number, indent: string, own: readonly Named[] = []): string {
    const outer = this.#variables
    this.#variables = [...outer, ...own]
    const text = this.#statements(count, depth, indent)
    this.#variables = outer
    return text
  }

  #statements(count: number, depth: number, indent: string): string {
    return Array.from({ length: count }, () => this.#statement(depth, indent)).join('')
  }

  #statement(depth: number, indent: string): string {
    const choice = this.below(14)
    if (choice < 3) {
      const type = this.#type(1)
      const isMutable = !this.oneIn(3)
      const value = isMutable && this.oneIn(3) ? '' : ` = ${this.#expression(type, 2)}`
      const name = `v${this.#names++}`
      this.#variables.push({ name, type, isMutable })
      return `${indent}${isMutable ? 'var' : 'let'} ${name}: ${type.name}${value};\n`
    }
    if (choice < 8) {
      const places = this.#placesOf(() => true, true)
      const { name, type } = this.pick(places)
      return `${indent}${name} = ${this.#expression(type, 2)};\n`
    }
    if (choice < 9) {
      const { name } = this.pick(this.#placesOf((type) => type === u32, true))
      return `${indent}${name} ${this.pick(['+=', '^=', '*='])} ${this.#expression(u32, 2)};\n`
    }
    if (choice < 10 && depth > 0) {
      const inner = () => this.#nested(2, depth - 1, `${indent}  `)
      const other = this.oneIn(2) ? ` else {\n${inner()}${indent}}` : ''
      return `${indent}if ${this.#expression(bool, 1)} {\n${inner()}${indent}}${other}\n`
    }
    if (choice < 11 && depth > 0) {
      const counter = { name: `i${this.#names++}`, type: u32, isMutable: false }
      const { name } = counter
      const inner = this.#nested(2, depth - 1, `${indent}  `, [counter])
      return `${indent}for (var ${name} = 0u; ${name} < ${1 + this.below(4)}u; ${name}++) {\n${inner}${indent}}\n`
    }
    if (choice < 12 && depth > 0) {
      const cases = [0, 1].map((i) => {
        return `${indent}  case ${i}u: {\n${this.#nested(1, depth - 1, `${indent}    `)}${indent}  }\n`
      })
      return `${indent}switch ${this.#expression(u32, 1)} % 3u {\n${cases.join('')}${indent}  default: {}\n${indent}}\n`
    }
    return `${indent}k = k * 7u + ${this.#expression(u32, 2)};\n`
  }

  #function(): string {
    const outer = this.#variables
    const name = `f${this.#functions.length}`
    const parameters = Array.from({ length: 1 + this.below(2) }, () =>
      this.oneIn(2) ? this.pick([vectorOf('u32', 3), ...this.#structures]) : this.#type(1),
    )
    const changed = this.oneIn(4) ? this.pick(this.#structures) : undefined
    const result = this.oneIn(2) ? u32 : this.#type(0)
    this.#variables = [
      ...parameters.map((type, i) => ({ name: `a${i}`, type, isMutable: false })),
      ...(changed === undefined ? [] : [{ name: '(*p)', type: changed, isMutable: true }]),
      { name: 'k', type: u32, isMutable: true },
    ]
    const body = this.#statements(this.below(3), 1, '  ')
    const early = Array.from(
      { length: this.below(3) },
      () => `  if ${this.#expression(bool, 1)} {\n    return ${this.#expression(result, 1)};\n  }\n`,
    ).join('')
    const last = this.#expression(result, 1)
    this.#variables = outer
    this.#functions.push({ name, parameters, result, changed })
    const list = parameters.map((type, i) => `a${i}: ${type.name}`)
    if (changed !== undefined) list.push(`p: ptr<function, ${changed.name}>`)
    return `fn ${name}(${list.join(', ')}) -> ${result.name} {\n  var k = 1u;\n${body}${early}  return ${last};\n}`
  }
}
