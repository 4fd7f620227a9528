import { Random } from './random.ts'
import {
  arrayOf,
  bool,
  type Float,
  i32,
  type Kind,
  matrixOf,
  type RandomType,
  u32,
  vectorOf,
} from './random-types.ts'

/**
 * A random valid kernel of functions that call each other, most of which are too long for the translator to
 * inline. They take composites by value and by pointer, return values of all types, also from inside of loops,
 * and have arrays that live across calls, and a private variable. The same seed produces the same kernel; all
 * results are exact. Workgroups compute the same in turns of three.
 *
 * nvcc 13.0 has merged local variables of two functions that live at the same time, and has left out calls of
 * functions that return an argument, although they write memory.
 */
export function randomLongFunctions(seed: number, workgroups = 3): string {
  return new LongFunctionWriter(seed).kernel(workgroups)
}

const invocations = 32
/** The approximate number of statements that a function or the entry point may run in calls. */
const mostInCalls = 30_000
/** The factor by which the statements in a loop count, which has at most this many rounds. */
const mostRounds = 3

const vec2u = vectorOf('u32', 2)
const vec3u = vectorOf('u32', 3)
const words = arrayOf(u32, 5)
const vectors = arrayOf(vec3u, 3)
const matrix = matrixOf(2, 3)
const small = structure('Small', { a: u32, b: vec3u, c: i32 })
const nested = structure('Nested', { s: small, k: arrayOf(u32, 3), f: bool })
const mixed = structure('Mixed', { h: vectorOf('f16', 1), m: matrix, v: vec2u, t: arrayOf(bool, 2) })

/** The types of parameters, results and variables. */
const types: readonly RandomType[] = [
  ...[u32, i32, bool, vectorOf('f32', 1), vectorOf('f16', 1)],
  ...[vec2u, vec3u, vectorOf('i32', 4), vectorOf('bool', 4), vectorOf('f16', 3)],
  ...[words, vectors, arrayOf(bool, 6), matrix, small, nested, mixed],
]
/** The types to which functions have pointers. */
const pointees = [u32, vec3u, words, vectors, matrix, small, nested, mixed]

function structure(name: string, members: Readonly<Record<string, RandomType>>): RandomType {
  return { name, members: Object.entries(members).map(([member, type]) => ({ name: member, type })) }
}

function declaration({ name, members }: RandomType): string {
  return `struct ${name} { ${members!.map((m) => `${m.name}: ${m.type.name}`).join(', ')} }`
}

interface Named {
  /** The variable or value in an expression. */
  readonly name: string
  /** A pointer to the variable. */
  readonly pointer: string
  readonly type: RandomType
  readonly isMutable: boolean
}

interface Callable {
  readonly name: string
  readonly parameters: readonly RandomType[]
  readonly pointees: readonly RandomType[]
  readonly result: RandomType
  /** The approximate number of statements that it runs. */
  readonly cost: number
}

/** A part of a variable that can be stored. */
interface Place {
  readonly text: string
  readonly type: RandomType
}

type Make = () => string

const variable = (name: string, type: RandomType): Named => ({
  name,
  pointer: `&${name}`,
  type,
  isMutable: true,
})
const constant = (name: string, type: RandomType): Named => ({ name, pointer: '', type, isMutable: false })

/** A scalar as `u32`; floats are whole numbers. */
function asWord(text: string, kind: Kind | Float): string {
  if (kind === 'u32') return text
  return kind === 'f32' || kind === 'f16' ? `u32(i32(${text}))` : `u32(${text})`
}

class LongFunctionWriter extends Random {
  readonly #functions: Callable[] = []
  #named: Named[] = []
  #names = 0
  /** What the function that is being written returns; undefined in the entry point. */
  #result: RandomType | undefined
  #loops = 0
  /** The approximate number of statements that the function runs in calls. */
  #cost = 0

