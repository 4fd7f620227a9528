import { Random } from './random.ts'

/**
 * A random valid kernel of workgroups whose invocations cooperate without data races. Calls that all
 * invocations must reach (`workgroupUniformLoad`, subgroup operations, functions with barriers) stand in
 * operands, indices, conditions and arguments of each other, beside calls with side effects. Many parameters
 * are constants once their functions are inlined, and loops of a few rounds are left in all manners. The same
 * seed produces the same kernel. Workgroups compute the same in turns of three.
 *
 * ptxas 13.0 has ended loops after one round where an exit condition turned out to be a constant.
 */
export function randomCollectives(seed: number, workgroups = 3): string {
  return new CollectiveWriter(seed).kernel(workgroups)
}

/** Whether the kernel of a seed has subgroup operations, whose results assume subgroups of 32. */
export function collectivesUseSubgroups(seed: number): boolean {
  return seed % 2 === 1
}

const sizes = [
  [32, 1, 1],
  [64, 1, 1],
  [96, 1, 1],
  [8, 8, 1],
  [4, 4, 4],
  [33, 1, 1],
  [7, 9, 1],
  [5, 3, 7],
  [1, 1, 1],
] as const

/** What the code at some point of the kernel may use. */
interface Scope {
  /** Whether all invocations of the workgroup are here together. */
  readonly isUniform: boolean
  /** Whether calls with barriers are possible; all invocations must be here together for that. */
  readonly hasBarriers: boolean
  readonly isFunction: boolean
  readonly values: readonly string[]
  readonly variables: readonly string[]
  /** Values that are the same for all invocations of the workgroup. */
  readonly shared: readonly string[]
  readonly arrays: readonly string[]
  /** Tiles that the current statement writes, which others may not read at the same time. */
  readonly written: readonly Tile[]
  readonly loops: number
}

/** An array in workgroup memory with some elements for each invocation. */
interface Tile {
  readonly name: string
  readonly isVector: boolean
  readonly parts: number
}

type Make = () => string

class CollectiveWriter extends Random {
  readonly #size: readonly [number, number, number]
  readonly #invocations: number
  readonly #subgroups: boolean
  /** Whether functions have barriers; without them copies may be asynchronous. */
  readonly #functionsHaveBarriers: boolean
  readonly #tiles: readonly Tile[]
  readonly #functions: string[] = []
  #names = 0

