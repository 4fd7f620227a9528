import type { BuiltinValue, Statement } from '../ir.ts'
import { ownElements } from './random-cooperation.ts'
import { drawn, type WeightedForm } from './random-expressions.ts'
import { RandomLoops } from './random-loops.ts'
import { builtinValueForms } from './random-memory.ts'
import { rareForms } from './random-rare.ts'
import {
  bool,
  composites,
  i32,
  type Kind,
  randomSubgroups,
  structures,
  u32,
  vectorOf,
} from './random-types.ts'

/**
 * A random valid kernel with the header of a test kernel; the same seed produces the same kernel. It has
 * integers that wrap around, indices out of bounds, structures, nested arrays, matrices, pointers, atomics,
 * barriers, copies into workgroup memory, loops of every form whose counters rise, fall, wrap, and reach or
 * pass their bound, and functions with side effects wherever an expression is allowed. Results are exact and
 * the same on every correct implementation: loops end, each invocation uses only its own elements between two
 * barriers, and the effects of other invocations in between appear only in sums.
 */
export function randomKernel(seed: number): string {
  return new KernelWriter(seed).kernel()
}

const mostNestedLoops = 2

class KernelWriter extends RandomLoops {
  /** The number of statements that may still be written. */
  #budget = 0
  #returns: Kind | undefined

  readonly #seed: number
  /**
   * One operation for the whole kernel: 'or' and 'xor' of one number, mixed, depend on the order of the
   * invocations.
   */
  readonly #combineBits: string

  constructor(seed: number) {
    super(seed, randomSubgroups(seed))
    this.#seed = seed
    this.#combineBits = seed % 2 === 0 ? 'atomicOr' : 'atomicXor'
  }