  kernel(workgroups: number): string {
    const functions = Array.from({ length: 5 + this.below(4) }, (_, i) => this.#function(`work${i}`)).join('')
    const body = this.#entryBody()
    const sum = this.#named.map((v, i) => `${this.#read(v.name, v.type)} * ${2 * i + 1}u`).join(' + ')
    return `enable f16;
// run: workgroups=${workgroups},1,1
// buffer given: u32[${3 * invocations}] random
// buffer result: u32[${invocations * workgroups}]
${[small, nested, mixed].map(declaration).join('\n')}
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
var<private> hidden: u32 = 7u;
${functions}@compute @workgroup_size(${invocations})
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) id: vec3u) {
  let li = given[(id.x % 3u) * ${invocations}u + lid] >> 9u;
  var sum = li;
${body}  result[id.x * ${invocations}u + lid] = ${sum} + hidden;
}
`
  }

  #start(result: RandomType | undefined, named: readonly Named[]): void {
    this.#result = result
    this.#loops = 0
    this.#cost = 0
    this.#named = [constant('li', u32), ...named]
  }

  #function(name: string): string {
    const result = this.pick(types)
    const parameters = Array.from({ length: this.below(4) }, () => this.pick(types))
    const changed = Array.from({ length: this.below(3) }, () => this.pick(pointees))
    const pointers = changed.map((type, i) => ({ ...variable(`(*p${i})`, type), pointer: `p${i}` }))
    const locals = [variable('local0', words), variable('local1', this.pick(types))]
    this.#start(result, [...parameters.map((type, i) => constant(`a${i}`, type)), ...pointers, ...locals])
    const body = this.#statements(14 + this.below(10), 2, '  ')
    const end = `  hidden = hidden * 3u + ${this.#word(1)};\n  return ${this.#value(result, 2)};\n`
    const heads = [
      ...parameters.map((type, i) => `a${i}: ${type.name}`),
      ...changed.map((type, i) => `p${i}: ptr<function, ${type.name}>`),
      'li: u32',
    ]
    this.#functions.push({ name, parameters, pointees: changed, result, cost: this.#cost + 60 })
    return `fn ${name}(${heads.join(', ')}) -> ${result.name} {\n${declarations(locals)}${body}${end}}\n`
  }

  /** Calls every function, each with pointers to variables of its own. */
  #entryBody(): string {
    const locals = [words, nested, vec3u].map((type, i) => variable(`local${i}`, type))
    const sum = variable('sum', u32)
    this.#start(undefined, [sum, ...locals])
    const calls = this.#functions.toReversed().map((callable) => {
      const own = callable.pointees.map((type) => variable(this.#name('z'), type))
      this.#named.push(...own)
      const call = this.#call(callable, 2)
      const text = call === undefined ? '1u' : this.#read(call, callable.result)
      return `${declarations(own)}  sum = sum * 3u + ${text};\n${this.#statements(1, 1, '  ')}`
    })
    return declarations(locals) + calls.join('')
  }

  #name(prefix: string): string {
    return `${prefix}_${this.#names++}`
  }

  #choose(choices: readonly Make[]): string {
    return this.pick(choices)()
  }

  /** One of the variables and values, as a `u32`. */
  #leaf(): string {
    const { name, type } = this.pick(this.#named)
    return this.#read(name, type)
  }

  /** A scalar in a value, as a `u32`. */
  #read(text: string, { kind, size, element, length, members }: RandomType): string {
    if (members !== undefined) {
      const member = this.pick(members)
      return this.#read(`${text}.${member.name}`, member.type)
    }
    if (element !== undefined) return this.#read(`${text}[${this.#index(length!, 'li')}]`, element)
    if (size === 1) return asWord(text, kind!)
    return this.#choose([
      () => asWord(`${text}.${this.#letter(size!)}`, kind!),
      () => asWord(`${text}[${this.#index(size!, 'li')}]`, kind!),
      () => {
        if (kind === 'bool') return `u32(${this.pick(['any', 'all'])}(${text}))`
        if (kind === 'f16') return asWord(`${text}.x`, kind)
        const factors = [3, 5, 7, 9].slice(0, size)
        return asWord(`dot(${text}, vec${size}<${kind}>(${factors.join(', ')}))`, kind!)
      },
    ])
  }

  #letter(size: number): string {
    return 'xyzw'[this.below(size)]!
  }

  /** An index below `length`. */
  #index(length: number, word: string): string {
    return this.pick([`${this.below(length)}`, `${word} % ${length}u`, `(${word} + 3u) % ${length}u`])
  }

  #word(depth: number): string {
    const less = () => this.#word(depth - 1)
    if (depth <= 0) return this.#leaf()
    return this.#choose([
      () => this.#leaf(),
      () => `(${less()} ${this.pick(['+', '-', '*', '^', '&', '|'])} ${less()})`,
      () => `(${less()} ${this.pick(['*', '+', '^', '>>', '/', '%'])} ${this.pick([3, 5, 7, 13, 31])}u)`,
      () => `select(${less()}, ${less()}, ${this.#condition(depth - 1)})`,
      () => this.#callOf(u32, depth) ?? this.#leaf(),
      () => {
        const type = this.pick(types)
        const call = this.#callOf(type, depth)
        return call === undefined ? this.#leaf() : this.#read(call, type)
      },
    ])
  }

  #condition(depth: number): string {
    const relation = this.pick(['<', '>', '==', '!=', '>='])
    return `(${this.#word(depth - 1)} ${relation} ${this.#word(depth - 1)})`
  }

  #value(type: RandomType, depth: number): string {
    const own = this.#named.filter((v) => v.type === type)
    if (own.length > 0 && this.oneIn(2)) return this.pick(own).name
    const call = depth > 0 && this.oneIn(3) ? this.#callOf(type, depth) : undefined
    if (call !== undefined) return call
    if (type.size === 1) return this.#scalar(type.kind!, depth)
    if (type.size !== undefined && this.oneIn(3)) return `${type.name}(${this.#scalar(type.kind!, depth)})`
    const parts =
      type.members?.map((m) => m.type) ??
      Array<RandomType>(type.length ?? type.size!).fill(type.element ?? vectorOf(type.kind!, 1))
    return `${type.name}(${parts.map((part) => this.#value(part, depth - 1)).join(', ')})`
  }

  /** A number, which a float holds exactly. */
  #scalar(kind: Kind | Float, depth: number): string {
    if (kind === 'bool') return this.oneIn(4) ? 'true' : this.#condition(depth)
    const word = this.#word(depth - 1)
    if (kind === 'u32') return word
    return kind === 'i32' ? `i32(${word})` : `${kind}(${word} & ${kind === 'f16' ? 63 : 4095}u)`
  }

  /** A call of a function with this result. */
  #callOf(type: RandomType, depth: number): string | undefined {
    const possible = this.#functions.filter((f) => f.result === type)
    return possible.length === 0 ? undefined : this.#call(this.pick(possible), depth)
  }

  /** A call; undefined if the function runs too long, or if there are no variables to point to. */
  #call({ name, parameters, pointees, cost }: Callable, depth: number): string | undefined {
    if (this.#cost + cost > mostInCalls) return undefined
    const changed: Named[] = []
    for (const type of pointees) {
      const possible = this.#named.filter((v) => v.isMutable && v.type === type && !changed.includes(v))
      if (possible.length === 0) return undefined
      changed.push(this.pick(possible))
    }
    this.#cost += cost
    const given = parameters.map((type) => this.#value(type, Math.max(0, depth - 2)))
    return `${name}(${[...given, ...changed.map((v) => v.pointer), 'li'].join(', ')})`
  }

  #statements(count: number, depth: number, indent: string): string {
    const outer = [...this.#named]
    const text = Array.from({ length: count }, () => this.#statement(depth, indent)).join('')
    this.#named = outer
    return text
  }

  #statement(depth: number, indent: string): string {
    const store = () => this.#store(indent)
    const choices = [store, store, store, () => this.#variable(indent), () => this.#let(indent)]
    choices.push(() => {
      const call = this.#callOf(this.pick(types), 2)
      return call === undefined ? store() : `${indent}_ = ${call};\n`
    })
    if (this.#loops > 0) choices.push(() => `${indent}if ${this.#condition(2)} { ${this.#jump()}; }\n`)
    if (depth > 0)
      choices.push(
        () => this.#if(depth - 1, indent),
        () => this.#for(depth - 1, indent),
        () => this.#switch(depth - 1, indent),
      )
    return this.#choose(choices)
  }

  #variable(indent: string): string {
    const type = this.pick(types)
    const value = this.oneIn(4) ? '' : ` = ${this.#value(type, 2)}`
    const declared = variable(this.#name('v'), type)
    this.#named.push(declared)
    return `${indent}var ${declared.name}: ${type.name}${value};\n`
  }

  #let(indent: string): string {
    const type = this.pick(types)
    const value = this.#value(type, 2)
    const declared = constant(this.#name('l'), type)
    this.#named.push(declared)
    return `${indent}let ${declared.name}: ${type.name} = ${value};\n`
  }

  #store(indent: string): string {
    const { name, type } = this.pick(this.#named.filter((v) => v.isMutable))
    const place = this.#place({ text: name, type })
    const operators = place.type === u32 ? ['=', '=', '+=', '^=', '*='] : ['=']
    return `${indent}${place.text} ${this.pick(operators)} ${this.#value(place.type, 2)};\n`
  }

  /** A variable, or a part of it. */
  #place(whole: Place): Place {
    const { text, type } = whole
    if (type.size === 1 || this.oneIn(4)) return whole
    if (type.members !== undefined) {
      const member = this.pick(type.members)
      return this.#place({ text: `${text}.${member.name}`, type: member.type })
    }
    if (type.size !== undefined && this.oneIn(2))
      return { text: `${text}.${this.#letter(type.size)}`, type: vectorOf(type.kind!, 1) }
    if (type.size !== undefined && this.oneIn(3)) return { text: `${text}.yx`, type: vectorOf(type.kind!, 2) }
    const index = this.#index(type.length ?? type.size!, this.#leaf())
    return this.#place({ text: `${text}[${index}]`, type: type.element ?? vectorOf(type.kind!, 1) })
  }

  /** A way to leave the innermost loop, or its round. */
  #jump(): string {
    const result = this.#result
    return this.#choose([
      () => 'break',
      () => 'continue',
      () => (result === undefined ? 'break' : `return ${this.#value(result, 1)}`),
    ])
  }

  #if(depth: number, indent: string): string {
    const body = () => this.#statements(1 + this.below(3), depth, `${indent}  `)
    const head = `${indent}if ${this.#condition(2)} {\n${body()}${indent}}`
    return this.oneIn(2) ? `${head} else {\n${body()}${indent}}\n` : `${head}\n`
  }

  #for(depth: number, indent: string): string {
    const k = this.#name('k')
    const rounds = this.pick(['2u', `${mostRounds}u`, `(${this.#leaf()} & ${mostRounds}u)`])
    const before = this.#cost
    const outer = [...this.#named]
    this.#named.push(constant(k, u32))
    this.#loops++
    const body = this.#statements(1 + this.below(3), depth, `${indent}  `)
    this.#loops--
    this.#named = outer
    this.#cost = before + mostRounds * (this.#cost - before)
    return `${indent}for (var ${k} = 0u; ${k} < ${rounds}; ${k}++) {\n${body}${indent}}\n`
  }

  #switch(depth: number, indent: string): string {
    const body = (count: number) => this.#statements(count, depth, `${indent}    `)
    return `${indent}switch ${this.#word(1)} & 3u {
${indent}  case 0u: {\n${body(1)}${indent}  }
${indent}  case 2u, 1u: {\n${body(2)}${indent}  }
${indent}  default: {}
${indent}}\n`
  }
}

function declarations(variables: readonly Named[]): string {
  return variables.map(({ name, type }) => `  var ${name}: ${type.name};\n`).join('')
}
