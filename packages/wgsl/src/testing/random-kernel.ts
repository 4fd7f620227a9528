import { RandomExpressions, type Variable } from './random-expressions.ts'
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
 * A random valid kernel with the header of a test kernel; the same seed gives the same kernel. It has integers that wrap around,
 * indices out of range, structures, nested arrays, matrices, pointers, atomics, barriers, copies into workgroup memory, loops
 * of every form whose counters rise, fall, wrap and meet their bound or pass it, and functions with side effects wherever an
 * expression may stand. Results are exact and the same on every correct implementation: loops end, each invocation keeps to elements
 * of its own between two barriers, and what others do in between shows only in sums.
 */
export function randomKernel(seed: number): string {
  return new KernelWriter(seed).kernel()
}

/** Elements of workgroup arrays that belong to one invocation. */
const ownElements = 4

const mostNestedLoops = 2

class KernelWriter extends RandomExpressions {
  /** Statements that may still be written. */
  #budget = 0
  /** Loops around the statement, as far as `break` may leave them. */
  #loops = 0
  /** All loops around the statement: deeper nests would only take longer. */
  #depth = 0
  #returns: Kind | undefined
  /** Every invocation of the workgroup comes by: barriers and subgroup operations may stand here. */
  #isUniform = false
  #threads = 1

  /** One operation for the whole kernel: 'or' and 'xor' of one number, mixed, depend on the order of the invocations. */
  readonly #combineBits: string

  constructor(seed: number) {
    super(seed, randomSubgroups(seed))
    this.#combineBits = seed % 2 === 0 ? 'atomicOr' : 'atomicXor'
  }