  /** The text of the whole module. */
  kernel(): string {
    const functions = Array.from({ length: 1 + this.below(4) }, () => this.#function())
    const { threads, size, workgroups } = this
    this.#budget = 36
    this.isUniform = true
    this.variables = [
      { name: 'i', type: u32, isMutable: false },
      { name: 'li', type: u32, isMutable: false },
      { name: 'input', type: u32, isMutable: false },
      { name: 'limits.x', type: u32, isMutable: false, isUniform: true },
      { name: 'limits.y', type: i32, isMutable: false, isUniform: true, as: 'bitcast<i32>(limits.y)' },
      { name: 'state', type: u32, isMutable: true },
      { name: 'table', type: composites[1]!, isMutable: true },
      { name: 'place', type: composites[5]!, isMutable: true },
      ...this.builtinVariables(),
    ]
    const first = () => this.#scenario('  ', () => (this.oneIn(3) ? this.statements(1, '  ') : ''))
    const body = [
      first(),
      first(),
      ...(this.oneIn(2) ? [first()] : []),
      this.statements(4 + this.below(8), '  '),
    ].join('')
    const sums = this.variables
      .slice(5)
      .filter((v) => v.type !== u32 || v.isMutable || !v.isUniform)
      .map((v, k) => `  sum = sum * 31u + ${this.digest(v.name, v.type)} + ${k}u;\n`)
    const elements = threads * ownElements
    const entry = this.#entry()
    const rare = rareForms(this.#seed, threads, this.isInputStructure)
    const isPlain = size[0] === threads && workgroups[0] === 2 && this.oneIn(2)
    const index = isPlain ? 'gid.x' : `${this.pick(['wi', '(wid.x + wid.y + wid.z)'])} * ${threads}u + li`
    return `// run: workgroups=${workgroups.join(',')}
// buffer values: u32[${2 * threads}] random
// buffer quads: u32[${16 * threads}] random
// buffer limits: u32[4] values(${this.pick([0, 3, 7, 2147483647, 4294967295])}, ${this.pick([0, 5, -3, 2147483647])}, 3, 9)
// buffer out: u32[${2 * threads}]
// buffer totals: u32[8]
// buffer tailed: u32[12] random
// buffer bytes: u32[24] random
// buffer rooms: u32[${64 * threads}]
${rare.buffers}${this.hasHalves ? 'enable f16;\n' : ''}${this.subgroups === 'none' ? '' : 'enable subgroups;\n'}${rare.directives}
${structures}struct Room { m: mat3x3f, v: vec3u, @size(32) p: u32, @align(32) q: vec2i }
struct Tailed { head: vec4u, rest: array<u32> }
struct Box { first: atomic<u32>, rest: array<atomic<i32>, 4> }
struct Totals { sums: array<atomic<u32>, 6>, most: atomic<i32>, bits: atomic<u32> }
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read> quads: array<vec4u>;
@group(0) @binding(2) var<uniform> limits: vec4u;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<storage, read_write> totals: Totals;
// It has one element, and stores beyond it are nobody's: its contents are not compared.
@group(0) @binding(5) var<storage, read_write> spill: array<u32>;
@group(0) @binding(6) var<storage, read> tailed: Tailed;
@group(0) @binding(7) var<storage, read> bytes: buffer;
@group(0) @binding(8) var<storage, read_write> rooms: array<Room>;
var<private> state: u32 = 7u;
var<private> table: array<i32, 5>;
var<private> place: Outer;
const constants = array<i32, 4>(3, -5, 11, 2000000011);
var<workgroup> tile: array<vec4u, ${elements}>;
var<workgroup> words: array<u32, ${elements}>;
var<workgroup> more: array<array<i32, ${ownElements}>, ${threads}>;
var<workgroup> counts: array<atomic<u32>, ${elements}>;
var<workgroup> shared_limit: u32;
var<workgroup> raw: buffer<${16 * threads}>;
var<workgroup> only: atomic<u32>;
var<workgroup> firsts: array<atomic<u32>, 4>;
var<workgroup> boxes: array<Box, ${threads}>;
${this.declarations.join('\n')}
fn from_storage(p: ptr<storage, array<u32>, read>, k: u32) -> u32 { return p[k] + arrayLength(p); }
fn from_uniform(p: ptr<uniform, vec4u>, k: u32) -> u32 { return (*p)[k]; }
fn from_private(p: ptr<private, Inner>, k: u32) -> u32 { p.a += 1i; return p.b[k]; }
fn from_tailed(p: ptr<storage, Tailed, read>, k: u32) -> u32 { let r = &p.rest; return arrayLength(r) + r[k] + p.head.y; }
fn from_bytes(p: ptr<storage, buffer, read>, k: u32) -> u32 { return bufferLength(p) + *bufferView<u32>(p, k % 96u); }
fn ignore(x: u32) { state ^= x; }
fn meet(x: u32) -> u32 {
  state += x;
  workgroupBarrier();
  return state * 3u;
}
${functions.join('\n')}
${rare.declarations}${this.#bounded(0)}${this.#bounded(1)}${entry.declaration}@compute @workgroup_size(${size.join(', ')})
fn main(${entry.parameters}) {
${entry.names}  let i = ${index};
  let input = values[i];
${rare.body}${body}  var sum = 0u;
${sums.join('')}  workgroupBarrier();
  _ = spill[0];
  sum = sum * 31u + words[${elements - 1}u - li] + tile[(li * 7u + 3u) % ${elements}u].z;
  sum = sum * 31u + atomicLoad(&counts[(li + 1u) % ${elements}u]) + u32(more[li % ${threads}u][li % ${ownElements}u]);
  out[i] = sum;
}
`
  }

  /** A function with a small result, often an index, on several paths. */
  #bounded(number: number): string {
    const small = () =>
      this.pick([`${this.below(5)}u`, 'x % 3u', 'x & 1u', 'min(x, 4u)', 'select(2u, 3u, x > 7u)'])
    const body = this.pick([
      () => `return ${small()};`,
      () => `if x > 9u { return ${small()}; } return ${small()};`,
      () => `if x > 9u { return ${small()}; } else { return ${small()}; }`,
      () =>
        `if x > 9u { return ${small()}; } else if x > 5u { let y = x / 2u; return y; } { return ${small()}; }`,
      () => `{ let y = x % 4u; if y == 3u { return y; } } return ${small()};`,
      () => `for (var k = 0u; k < 3u; k++) { if x == k { return k + 1u; } } return ${small()};`,
      () => `var y = ${small()}; if x > 3u { y = ${small()}; } return y;`,
      () => `switch x { case 1u, 7u: { return ${small()}; } default: { return ${small()}; } }`,
      () => `loop { if x > 2u { return ${small()}; } return ${small()}; }`,
      () => `while x > 2u { return ${small()}; } return ${small()};`,
    ])()
    return `fn bounded${number}(x: u32) -> u32 { ${body} }\n`
  }

  /** How the entry point receives the built-in values: as parameters, or as members of a structure. */
  #entry() {
    const values = (
      Object.entries(builtinValueForms) as [
        BuiltinValue,
        { name: string; isVector: boolean; ofSubgroup?: true },
      ][]
    )
      .filter(([, { ofSubgroup }]) => !ofSubgroup || this.subgroups === 'of-32')
      .map(([value, { name, isVector }]) => ({
        name,
        text: `@builtin(${value}) ${name}: ${isVector ? 'vec3u' : 'u32'}`,
      }))
    const list = values.map(({ text }) => text).join(', ')
    if (!this.isInputStructure) return { declaration: '', parameters: list, names: '' }
    return {
      declaration: `struct Inputs { ${list} }\n`,
      parameters: 'inputs: Inputs',
      names: values.map(({ name }) => `  let ${name} = inputs.${name};\n`).join(''),
    }
  }

