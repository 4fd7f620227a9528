import {
  type Callable,
  constant,
  divergent,
  givenLength,
  mixed,
  type Named,
  type Parameter,
  place,
  RandomTeamExpressions,
  type Scope,
  types,
  variable,
  vec3u,
  words,
} from './random-team-expressions.ts'
import { bool, type RandomType, u32 } from './random-types.ts'

/**
 * A random valid kernel of whole workgroups with functions that are too long to be inlined. All invocations of
 * a workgroup call the "team" functions together; these have barriers, `workgroupUniformLoad` and subgroup
 * operations. The "free" functions are called anywhere, and their invocations take different ways through
 * loops and return early. Functions take composites by value and by pointer, and many values live across
 * calls. The same seed produces the same kernel; all results are exact, and atomic operations on one element
 * commute. Workgroups compute the same in turns of three.
 *
 * ptxas 13.0 assumes that the threads of a warp return from a call together. It has left out the
 * synchronization before subgroup operations behind calls, and has kept counters of loops in registers of the
 * warp.
 */
export function randomTeamFunctions(seed: number, workgroups = 3): string {
  return new TeamFunctionWriter(seed, teamFunctionsUseSubgroups(seed)).kernel(workgroups)
}

/** Whether the kernel of a seed has subgroup operations, whose results assume subgroups of 32. */
export function teamFunctionsUseSubgroups(seed: number): boolean {
  return seed % 4 !== 0
}

/** The largest number of rounds of a loop. */
const mostRounds = 3
/** What every function takes from its caller. */
const passed = [constant('lid', u32), constant('mine', u32)]
/** The types to which functions have pointers to their callers' variables. */
const pointees = [u32, u32, words, words, vec3u, mixed]

/** Writes the statements of a block. */
type Body = (scope: Scope, indent: string) => string

class TeamFunctionWriter extends RandomTeamExpressions {
  /** What the function that is being written returns. */
  #result: RandomType = u32