  /** The text of the whole module. */
  kernel(): string {
    this.#threads = this.pick(this.subgroups === 'none' ? [1, 3, 16, 33] : [32, 64])
    const functions = Array.from({ length: 1 + this.below(4) }, () => this.#function())
    const threads = this.#threads
    this.#budget = 36
    this.#isUniform = true
    this.variables = [
      { name: 'i', type: u32, isMutable: false },
      { name: 'li', type: u32, isMutable: false },
      { name: 'input', type: u32, isMutable: false },
      { name: 'limits.x', type: u32, isMutable: false, isUniform: true },
      { name: 'limits.y', type: i32, isMutable: false, isUniform: true, as: 'bitcast<i32>(limits.y)' },
      { name: 'state', type: u32, isMutable: true },
      { name: 'table', type: composites[1]!, isMutable: true },
      { name: 'place', type: composites[5]!, isMutable: true },
    ]
    const body = this.#statements(6 + this.below(8), '  ')
    const sums = this.variables
      .slice(5)
      .map((v, k) => `  sum = sum * 31u + ${this.digest(v.name, v.type)} + ${k}u;\n`)
    const elements = threads * ownElements
    return `// run: workgroups=2,1,1
// buffer values: u32[${2 * threads}] random
// buffer quads: u32[${16 * threads}] random
// buffer limits: u32[4] values(${this.pick([0, 3, 7, 2147483647, 4294967295])}, ${this.pick([0, 5, -3, 2147483647])}, 3, 9)
// buffer out: u32[${2 * threads}]
// buffer totals: u32[8]
${this.subgroups === 'none' ? '' : 'enable subgroups;\n'}
${structures}struct Totals { sums: array<atomic<u32>, 6>, most: atomic<i32>, bits: atomic<u32> }
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read> quads: array<vec4u>;
@group(0) @binding(2) var<uniform> limits: vec4u;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<storage, read_write> totals: Totals;
// It has one element, and stores beyond it are nobody's: its contents are not compared.
@group(0) @binding(5) var<storage, read_write> spill: array<u32>;
var<private> state: u32 = 7u;
var<private> table: array<i32, 5>;
var<private> place: Outer;
const constants = array<i32, 4>(3, -5, 11, 2000000011);
var<workgroup> tile: array<vec4u, ${elements}>;
var<workgroup> words: array<u32, ${elements}>;
var<workgroup> more: array<array<i32, ${ownElements}>, ${threads}>;
var<workgroup> counts: array<atomic<u32>, ${elements}>;
var<workgroup> shared_limit: u32;

fn meet(x: u32) -> u32 {
  state += x;
  workgroupBarrier();
  return state * 3u;
}
${functions.join('\n')}
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) li: u32) {
  let i = id.x;
  let input = values[i];
${body}  var sum = 0u;
${sums.join('')}  workgroupBarrier();
  _ = spill[0];
  sum = sum * 31u + words[${elements - 1}u - li] + tile[(li * 7u + 3u) % ${elements}u].z;
  sum = sum * 31u + atomicLoad(&counts[(li + 1u) % ${elements}u]) + u32(more[li % ${threads}u][li % ${ownElements}u]);
  out[i] = sum;
}
`
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
${this.#statements(2 + this.below(4), '  ')}  *p += ${this.expression(u32, 1)};
  return ${this.expression(vectorOf(kind, 1), 2)};
}
`
    this.variables = outer
    this.#returns = undefined
    this.functions.push({ name, kind })
    return text
  }

  // ---------------------------------------------------------------------------------------------- statements

  #statements(count: number, indent: string): string {
    let text = ''
    for (let k = 0; k < count && this.#budget > 0; k++) {
      this.#budget--
      text += this.#statement(indent)
    }
    return text
  }

  /** A block whose declarations end with it; `isUniform` says whether all invocations come by together if they did before. */
  #block(indent: string, isUniform = false, first = ''): string {
    const outer = { variables: this.variables, isUniform: this.#isUniform }
    this.variables = [...outer.variables]
    this.#isUniform &&= isUniform
    const text = this.#statements(1 + this.below(3), `${indent}  `)
    this.variables = outer.variables
    this.#isUniform = outer.isUniform
    return `{\n${first}${text}${indent}}`
  }

  #statement(indent: string): string {
    const line = (text: string) => `${indent}${text}\n`
    const drawn = this.below(this.#isUniform ? 22 : 18)
    switch (this.#depth >= mostNestedLoops && drawn >= 7 && drawn <= 11 ? 2 : drawn) {
      case 0:
      case 1:
        return line(this.#declaration())
      case 2:
      case 3:
      case 4:
      case 5:
        return line(this.#assignment())
      case 6: {
        const isUniform = this.oneIn(3) && this.variables.some((v) => v.isUniform)
        const condition = isUniform ? this.uniformCondition() : this.expression(bool, 2)
        const otherwise = this.oneIn(2) ? '' : ` else ${this.#block(indent, isUniform)}`
        return line(`if ${condition} ${this.#block(indent, isUniform)}${otherwise}`)
      }
      case 7:
      case 8:
      case 9:
        return this.#for(indent)
      case 10:
        return this.#loop(indent)
      case 11:
        return this.#while(indent)
      case 12:
        return line(this.#switch(indent))
      case 13:
        if (this.#loops > 0)
          return line(`if ${this.expression(bool, 2)} { ${this.pick(['break', 'continue'])}; }`)
        if (this.#returns === undefined) return line(this.#assignment())
        return line(
          `if ${this.expression(bool, 2)} { return ${this.expression(vectorOf(this.#returns, 1), 1)}; }`,
        )
      case 14: {
        const found = this.places((t) => t.kind !== undefined && t.kind !== 'bool' && t.size === 1)
        const target = this.pick(found.length > 0 ? found : [{ text: 'state', type: u32 }])
        if (target.type.kind === 'f32') return line(this.#assignment())
        const p = this.name('p')
        // A component of a vector has no address.
        if (target.isComponent) return line(`${target.text} ^= ${this.expression(target.type, 2)};`)
        return line(
          `let ${p} = &${target.text};\n${indent}*${p} ${this.pick(['=', '+=', '^='])} ${this.expression(target.type, 2)};`,
        )
      }
      case 15:
        return line(this.#atomic())
      case 16:
        return line(`_ = ${this.expression(u32, 2)};`)
      case 17:
        return line(this.#block(indent, true))
      case 18:
        return line(this.#ownElement())
      case 19:
        return this.#exchange(indent)
      case 20:
        return this.subgroups === 'none' ? this.#exchange(indent) : this.#subgroup(indent)
      default:
        return this.#copies(indent)
    }
  }

  #declaration(): string {
    const isMutable = !this.oneIn(3)
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
    return `${isMutable ? 'var' : 'let'} ${name} = ${value};`
  }

  #assignment(): string {
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

  /** Atomics on memory that all invocations share add up to the same in any order; on elements of its own an invocation sees results. */
  #atomic(): string {
    const value = this.expression(u32, 1)
    switch (this.below(this.#returns === undefined ? 5 : 3)) {
      case 0:
        return `atomicAdd(&totals.sums[${this.index(6)}], ${value});`
      case 1:
        return `atomicMax(&totals.most, ${this.expression(i32, 1)});`
      case 2:
        return `${this.#combineBits}(&totals.bits, ${value});`
      case 3: {
        const operation = this.pick(['Add', 'Sub', 'Min', 'Max', 'And', 'Or', 'Xor', 'Exchange'])
        return `state ${this.pick(['=', '+='])} atomic${operation}(&counts[${this.#own()}], ${value});`
      }
      default:
        return `if atomicCompareExchangeWeak(&counts[${this.#own()}], ${this.below(3)}u, ${value}).exchanged { state += 1u; }`
    }
  }

  /** The index of an element of this invocation in a workgroup array. */
  #own(): string {
    const k = this.oneIn(2) ? `${this.below(ownElements)}u` : `(${this.expression(u32, 1)} % ${ownElements}u)`
    return `li * ${ownElements}u + ${k}`
  }

  #ownElement(): string {
    const own = this.#own()
    const operator = this.pick(['=', '=', '+=', '^='])
    switch (this.below(5)) {
      case 0:
        return `words[${own}] ${operator} ${this.expression(u32, 2)};`
      case 1:
        return `tile[${own}] ${operator} ${this.expression(vectorOf('u32', 4), 1)};`
      case 2:
        return `more[li][${this.index(ownElements)}] ${operator} ${this.expression(i32, 2)};`
      case 3:
        return `state ${operator} words[${own}];`
      default:
        return `tile[${own}].${this.pick(['x', 'w'])} = ${this.expression(u32, 1)};`
    }
  }

  /** Asynchronous copies where they qualify: into elements of this invocation, from storage that is only read. */
  #copies(indent: string): string {
    const k = this.name('k')
    const source = () => this.pick([`quads[i + ${this.below(9)}u]`, `quads[${this.expression(u32, 1)}]`])
    const copy = (index: string) => `${indent}  tile[${index}] = ${source()};\n`
    const barrier = this.oneIn(2) ? `${indent}workgroupBarrier();\n` : ''
    const own = `li * ${ownElements}u`
    const single = () => `${indent}tile[${own} + ${this.below(ownElements)}u] = ${source()};\n`
    switch (this.below(3)) {
      case 0:
        return `${single()}${single()}${barrier}`
      case 1:
        return `${indent}for (var ${k} = ${own}; ${k} < ${own} + ${1 + this.below(ownElements)}u; ${k}++) {\n${copy(k)}${indent}}\n${barrier}`
      default:
        return `${indent}for (var ${k} = 0u; ${k} < ${1 + this.below(ownElements)}u; ${k} += ${1 + this.below(2)}u) {\n${copy(`${own} + ${k}`)}${indent}}\n${barrier}${this.oneIn(2) ? single() : ''}`
    }
  }

  /** Elements of others, read between barriers. */
  #exchange(indent: string): string {
    const elements = this.#threads * ownElements
    const at = () =>
      this.pick([
        `${elements - 1}u - li`,
        `(li + ${this.below(99)}u) % ${elements}u`,
        `(${this.expression(u32, 1)} ^ li)`,
      ])
    const read = this.pick([
      () => `words[${at()}]`,
      () => `tile[${at()}].${this.pick(['x', 'y', 'w'])}`,
      () => `u32(more[${at()}][${this.index(ownElements)}])`,
      () => `atomicLoad(&counts[${at()}])`,
      () => `tile[${at()}][${this.index(4)}]`,
    ])()
    if (this.oneIn(4)) {
      const value = this.name('limit')
      const text = `${indent}if li == ${this.below(this.#threads)}u { shared_limit = ${this.expression(u32, 1)}; }
${indent}let ${value} = workgroupUniformLoad(&shared_limit);\n`
      this.variables.push({ name: value, type: u32, isMutable: false, isUniform: true })
      return text
    }
    if (this.oneIn(4)) {
      const target = this.pick(['state', 'out[i]', 'spill[i]', `words[${this.#own()}]`])
      return `${indent}${target} ${this.pick(['=', '+='])} meet(${this.expression(u32, 1)});\n`
    }
    const storage = this.oneIn(3) ? ' storageBarrier();' : ''
    return `${indent}workgroupBarrier();\n${indent}state ${this.pick(['=', '+=', '^='])} ${read};\n${indent}workgroupBarrier();${storage}\n`
  }

  #subgroup(indent: string): string {
    const name = this.name('s')
    const of32 = this.subgroups === 'of-32'
    const value = this.expression(u32, 1)
    const operation = of32
      ? this.pick([
          () =>
            `subgroup${this.pick(['Add', 'Mul', 'Min', 'Max', 'And', 'Or', 'Xor', 'ExclusiveAdd', 'InclusiveAdd', 'InclusiveMul'])}(${value})`,
          () => `subgroupShuffle${this.pick(['Xor', 'Up', 'Down'])}(${value}, ${this.below(32)}u)`,
          () => `subgroupShuffle(${value}, (li * 5u + 3u) % 32u)`,
          () => `subgroupBroadcast(${value}, ${this.below(32)}u)`,
          () => `subgroupBallot(${this.expression(bool, 1)}).x`,
          () => `select(1u, ${value}, subgroup${this.pick(['All', 'Any'])}(${this.expression(bool, 1)}))`,
          () => `select(1u, ${value}, subgroupElect())`,
        ])()
      : this.pick([
          () => `quadSwap${this.pick(['X', 'Y', 'Diagonal'])}(${value})`,
          () => `quadBroadcast(${value}, ${this.below(4)}u)`,
          () => `subgroupShuffleXor(${value}, ${1 + this.below(3)}u)`,
          () =>
            `subgroup${this.pick(['Min', 'Max', 'And', 'Or', 'BroadcastFirst'])}(${this.pick(['limits.x', 'limits.z + 1u'])})`,
        ])()
    // As a value, under the guard of a store, and as an operand of a compound assignment.
    switch (this.below(5)) {
      case 0:
        return `${indent}out[i] = ${operation};\n`
      case 1:
        return `${indent}state ${this.pick(['+=', '^=', '='])} ${operation};\n`
      case 2:
        return `${indent}words[${this.#own()}] ^= ${operation} + 1u;\n`
      case 3:
        return `${indent}spill[i] ${this.pick(['=', '+='])} ${operation};\n`
      default:
        this.variables.push({ name, type: u32, isMutable: false })
        return `${indent}let ${name} = ${operation};\n`
    }
  }

  #switch(indent: string): string {
    const kind = this.pick(['u32', 'i32'] as const)
    const suffix = kind === 'u32' ? 'u' : 'i'
    const isUniform = this.oneIn(4)
    const block = () => this.#block(`${indent}  `, isUniform)
    const selector = isUniform ? 'limits.z' : `${this.expression(vectorOf(kind, 1), 1)} % 8${suffix}`
    const cases = Array.from(
      { length: 1 + this.below(3) },
      (_, c) =>
        `${indent}  case ${c * 2}${isUniform ? 'u' : suffix}${this.oneIn(2) ? `, ${c * 2 + 1}${isUniform ? 'u' : suffix}` : ''} ${block()}\n`,
    )
    const loops = this.#loops
    this.#loops = 0
    const text = `switch ${selector} {\n${cases.join('')}${indent}  default ${block()}\n${indent}}`
    this.#loops = loops
    return text
  }