  #function(): string {
    const name = this.name('call')
    const kind = this.pick(['u32', 'i32'] as const)
    const outer = this.variables
    this.#budget = 9
    this.#returns = kind
    this.variables = [
      { name: 'x', type: u32, isMutable: false },
      { name: 'y', type: i32, isMutable: false },
      { name: '(*p)', type: u32, isMutable: true, isPointer: true },
      { name: 'state', type: u32, isMutable: true },
      { name: 'table', type: composites[1]!, isMutable: true },
    ]
    const text = `fn ${name}(x: u32, y: i32, p: ptr<function, u32>) -> ${kind} {
${this.statements(2 + this.below(4), '  ')}  *p += ${this.expression(u32, 1)};
  return ${this.expression(vectorOf(kind, 1), 2)};
}
`
    this.variables = outer
    this.#returns = undefined
    this.functions.push({ name, kind })
    return text
  }

  // ---------------------------------------------------------------------------------------------- statements

  protected override statements(count: number, indent: string): string {
    let text = ''
    for (let k = 0; k < count && this.#budget > 0; k++) {
      this.#budget--
      text += this.#statement(indent)
    }
    return text
  }

  /**
   * A block with its own scope; `isUniform` says whether all invocations that reach the block together reach
   * its statements together.
   */
  protected override block(indent: string, isUniform = false, first = ''): string {
    const outer = { variables: this.variables, isUniform: this.isUniform }
    this.variables = [...outer.variables]
    this.isUniform &&= isUniform
    const text = this.statements(1 + this.below(3), `${indent}  `)
    this.variables = outer.variables
    this.isUniform = outer.isUniform
    return `{\n${first}${text}${indent}}`
  }

  #statement(indent: string): string {
    if (this.isUniform && this.oneIn(4)) return this.#scenario(indent)
    if (this.isUniform && this.subgroups !== 'none' && this.oneIn(3)) return this.subgroup(indent)
    if (this.isUniform && this.oneIn(5)) return this.together(indent)
    const form = drawn(this, statementForms)
    return form.write(this.#writers, indent) ?? `${indent}${this.#assignment()}\n`
  }

  #scenario(indent: string, between = () => this.statements(1, indent)): string {
    return this.scenario(indent, between, () => {
      const count = this.below(this.subgroups === 'none' ? 3 : 7)
      const call = () =>
        this.subgroups !== 'none' && !this.oneIn(4)
          ? this.subgroup(indent)
          : `${indent}${this.ownAtomic(this.#counter)}\n`
      return Array.from({ length: count }, call).join('')
    })
  }

  /** The counter of the innermost loop around. */
  get #counter(): string | undefined {
    return this.variables.findLast(({ name }) => /^[kw]\d+$/.test(name))?.name
  }

  /** The functions that write each kind of statement. */
  readonly #writers: StatementWriters = {
    mayNest: () => this.depth < mostNestedLoops,
    block: (indent) => `${indent}${this.block(indent, true)}\n`,
    declaration: (keyword) => this.#declaration(keyword),
    assignment: () => this.#assignment(),
    pointer: (indent) => this.#pointer(indent),
    atomic: () => this.#atomic(),
    evaluate: () => this.#evaluate(),
    if: (indent) => this.#if(indent),
    switch: (indent) => (this.isStraight ? this.#if(indent).trim() : this.#switch(indent)),
    for: (indent) => this.for(indent),
    loop: (indent) => (this.isStraight ? this.for(indent) : this.loop(indent)),
    while: (indent) => (this.isStraight ? this.for(indent) : this.while(indent)),
    leave: (jump) => {
      if (this.loops === 0) return undefined
      const how = this.isStraight ? 'break' : jump
      return this.oneIn(3) ? `if ${this.expression(bool, 2)} { ${how}; }` : this.#guarded(`${how};`)
    },
    return: () => this.#return(),
    oneIn: (n) => this.oneIn(n),
  }

  #if(indent: string): string {
    const isUniform = this.oneIn(3) && this.variables.some((v) => v.isUniform)
    const condition = isUniform ? this.uniformCondition() : this.expression(bool, 2)
    const then = this.block(indent, isUniform)
    const drawn = this.below(4)
    const otherwise =
      drawn < 2
        ? ''
        : drawn === 2
          ? ` else ${this.block(indent, isUniform)}`
          : ` else if ${this.expression(bool, 1)} ${this.block(indent)}`
    return `${indent}if ${condition} ${then}${otherwise}\n`
  }

  #return(): string | undefined {
    if (this.#returns !== undefined) {
      const leave = `return ${this.expression(vectorOf(this.#returns, 1), 1)};`
      return this.oneIn(2) ? `if ${this.expression(bool, 2)} { ${leave} }` : this.#guarded(leave)
    }
    // Either the second workgroup leaves or none does, because barriers follow.
    if (!this.isUniform || this.isInputStructure || !this.oneIn(3)) return undefined
    return `if ${this.uniformCondition()} && wid.x + wid.y + wid.z == 1u { return; }`
  }

  /**
   * A jump for an index out of bounds, sometimes with a condition that misses a case, followed by a use of
   * the index.
   */
  #guarded(leave: string): string {
    const v = this.scalar(this.pick(['u32', 'i32'] as const))
    const index = this.name('at')
    const condition = `${index} ${this.pick(['>=', '>', '=='])} ${this.pick([4, 5])}`
    const b = this.expression(bool, 1)
    const left = this.pick([
      `if ${condition} { ${leave} }`,
      `if ${condition} { { state += 1u; } { ${leave} } }`,
      `if ${condition} { if ${b} { ${leave} } else { ${leave} } }`,
      `if ${condition} { if ${b} { ${leave} } else { state += 1u; } }`,
      `if ${condition} { if ${b} { state += 1u; } else { ${leave} } }`,
      `if ${condition} { if ${b} { ${leave} } }`,
      `if ${b} || ${condition} { ${leave} }`,
      `if ${b} && ${condition} { ${leave} }`,
      `if !(${index} < 5) { ${leave} }`,
      `if ${index} < 5 { state += 1u; } else { ${leave} }`,
    ])
    return `let ${index} = ${v}; ${left} state += u32(table[${index}]);`
  }

  #evaluate(): string {
    if (this.functions.length === 0 || this.oneIn(2)) return `_ = ${this.expression(u32, 2)};`
    return `ignore(${this.expression(u32, 2)});`
  }

  /** A pointer that is a let, and a store through it. */
  #pointer(indent: string): string | undefined {
    const found = this.places((t) => t.kind !== undefined && t.kind !== 'bool' && t.size === 1)
    const target = this.pick(found.length > 0 ? found : [{ text: 'state', type: u32 }])
    if (target.type.kind === 'f32') return undefined
    // A component of a vector has no address.
    if (target.isComponent) return `${target.text} ^= ${this.expression(target.type, 2)};`
    const p = this.name('p')
    return `let ${p} = &${target.text};\n${indent}*${p} ${this.pick(['=', '+=', '^='])} ${this.expression(target.type, 2)};`
  }

  #declaration(keyword: 'let' | 'var'): string {
    const isMutable = keyword === 'var'
    const name = this.name('v')
    if (this.oneIn(4)) {
      const type = this.pick(composites)
      const value = this.composite(type)
      this.variables.push({ name, type, isMutable })
      return `${isMutable ? 'var' : 'let'} ${name} = ${value};`
    }
    const kind = this.pick(['u32', 'i32', 'u32', 'i32', 'bool'] as const)
    const type = vectorOf(kind, this.pick([1, 1, 2, 3, 4] as const))
    const value = this.expression(type, 2)
    this.variables.push({ name, type, isMutable })
    if (isMutable && this.oneIn(5)) return `var ${name}: ${type.name};`
    return `${isMutable ? 'var' : 'let'} ${name} = ${value};`
  }

  /**
   * An access to a structure with padding in storage, or to bytes without a type in workgroup memory: those
   * of this invocation.
   */
  #laidOut(): string {
    const row = () => this.smallFloat(vectorOf('f32', 3))
    const bytes = `bufferView<${this.pick(['array<u32, 4>', 'vec4u'])}>(&raw, li * 16u)`
    return this.pick([
      () => `rooms[i].v ${this.pick(['=', '^='])} ${this.expression(vectorOf('u32', 3), 1)};`,
      () => `rooms[i].v.${this.pick(['x', 'z'])} += ${this.expression(u32, 1)};`,
      () => `rooms[i].m = mat3x3f(${row()}, ${row()}, ${row()});`,
      () => `rooms[i].m[${this.index(3)}] = ${row()};`,
      () => `rooms[i].p = ${this.expression(u32, 1)} + rooms[i].v.y;`,
      () => `rooms[i].q = ${this.expression(vectorOf('i32', 2), 1)};`,
      () =>
        `state ^= dot(rooms[i].v, vec3u(1u, 3u, 5u)) + u32(rooms[i].m[${this.index(3)}].y) + u32(rooms[i].q.x);`,
      () => `${bytes}[${this.index(4)}] = ${this.expression(u32, 1)};`,
      () => `state += ${bytes}[${this.index(4)}] + bufferLength(&raw);`,
    ])()
  }

  #assignment(): string {
    // The element of this invocation, which is an output of the kernel.
    if (this.#returns === undefined && this.oneIn(8)) return this.#laidOut()
    if (this.#returns === undefined && this.oneIn(8))
      return `out[i] ${this.pick(['=', '+=', '^='])} ${this.expression(u32, 2)};`
    const target = this.pick(this.places(() => true))
    const { type, text } = target
    if (type.kind === undefined || type.kind === 'f32')
      return type.kind === undefined
        ? `${text} = ${this.composite(type)};`
        : `${text} = ${this.smallFloat(type)};`
    if (type.size! > 1 && this.oneIn(3)) {
      const swizzle = this.pick(['xy', 'yx'])
      const operator = type.kind === 'bool' ? '=' : this.pick(['=', '+=', '^='])
      return `${text}.${swizzle} ${operator} ${this.expression(vectorOf(type.kind, 2), 2)};`
    }
    if (type.kind === 'bool')
      return `${text} ${type.size === 1 ? '=' : this.pick(['=', '&=', '|='])} ${this.expression(type, 2)};`
    if (type.size === 1 && this.oneIn(6)) return `${text}${this.pick(['++', '--'])};`
    return `${text} ${this.pick(['=', '=', '+=', '-=', '*=', '&=', '|=', '^='])} ${this.expression(type, 2)};`
  }

  /**
   * Atomics on shared memory have the same total effect in any order; an invocation uses their results only
   * on its own elements.
   */
  #atomic(): string {
    const value = this.expression(u32, 1)
    switch (this.below(this.#returns === undefined ? 7 : 3)) {
      case 0:
        return `atomicAdd(&totals.sums[${this.index(6)}], ${value});`
      case 1:
        return `atomicMax(&totals.most, ${this.expression(i32, 1)});`
      case 2:
        return `${this.#combineBits}(&totals.bits, ${value});`
      default:
        return this.ownAtomic(this.#counter)
    }
  }

  #switch(indent: string): string {
    const kind = this.pick(['u32', 'i32'] as const)
    const suffix = kind === 'u32' ? 'u' : 'i'
    const isUniform = this.oneIn(4)
    const block = () => this.block(`${indent}  `, isUniform)
    const selector = isUniform ? 'limits.z' : `${this.expression(vectorOf(kind, 1), 1)} % 8${suffix}`
    const cases = Array.from(
      { length: 1 + this.below(3) },
      (_, c) =>
        `${indent}  case ${c * 2}${isUniform ? 'u' : suffix}${this.oneIn(2) ? `, ${c * 2 + 1}${isUniform ? 'u' : suffix}` : ''} ${block()}\n`,
    )
    const loops = this.loops
    this.loops = 0
    const text = `switch ${selector} {\n${cases.join('')}${indent}  default ${block()}\n${indent}}`
    this.loops = loops
    return text
  }
}