  kernel(workgroups: number): string {
    const n = this.invocations
    const limits = Array.from({ length: 16 }, () => this.below(9))
    const functions = Array.from({ length: 5 + this.below(4) }, (_, i) => this.#function(i)).join('')
    const body = this.#entryBody()
    return `${this.hasSubgroups ? 'enable subgroups;\n' : ''}// run: workgroups=${workgroups},1,1
// buffer given: u32[${givenLength}] random
// buffer limits: u32[16] values(${limits.join(', ')})
// buffer result: u32[${n * workgroups}]
// buffer totals: u32[${5 * workgroups}]
struct ${mixed.name} { ${mixed.members!.map((m) => `${m.name}: ${m.type.name}`).join(', ')} }
@group(0) @binding(0) var<storage, read> given: array<u32, ${givenLength}>;
@group(0) @binding(1) var<uniform> limits: array<vec4u, 4>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>>;
var<workgroup> tile: array<u32, ${n}>;
var<workgroup> own: array<u32, ${n}>;
var<workgroup> lent: array<u32, ${n}>;
var<workgroup> counts: array<atomic<u32>, 5>;
var<workgroup> one: u32;
var<private> hidden: u32 = 7u;
var<private> workgroup_index: u32;
${functions}@compute @workgroup_size(${this.size.join(', ')})
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) id: vec3u) {
  workgroup_index = id.x;
  let group = id.x % 3u;
  let mine = given[(group * ${n}u + lid * 5u) % ${givenLength}u];
${body}}
`
  }

  #function(i: number): string {
    const isTeam = this.oneIn(2)
    const name = `${isTeam ? 'team' : 'free'}${i}`
    const result = this.pick(types)
    const parameters = this.#parameters()
    const named = parameters.map(({ type, form }, j): Named => {
      if (form === 'value' || form === 'shared') return constant(`a${j}`, type)
      return { name: `(*a${j})`, type, isMutable: true, pointer: `a${j}`, space: form }
    })
    this.#result = result
    this.cost = 0
    const body = this.#functionBody({
      isUniform: isTeam,
      isInLoop: false,
      mayReturn: true,
      named: [...named, ...this.#places(), ...passed],
      shared: isTeam ? named.filter((_, j) => parameters[j]!.form === 'shared') : [],
    })
    this.functions.push({ name, isTeam, parameters, result, cost: this.cost })
    const heads = parameters.map(({ type, form }, j) =>
      form === 'value' || form === 'shared' ? `a${j}: ${type.name}` : `a${j}: ptr<${form}, ${type.name}>`,
    )
    return `fn ${name}(${[...heads, 'lid: u32', 'mine: u32'].join(', ')}) -> ${result.name} {\n${body}}\n`
  }

  #parameters(): Parameter[] {
    const more = Array.from({ length: this.below(4) }, (): Parameter => {
      if (this.oneIn(2)) return { form: 'value', type: this.pick(types) }
      return { form: 'function', type: this.pick(pointees) }
    })
    if (this.oneIn(3)) more.unshift({ form: 'workgroup', type: u32 })
    return [{ form: 'value', type: u32 }, { form: 'shared', type: u32 }, ...more]
  }

  /** The variables of the module of which each invocation uses its own. */
  #places(): Named[] {
    return [place('own[lid]'), place('hidden'), place(`result[workgroup_index * ${this.invocations}u + lid]`)]
  }

  #functionBody(scope: Scope): string {
    const indent = '  '
    const locals = this.#variable(scope, u32, indent) + this.#variable(scope, words, indent)
    const longLived = this.#longLived(scope, [0, 0, 8, 16, 30, 60])
    const body = this.#statementsHere(scope, 7 + this.below(8), 2, indent)
    // In half of the functions the invocations return one by one from here on.
    const last = this.oneIn(2) ? scope : { ...divergent(scope), mayReturn: true }
    const step = () => this.#exit(last, indent) + this.#statement(last, 2, indent)
    const tail = last === scope ? '' : Array.from({ length: 1 + this.below(4) }, step).join('')
    const end = `${indent}hidden = hidden * 3u + ${this.leaf(last)};\n`
    const result = `${indent}return ${this.value(last, this.#result, 2)};\n`
    return locals + longLived.start + body + tail + longLived.end + end + result
  }

  /** Calls the functions, each with pointers to variables of its own. */
  #entryBody(): string {
    const indent = '  '
    this.cost = 0
    this.mostCost *= 3
    const lent: Named = { ...place('lent[lid]'), pointer: '&lent[lid]', space: 'workgroup' }
    const scope: Scope = {
      isUniform: true,
      isInLoop: false,
      mayReturn: false,
      named: [...passed, lent, ...this.#places()],
      shared: [constant('group', u32)],
    }
    const first = [u32, words].map((type) => this.#variable(scope, type, indent)).join('')
    const longLived = this.#longLived(scope, [0, 0, 8, 20, 40])
    const calls = this.functions.toReversed().map((callable) => {
      const own = callable.parameters.filter((p) => p.form === 'function')
      const variables = own.map(({ type }) => this.#variable(scope, type, indent)).join('')
      const call = () => this.#callStatement(scope, [callable], indent)
      return variables + call() + this.#statementsHere(scope, 1, 2, indent) + (this.oneIn(2) ? call() : '')
    })
    const sum = scope.named.map(({ name, type }, i) => `${this.read(name, type)} * ${2 * i + 1}u`)
    return `${first}${longLived.start}${calls.join('')}${longLived.end}  workgroupBarrier();
  result[workgroup_index * ${this.invocations}u + lid] = ${sum.join(' + ')} + atomicLoad(&counts[lid % 5u]);
`
  }

  /** Values that are used again at the end, in some functions more than there are registers. */
  #longLived(scope: Scope, counts: readonly number[]): { start: string; end: string } {
    const names = Array.from({ length: this.pick(counts) }, () => this.name('w'))
    this.cost += names.length
    const start = names.map((name, i) => {
      const from = this.pick([...passed, ...scope.shared]).name
      return `  let ${name} = given[(${from} + ${i * 7}u) % ${givenLength}u] * ${2 * i + 1}u;\n`
    })
    const sum = names.map((name, i) => (i % 3 === 0 ? `(${name} >> ${i % 31}u)` : `${name} * ${2 * i + 3}u`))
    scope.named.push(...names.slice(0, 6).map((name) => constant(name, u32)))
    return { start: start.join(''), end: names.length === 0 ? '' : `  hidden ^= ${sum.join(' + ')};\n` }
  }

  /** Statements of a block, whose names end with it. */
  #statements(outer: Scope, count: number, depth: number, indent: string): string {
    const scope = { ...outer, named: [...outer.named], shared: [...outer.shared] }
    return this.#statementsHere(scope, count, depth, indent)
  }

  #statementsHere(scope: Scope, count: number, depth: number, indent: string): string {
    return Array.from({ length: count }, () => this.#statement(scope, depth, indent)).join('')
  }

  #statement(scope: Scope, depth: number, indent: string): string {
    this.cost += this.rounds
    const store = () => this.#store(scope, indent)
    const declare = () => this.#declare(scope, indent)
    const choices = [
      ...[store, store, store, declare, declare, declare],
      () => this.#atomic(scope, indent),
      () => this.#atomic(scope, indent),
      () => this.#callStatement(scope, this.callable(scope), indent),
    ]
    if (scope.isInLoop) choices.push(() => this.#exit(scope, indent))
    if (scope.isUniform) {
      const exchange = () => this.#exchange(scope, indent)
      choices.push(exchange, exchange, exchange, () => this.#sharedVariable(scope, indent))
    }
    const body: Body = (inner, more) => this.#statements(inner, 1 + this.below(3), depth - 1, more)
    if (depth > 0)
      choices.push(
        ...[() => this.#if(scope, indent, body), () => this.#if(scope, indent, body)],
        ...[() => this.#loop(scope, indent, body), () => this.#loop(scope, indent, body)],
        () => this.#switch(scope, depth - 1, indent),
        () => this.#nest(divergent(scope), this.oneIn(4) ? 2 + this.below(14) : 2 + this.below(5), indent),
      )
    return this.choose(choices)
  }

  #variable(scope: Scope, type: RandomType, indent: string): string {
    const declared = variable(this.name('v'), type)
    const text = `${indent}var ${declared.name}: ${type.name} = ${this.value(scope, type, 1)};\n`
    scope.named.push(declared)
    return text
  }

  #declare(scope: Scope, indent: string): string {
    const type = this.pick(types)
    if (this.oneIn(2)) return this.#variable(scope, type, indent)
    const declared = constant(this.name('l'), type)
    const text = `${indent}let ${declared.name} = ${this.value(scope, type, 3)};\n`
    scope.named.push(declared)
    return text
  }

  /** A variable that is the same for all invocations of the workgroup. */
  #sharedVariable(scope: Scope, indent: string): string {
    const value = this.shared(scope, 2)
    const variables = scope.shared.filter((v) => v.isMutable)
    if (variables.length > 0 && this.oneIn(2))
      return `${indent}${this.pick(variables).name} ${this.pick(['=', '+=', '^='])} ${value};\n`
    const name = this.name('u')
    scope.shared.push(variable(name, u32))
    return `${indent}var ${name} = ${value};\n`
  }

  #store(scope: Scope, indent: string): string {
    const { name, type } = this.pick(scope.named.filter((v) => v.isMutable))
    if (type === bool || type === mixed || this.oneIn(8))
      return `${indent}${name} = ${this.value(scope, type, 2)};\n`
    const part = type === words ? `[${this.index(this.leaf(scope))}]` : type === vec3u ? '.y' : ''
    return `${indent}${name}${part} ${this.pick(['=', '+=', '-=', '*=', '^='])} ${this.word(scope, 2)};\n`
  }

  /** A call of one of these functions; a store if the call is not possible. */
  #callStatement(scope: Scope, functions: readonly Callable[], indent: string): string {
    const callable = functions.length === 0 ? undefined : this.pick(functions)
    const call = callable && this.call(scope, callable, 2)
    if (call === undefined) return this.#store(scope, indent)
    return `${indent}hidden = hidden * 3u + ${this.read(call, callable!.result)};\n`
  }

  /** An atomic operation of invocations in any order. */
  #atomic(scope: Scope, indent: string): string {
    const element = this.pick([0, 0, 1, 2, 3, 4])
    const operation = [this.pick(['Add', 'Sub']), 'Add', 'Max', 'Xor', 'Or'][element]
    const index = element < 2 && this.oneIn(2) ? `(${this.leaf(scope)} & 1u)` : `${element}u`
    const memory = this.pick([`counts[${index}]`, `totals[workgroup_index * 5u + ${index}]`])
    const value = this.choose([
      () => '1u',
      () => this.shared(scope, 1),
      () => this.word(scope, 0),
      () => this.word(scope, 1),
    ])
    return `${indent}atomic${operation}(&${memory}, ${value});\n`
  }

  /** A value that passes from one invocation to others. */
  #exchange(scope: Scope, indent: string): string {
    const name = this.name('x')
    const n = this.invocations
    const barrier = `${indent}workgroupBarrier();\n`
    const store = () => `${indent}tile[lid] = ${this.word(scope, 2)};\n`
    const letShared = (value: string) => {
      scope.shared.push(constant(name, u32))
      return `${indent}let ${name} = workgroupUniformLoad(&${value});\n`
    }
    const letOwn = (value: string) => {
      scope.named.push(constant(name, u32))
      return `${barrier}${indent}let ${name} = ${value};\n${barrier}`
    }
    return this.choose([
      () => {
        const value = this.word(divergent(scope), 2)
        return `${indent}if lid == ${this.below(n)}u { one = ${value}; }\n${letShared('one')}`
      },
      () => letOwn(`atomicLoad(&counts[${this.below(5)}])`),
      () => store() + letShared(`tile[${this.shared(scope, 1)} % ${n}u]`),
      () => store() + letOwn(`tile[(lid + ${this.word(divergent(scope), 1)}) % ${n}u]`),
    ])
  }

  /** A way to leave the loop, its round, or the function. */
  #jump(scope: Scope): string {
    const ways = scope.isInLoop ? ['break', 'continue'] : []
    if (scope.mayReturn) ways.push('return')
    const way = this.pick(ways)
    return way === 'return' ? `return ${this.value(scope, this.#result, 1)};` : `${way};`
  }

  /** A jump on a condition. */
  #exit(scope: Scope, indent: string): string {
    return `${indent}if ${this.#decision(scope, scope, 2)} { ${this.#jump(scope)} }\n`
  }

  /** The scope of code behind a condition: all invocations go the same way, or each goes its own. */
  #branch(outer: Scope): Scope {
    return this.oneIn(3) ? outer : divergent(outer)
  }

  /** The condition on which invocations go to `inner`. */
  #decision(outer: Scope, inner: Scope, depth: number): string {
    return inner.isUniform ? this.sharedCondition(outer, depth) : this.condition(outer, depth)
  }

  #if(outer: Scope, indent: string, body: Body): string {
    const scope = this.#branch(outer)
    const more = `${indent}  `
    const head = `${indent}if ${this.#decision(outer, scope, 2)} {\n${body(scope, more)}${indent}}`
    if (this.oneIn(2)) return `${head}\n`
    const isLeft = this.oneIn(4) && (scope.isInLoop || scope.mayReturn)
    const jump = isLeft ? `${more}${this.#jump(scope)}\n` : ''
    return `${head} else {\n${this.#statements(scope, 1 + this.below(2), 0, more)}${jump}${indent}}\n`
  }

  #loop(outer: Scope, indent: string, body: Body): string {
    const scope = this.oneIn(2) ? outer : divergent(outer)
    const k = this.name('k')
    const inner = { ...scope, isInLoop: true, named: [...scope.named, constant(k, u32)] }
    if (scope.isUniform) inner.shared = [...scope.shared, constant(k, u32)]
    const more = `${indent}  `
    this.rounds *= mostRounds
    const bits = scope.isUniform ? this.shared(scope, 1) : this.word(scope, 1)
    const rounds = this.pick(['2u', `${mostRounds}u`, `(${bits} & ${mostRounds}u)`])
    const end = this.oneIn(3) ? ` || ${this.#decision(scope, scope, 0)}` : ''
    const text = body(inner, more) + (this.oneIn(2) ? this.#exit(inner, more) : '')
    this.rounds /= mostRounds
    return this.pick([
      `${indent}for (var ${k} = 0u; ${k} < ${rounds}; ${k}++) {\n${text}${indent}}\n`,
      `${indent}var ${k} = 0u;\n${indent}while ${k} < ${rounds} {\n${more}${k}++;\n${text}${indent}}\n`,
      `${indent}var ${k} = 0u;
${indent}loop {
${text}${more}continuing {
${more}  ${k}++;
${more}  break if ${k} >= ${rounds}${end};
${more}}
${indent}}
`,
    ])
  }

  #switch(outer: Scope, depth: number, indent: string): string {
    const scope = { ...this.#branch(outer), isInLoop: false }
    const hasMany = this.oneIn(3)
    const cases = hasMany ? 6 + this.below(6) : 3
    const word = scope.isUniform ? this.shared(outer, 1) : this.word(outer, 1)
    const more = `${indent}    `
    const bodies = Array.from({ length: cases }, (_, i) => {
      const count = hasMany ? 1 : 1 + this.below(2)
      const jump = scope.mayReturn && this.oneIn(6) ? `${more}${this.#jump(scope)}\n` : ''
      const text = this.#statements(scope, count, hasMany ? 0 : depth, more) + jump
      return `${indent}  ${i === 0 ? 'default' : `case ${i}u`}: {\n${text}${indent}  }\n`
    })
    return `${indent}switch ${word} % ${cases}u {\n${bodies.join('')}${indent}}\n`
  }

  /** A call deep in conditions and loops. */
  #nest(scope: Scope, depth: number, indent: string): string {
    if (depth === 0) return this.#callStatement(scope, this.callable(scope), indent)
    const body: Body = (inner, more) => this.#nest(inner, depth - 1, more)
    const text = this.oneIn(5) ? this.#loop(scope, indent, body) : this.#if(scope, indent, body)
    return this.oneIn(2) ? text + this.#store(scope, indent) : text
  }
}