  // --------------------------------------------------------------------------------------------------- loops

  #inLoop<T>(write: () => T): T {
    const outer = this.variables
    this.variables = [...outer]
    this.#loops++
    this.#depth++
    const text = write()
    this.#depth--
    this.#loops--
    this.variables = outer
    return text
  }

  #for(indent: string): string {
    const k = this.name('k')
    const kind = this.pick(['u32', 'i32'] as const)
    const suffix = kind === 'u32' ? 'u' : 'i'
    const literal = (n: number) => (n < 0 ? `i32(${n})` : `${n}${suffix}`)
    const type = vectorOf(kind, 1)
    const counter: Variable = { name: k, type, isMutable: false }
    const header = (first: string, relation: string, bound: string, update: string) =>
      `for (var ${k} = ${first}; ${this.oneIn(5) ? `${bound} ${flipped[relation]!} ${k}` : `${k} ${relation} ${bound}`}; ${update})`
    if (this.oneIn(3)) {
      // Few repetitions, all invocations together; a divergent `break` would part them.
      const [first, bound, step, relation] = this.pick([
        [0, 1 + this.below(5), 1, '<'],
        [3, 3 + this.below(4), 2, '<='],
        [7, 1 + this.below(6), -2, '>'],
        [2, 8, 3, '!='],
        [0, 0, 1, '<'],
      ] as const)
      const head = header(
        literal(first),
        relation,
        literal(bound),
        step > 0 ? `${k} += ${literal(step)}` : `${k} -= ${literal(-step)}`,
      )
      const loops = this.#loops
      this.#loops = this.#isUniform ? 0 : this.#loops
      const text = this.#inLoop(() => {
        this.variables.push({ ...counter, isUniform: true })
        if (this.#isUniform) this.#loops = 0
        return `${indent}${head} ${this.#block(indent, true)}\n`
      })
      this.#loops = loops
      return text
    }
    // Any ends and steps: the counter may wrap around, and turns are counted so that the loop ends.
    const turns = this.name('turns')
    const extremes = kind === 'u32' ? [0, 1, 5, 4294967290, 2147483648] : [0, 5, -7, 2147483640, -2147483648]
    const first = this.oneIn(2) ? literal(this.pick(extremes)) : this.expression(type, 1)
    const bound = this.oneIn(2) ? literal(this.pick(extremes)) : this.expression(type, 1)
    const step = literal(this.pick([1, 1, 2, 3, 1073741824, 2147483647]))
    const relation = this.pick(['<', '<=', '>', '>=', '!='])
    const update = this.pick([
      `${k} += ${step}`,
      `${k} += ${step}`,
      `${k} -= ${step}`,
      `${k}++`,
      `${k} *= 3${suffix}`,
      kind === 'u32' ? `${k} >>= 1u` : `${k} /= 2i`,
    ])
    const text = this.#inLoop(() => {
      this.variables.push(this.oneIn(6) ? { ...counter, isMutable: true } : counter)
      const guard = `${indent}  ${turns} += 1u; if ${turns} > ${2 + this.below(6)}u { break; }\n`
      return `${indent}${header(first, relation, bound, update)} ${this.#block(indent, false, guard)}\n`
    })
    return `${indent}var ${turns} = 0u;\n${text}`
  }

  #loop(indent: string): string {
    const k = this.name('k')
    const inner = `${indent}  `
    return this.#inLoop(() => {
      const outer = { isUniform: this.#isUniform, variables: this.variables }
      this.#isUniform = false
      this.variables = [...outer.variables]
      const body = this.#statements(1 + this.below(2), inner)
      this.variables = outer.variables
      const last = this.oneIn(2) ? `${inner}  break if ${this.expression(bool, 1)};\n` : ''
      this.#isUniform = outer.isUniform
      return `${indent}var ${k} = 0u;\n${indent}loop {\n${inner}if ${k} > ${1 + this.below(3)}u { break; }\n${inner}{\n${body}${inner}}\n${inner}continuing {\n${inner}  ${k} += 1u;\n${last}${inner}}\n${indent}}\n`
    })
  }

  #while(indent: string): string {
    const k = this.name('w')
    const block = this.#inLoop(() => this.#block(indent, false, `${indent}  ${k} -= 1u;\n`))
    const condition = `${k} > 0u${this.oneIn(2) ? '' : ` && ${this.expression(bool, 1)}`}`
    return `${indent}var ${k} = ${2 + this.below(4)}u;\n${indent}while ${condition} ${block}\n`
  }
}

const flipped: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!=' }