/** The functions that write the kinds of statements; undefined for those that are not allowed. */
interface StatementWriters {
  readonly mayNest: () => boolean
  readonly oneIn: (n: number) => boolean
  readonly block: (indent: string) => string
  readonly declaration: (keyword: 'let' | 'var') => string
  readonly assignment: () => string
  readonly pointer: (indent: string) => string | undefined
  readonly atomic: () => string
  readonly evaluate: () => string
  readonly if: (indent: string) => string
  readonly switch: (indent: string) => string
  readonly for: (indent: string) => string
  readonly loop: (indent: string) => string
  readonly while: (indent: string) => string
  readonly leave: (how: 'break' | 'continue') => string | undefined
  readonly return: () => string | undefined
}

type WriteStatement = (w: StatementWriters, indent: string) => string | undefined

const line = (indent: string, text: string | undefined) => text && `${indent}${text}\n`
const nested =
  (write: (w: StatementWriters, indent: string) => string): WriteStatement =>
  (w, indent) =>
    w.mayNest() ? write(w, indent) : undefined

/** How random kernels write each kind of statement. */
export const statementForms: Readonly<Record<Statement['kind'] | 'while', WeightedForm<WriteStatement>>> = {
  block: { weight: 1, write: (w, indent) => w.block(indent) },
  let: { weight: 1, write: (w, indent) => line(indent, w.declaration('let')) },
  var: { weight: 2, write: (w, indent) => line(indent, w.declaration('var')) },
  assign: { weight: 2, write: (w, indent) => line(indent, w.oneIn(4) ? w.pointer(indent) : w.assignment()) },
  'compound-assign': { weight: 2, write: (w, indent) => line(indent, w.assignment()) },
  evaluate: { weight: 3, write: (w, indent) => line(indent, w.oneIn(3) ? w.evaluate() : w.atomic()) },
  if: { weight: 1, write: (w, indent) => w.if(indent) },
  switch: { weight: 1, write: (w, indent) => line(indent, w.switch(indent)) },
  for: { weight: 3, write: nested((w, indent) => w.for(indent)) },
  loop: { weight: 1, write: nested((w, indent) => w.loop(indent)) },
  while: { weight: 1, write: nested((w, indent) => w.while(indent)) },
  break: { weight: 1, write: (w, indent) => line(indent, w.leave('break')) },
  continue: { weight: 1, write: (w, indent) => line(indent, w.leave('continue')) },
  return: { weight: 1, write: (w, indent) => line(indent, w.return()) },
}