  constructor(seed: number) {
    super(seed)
    this.#size = this.pick(sizes)
    this.#invocations = this.#size[0] * this.#size[1] * this.#size[2]
    this.#subgroups = collectivesUseSubgroups(seed)
    this.#functionsHaveBarriers = !this.oneIn(3)
    this.#tiles = Array.from({ length: 1 + this.below(3) }, (_, i) => ({
      name: `t${i}`,
      isVector: this.oneIn(2),
      parts: 1 + this.below(2),
    }))
  }

  kernel(workgroups: number): string {
    const n = this.#invocations
    const tiles = this.#tiles.map(
      ({ name, isVector, parts }) =>
        `var<workgroup> ${name}: array<${isVector ? 'vec4u' : 'u32'}, ${n * parts}>;`,
    )
    const functions = [0, 1].map((i) => this.#function(`team${i}`)).join('\n')
    const start: Scope = {
      isUniform: true,
      hasBarriers: true,
      isFunction: false,
      values: ['sum', 'li', 'mine'],
      variables: ['sum', 'mine'],
      shared: ['group'],
      arrays: [],
      written: [],
      loops: 0,
    }
    const body = this.#statements(5 + this.below(7), start, 2, '  ')
    return `${this.#subgroups ? 'enable subgroups;\n' : ''}// run: workgroups=${workgroups},1,1
// buffer given: u32[${n * 12}] random
// buffer par: u32[4] values(${this.below(4)}, ${1 + this.below(5)}, ${this.below(9)}, 0)
// buffer result: u32[${n * workgroups}]
struct Pair { a: u32, b: array<u32, 2> }
@group(0) @binding(0) var<storage, read> given: array<vec4u>;
@group(0) @binding(1) var<uniform> par: vec4u;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
${tiles.join('\n')}
var<workgroup> own: array<u32, ${n}>;
var<workgroup> counts: array<atomic<u32>, ${n}>;
var<workgroup> one: u32;
var<workgroup> pair: Pair;
var<workgroup> few: array<array<u32, 3>, 4>;
var<private> hidden: u32 = 3u;
fn bump(d: u32) -> u32 { hidden = hidden * 3u + d; return hidden; }
fn keep(i: u32, d: u32) -> u32 { own[i] = own[i] * 3u + d; return own[i]; }
fn step(p: ptr<function, u32>, d: u32) -> u32 { let old = *p; *p = *p * 5u + d; return old; }
fn loaded(i: u32) -> u32 { return workgroupUniformLoad(&few[i & 3u][1]) + i; }
${functions}
@compute @workgroup_size(${this.#size.join(', ')})
fn main(
  @builtin(local_invocation_id) lid: vec3u,
  @builtin(local_invocation_index) li: u32,
  @builtin(workgroup_id) id: vec3u,
) {
  let group = id.x % 3u;
  var sum = group + li;
  var mine = li * 3u;
${body}  result[id.x * ${n}u + li] = sum * 7u + hidden * 3u + own[li] + atomicLoad(&counts[li]) * 5u + mine;
}
`
  }

  #function(name: string): string {
    const scope: Scope = {
      isUniform: true,
      hasBarriers: this.#functionsHaveBarriers,
      isFunction: true,
      values: ['a', 'li', '(*p)'],
      variables: ['(*p)'],
      shared: ['group'],
      arrays: [],
      written: [],
      loops: 0,
    }
    const body = this.#statements(2 + this.below(3), scope, 1, '  ')
    const early = this.oneIn(3)
      ? `  if group > 5u {\n    return ${this.#value(divergent(scope), 1)};\n  }\n`
      : ''
    const rest = this.#statements(1 + this.below(2), scope, 1, '  ')
    const text = `fn ${name}(a: u32, p: ptr<function, u32>, group: u32, li: u32, lid: vec3u) -> u32 {
${body}${early}${rest}  return ${this.#value(scope, 2)} + *p;
}`
    this.#functions.push(name)
    return text
  }

  #name(prefix: string): string {
    return `${prefix}_${this.#names++}`
  }

  #choose(choices: readonly Make[]): string {
    return this.pick(choices)()
  }

  #literal(): string {
    return `${this.pick([0, 1, 2, 3, 5, 7, 31, 64, 255, 4294967295])}u`
  }

  #operator(): string {
    return this.pick(['+', '-', '*', '^', '&', '|'])
  }

  /** A value that is the same for all invocations of the workgroup. */
  #shared(scope: Scope, depth: number): string {
    const less = () => this.#shared(scope, depth - 1)
    const name = () => this.pick([...scope.shared, 'par.x', 'par.y', 'par.z'])
    if (depth <= 0) return this.oneIn(3) ? this.#literal() : name()
    const choices: Make[] = [
      name,
      () => `(${less()} ${this.#operator()} ${less()})`,
      () => `select(${less()}, ${less()}, ${less()} ${this.pick(['<', '==', '>='])} ${less()})`,
      () => `(${name()} ${this.pick(['/', '%', '<<', '>>'])} ${this.pick(['2u', '3u', '5u'])})`,
    ]
    if (scope.hasBarriers && scope.isUniform) {
      const load = () => this.#sharedLoad(scope, depth - 1)
      choices.push(load, load, load)
      if (this.#functionsHaveBarriers) choices.push(() => `loaded(${less()})`)
    }
    return this.#choose(choices)
  }

  #sharedLoad(scope: Scope, depth: number): string {
    const index = () => this.#shared(scope, depth - 1)
    const tile = this.pick(this.#tiles)
    const element = `workgroupUniformLoad(&${tile.name}[${index()} % ${this.#invocations * tile.parts}u])`
    return this.#choose([
      () => (tile.isVector ? this.#ofVector(element) : element),
      () => 'workgroupUniformLoad(&one)',
      () => 'workgroupUniformLoad(&pair).a',
      () => `workgroupUniformLoad(&pair.b[${index()} & 1u])`,
      () => `workgroupUniformLoad(&few[${index()} & 3u])[${index()} % 3u]`,
      () => `workgroupUniformLoad(&few[${index()} & 3u][${index()} % 3u])`,
    ])
  }

  #ofVector(text: string): string {
    return this.pick([`dot(${text}, vec4u(1u, 3u, 5u, 7u))`, `${text}.x`, `${text}.w`])
  }

  #value(scope: Scope, depth: number): string {
    const less = () => this.#value(scope, depth - 1)
    const name = () => this.pick([...scope.values, 'lid.x'])
    if (depth <= 0) return this.oneIn(4) ? this.#literal() : name()
    const choices: Make[] = [
      name,
      () => this.#shared(scope, depth - 1),
      () => this.#shared(scope, depth - 1),
      () => `(${less()} ${this.#operator()} ${less()})`,
      () => `(${less()} ${this.#operator()} ${less()})`,
      () => `(${less()} ${this.pick(['/', '%'])} ${name()})`,
      () => `(${name()} >> ${this.below(32)}u)`,
      () => `select(${less()}, ${less()}, ${this.#condition(scope, depth - 1)})`,
      () => `bump(${less()})`,
      () => `keep(li, ${less()})`,
      () => `${this.pick(['atomicAdd', 'atomicExchange', 'atomicMax'])}(&counts[li], ${less()})`,
      () => this.pick(['own[li]', 'atomicLoad(&counts[li])']),
      () => `step(${pointerTo(this.pick(scope.variables))}, ${less()})`,
    ]
    if (scope.arrays.length > 0) choices.push(() => `${this.pick(scope.arrays)}[${less()} % 4u]`)
    const readable = this.#tiles.filter((t) => !scope.written.includes(t))
    if (readable.length > 0) {
      const element = () => {
        const { name: tile, isVector, parts } = this.pick(readable)
        const text = `${tile}[${less()} % ${this.#invocations * parts}u]`
        return isVector ? this.#ofVector(text) : text
      }
      choices.push(element, element)
    }
    if (scope.isUniform && this.#subgroups) {
      const operation = () => this.#subgroup(scope, depth - 1)
      choices.push(operation, operation, operation)
    }
    if (scope.isUniform && this.#functions.length > 0 && !scope.isFunction && scope.written.length === 0)
      choices.push(() => {
        const argument = this.#choose([() => this.#literal(), () => 'li', less])
        const group = this.oneIn(2) ? `${this.below(4)}u` : this.#shared(scope, depth - 1)
        const pointer = pointerTo(this.pick(scope.variables))
        return `${this.pick(this.#functions)}(${argument}, ${pointer}, ${group}, li, lid)`
      })
    return this.#choose(choices)
  }

  #subgroup(scope: Scope, depth: number): string {
    const value = () => this.#value(scope, depth)
    const condition = () => this.#condition(scope, depth)
    const choices: Make[] = [
      () => {
        const names = ['Add', 'Max', 'Min', 'Xor', 'InclusiveAdd', 'ExclusiveAdd', 'BroadcastFirst']
        return `subgroup${this.pick(names)}(${value()})`
      },
      () => `subgroupBallot(${condition()}).x`,
      () => `select(1u, 2u, ${this.pick(['subgroupAny', 'subgroupAll'])}(${condition()}))`,
      () => 'select(5u, 6u, subgroupElect())',
      () => `subgroupAdd(vec2u(${value()}, ${value()})).y`,
    ]
    // In the last subgroup of another workgroup some lanes do not exist.
    if (this.#invocations % 32 === 0)
      choices.push(
        () => `subgroupShuffle(${value()}, ${value()} & 31u)`,
        () => `subgroupShuffleXor(${value()}, ${this.#shared(scope, depth)} & 31u)`,
        () => `subgroupBroadcast(${value()}, ${this.below(32)}u)`,
        () => `quadSwapX(${value()})`,
        () => `subgroupShuffle(vec3u(${value()}, 1u, ${value()}), ${value()} & 31u).z`,
      )
    return this.#choose(choices)
  }

  #condition(scope: Scope, depth: number): string {
    const relation = this.pick(['<', '>=', '==', '!='])
    // Two names are often the same value once functions are inlined.
    const levels = this.oneIn(2) ? 0 : depth
    const compared = `(${this.#value(scope, levels)} ${relation} ${this.#value(scope, levels - 1)})`
    if (!this.oneIn(4)) return compared
    const right = this.#value(divergent(scope), depth - 1)
    return `(${compared} ${this.pick(['&&', '||'])} ${right} != ${this.#literal()})`
  }

  #statements(count: number, outer: Scope, depth: number, indent: string): string {
    let scope = outer
    let text = ''
    const declare = (names: Partial<Scope>) => {
      scope = { ...scope, ...names }
    }
    for (let i = 0; i < count; i++) text += this.#statement(scope, depth, indent, declare)
    const total = scope.isFunction ? 'hidden' : 'sum'
    for (const value of scope.values.filter((v) => !outer.values.includes(v)))
      text += `${indent}${total} = ${total} * 3u + ${value};\n`
    for (const array of scope.arrays.filter((a) => !outer.arrays.includes(a)))
      text += `${indent}hidden = hidden * 5u + ${array}[0] + ${array}[1] * 3u + ${array}[3];\n`
    return text
  }

  #statement(scope: Scope, depth: number, indent: string, declare: (names: Partial<Scope>) => void): string {
    const value = (levels = 3) => this.#value(scope, levels)
    const choices: Make[] = [
      () => {
        const text = value()
        const name = this.#name('m')
        declare({ values: [...scope.values, name], variables: [...scope.variables, name] })
        return `${indent}var ${name} = ${text};\n`
      },
      () => {
        const text = value()
        const name = this.#name('x')
        declare({ values: [...scope.values, name] })
        return `${indent}let ${name} = ${text};\n`
      },
      () => {
        const elements = [value(2), value(2), value(1), value(1)].join(', ')
        const name = this.#name('f')
        declare({ arrays: [...scope.arrays, name] })
        return `${indent}var ${name} = array<u32, 4>(${elements});\n`
      },
      () => `${indent}${this.pick(scope.variables)} ${this.pick(['=', '+=', '*=', '|='])} ${value()};\n`,
      () => {
        if (scope.arrays.length === 0) return `${indent}hidden ^= ${value()};\n`
        // A constant index must be inside of the array.
        const index = this.oneIn(4) ? `(${this.pick(scope.values)} % 6u)` : `${value(2)} % 4u`
        return `${indent}${this.pick(scope.arrays)}[${index}] ${this.pick(['=', '+=', '^='])} ${value()};\n`
      },
    ]
    if (depth > 0) choices.push(() => this.#divergentFlow(scope, depth - 1, indent))
    const jump = () => this.#jump(scope, indent)
    if (scope.loops > 0) choices.push(jump, jump, jump)
    if (scope.isUniform) choices.push(...this.#uniformStatements(scope, depth, indent, declare))
    return this.#choose(choices)
  }

  #divergentFlow(uniform: Scope, depth: number, indent: string): string {
    const scope = divergent(uniform)
    const body = (of: Scope) => this.#statements(1 + this.below(2), of, depth, `${indent}  `)
    if (this.oneIn(2)) {
      const other = this.oneIn(2) ? ` else {\n${body({ ...scope, loops: 0 })}${indent}}` : ''
      return `${indent}if ${this.#condition(uniform, 2)} {\n${body({ ...scope, loops: 0 })}${indent}}${other}\n`
    }
    const k = this.#name('k')
    const rounds = this.pick(['2u', '2u', '3u', 'group & 3u', `${this.#value(scope, 1)} & 3u`])
    const inner = { ...scope, values: [...scope.values, k], loops: 1 }
    const last = this.oneIn(2) ? this.#jump(inner, `${indent}  `) : ''
    return `${indent}for (var ${k} = 0u; ${k} < (${rounds}); ${k}++) {\n${body(inner)}${last}${indent}}\n`
  }

  /** A way to leave the innermost loop, or its round. */
  #jump(scope: Scope, indent: string): string {
    const relation = this.pick(['<', '>', '==', '!='])
    const condition = scope.isUniform
      ? `${this.#shared(scope, 2)} ${relation} ${this.#shared(scope, 1)}`
      : this.#condition(scope, 2)
    return `${indent}if ${condition} {\n${indent}  ${this.pick(['break', 'break', 'continue'])};\n${indent}}\n`
  }

  /** Statements that all invocations of the workgroup reach together. */
  #uniformStatements(
    scope: Scope,
    depth: number,
    indent: string,
    declare: (names: Partial<Scope>) => void,
  ): Make[] {
    const choices: Make[] = [
      () => {
        const text = this.#shared(scope, 4)
        const name = this.#name('u')
        declare({ shared: [...scope.shared, name], values: [...scope.values, name] })
        return `${indent}${this.pick(['let', 'var'])} ${name} = ${text};\n`
      },
    ]
    if (scope.hasBarriers) {
      const write = () => this.#write(scope, indent)
      choices.push(write, write, write, () => this.#announce(scope, indent))
    }
    if (depth > 0) choices.push(() => this.#uniformFlow(scope, depth - 1, indent))
    return choices
  }

  /** Each invocation writes one element of a tile, between two barriers. */
  #write(outer: Scope, indent: string): string {
    const tile = this.pick(this.#tiles)
    const n = this.#invocations
    const scope = { ...outer, written: [...outer.written, tile] }
    const pure = divergent(scope)
    const position = this.pick([
      'li',
      'li',
      `(${n - 1}u - li)`,
      `((li + ${this.#shared(pure, 1)} % ${n}u) % ${n}u)`,
    ])
    const isCopy = tile.isVector && this.oneIn(2)
    const part = isCopy ? `${this.below(tile.parts)}u` : `(${this.#shared(scope, 2)} % ${tile.parts}u)`
    const index = tile.parts === 1 ? position : `${position} + ${n}u * ${part}`
    const barrier = `${indent}workgroupBarrier();\n`
    if (!isCopy) {
      const value = this.#value(scope, 3)
      const text = tile.isVector ? `vec4u(${value}, ${this.#value(scope, 1)}, 1u, 5u)` : value
      return `${barrier}${indent}${tile.name}[${index}] = ${text};\n${barrier}`
    }
    const from = this.pick([`group * ${n}u + li`, 'li', `${this.#value(pure, 2)} % ${n * 3}u`])
    const copy = `${tile.name}[${index}] = given[${from}];\n`
    const guarded = `${indent}if li ${this.pick(['<', '!='])} ${this.below(n + 1)}u {\n${indent}  ${copy}${indent}}\n`
    const between = this.oneIn(3) ? `${indent}mine += ${this.#value(scope, 2)};\n` : ''
    const isMain = !outer.isFunction
    return `${barrier}${this.oneIn(4) ? guarded : indent + copy}${isMain ? between : ''}${barrier}`
  }

  /** One invocation stores what others read by uniform loads. */
  #announce(outer: Scope, indent: string): string {
    const scope = divergent(outer)
    const value = () => this.#value(scope, 2)
    const store = this.#choose([
      () => `one = ${value()};`,
      () => `pair.a = ${value()};`,
      () => `pair = Pair(${value()}, array(1u, ${value()}));`,
      () => `few[${value()} & 3u][1] = ${value()};`,
      () => `few[2] = array(1u, 2u, ${value()});`,
    ])
    const barrier = `${indent}workgroupBarrier();\n`
    return `${barrier}${indent}if li == ${this.below(this.#invocations)}u {\n${indent}  ${store}\n${indent}}\n${barrier}`
  }

  #uniformFlow(scope: Scope, depth: number, indent: string): string {
    const inner = `${indent}  `
    const body = (of: Scope) => this.#statements(1 + this.below(2), of, depth, inner)
    const flat: Scope = { ...scope, loops: 0 }
    const counter = this.#name('k')
    const counted: Scope = { ...scope, shared: [...scope.shared, counter], loops: 1 }
    const bits = () => `(${this.#shared(scope, 2)}) & 3u`
    return this.#choose([
      () => {
        const condition = `${this.#shared(scope, 3)} ${this.pick(['<', '==', '!='])} ${this.#shared(scope, 2)}`
        const other = this.oneIn(2) ? ` else {\n${body(flat)}${indent}}` : ''
        return `${indent}if ${condition} {\n${body(flat)}${indent}}${other}\n`
      },
      () => {
        const rounds = this.pick(['2u', '3u', `(${bits()})`, `(${bits()})`])
        return `${indent}for (var ${counter} = 0u; ${counter} < ${rounds}; ${counter}++) {\n${body(counted)}${indent}}\n`
      },
      () => {
        const rest = this.#statements(this.below(2), { ...counted, loops: 0 }, 0, `${inner}  `)
        const exit = `${counter} > (${this.#shared(counted, 2)} & 1u)`
        return `${indent}var ${counter} = 0u;
${indent}loop {
${body(counted)}${inner}continuing {
${inner}  ${counter}++;
${rest}${inner}  break if ${exit};
${inner}}
${indent}}
`
      },
      () => `${indent}switch ${bits()} {
${inner}case 0u, 2u: {
${this.#statements(2, flat, depth, `${inner}  `)}${inner}}
${inner}default: {
${this.#statements(1, flat, depth, `${inner}  `)}${inner}}
${indent}}
`,
      () => {
        if (scope.isFunction) return ''
        const condition = `${this.#shared({ ...scope, hasBarriers: false }, 1)} == 2u`
        return `${indent}if ${condition} {\n${inner}result[id.x * ${this.#invocations}u + li] = sum;\n${inner}return;\n${indent}}\n`
      },
    ])
  }
}

/** The scope of code that only some invocations of the workgroup reach. */
function divergent(scope: Scope): Scope {
  return { ...scope, isUniform: false, hasBarriers: false }
}

function pointerTo(variable: string): string {
  return variable === '(*p)' ? 'p' : `&${variable}`
}
