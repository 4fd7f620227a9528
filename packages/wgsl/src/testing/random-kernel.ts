/** Random bits from a seed (mulberry32). */
export function randomBits(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
}

type Kind = 'u32' | 'i32' | 'bool'
const shapes = [1, 2, 3, 4] as const

/** A variable in scope. Arrays have four elements. */
interface Variable {
  readonly name: string
  readonly kind: Kind
  readonly size: (typeof shapes)[number] | 'array'
  readonly mutable: boolean
}

/**
 * A random valid kernel of integer arithmetic, control flow, functions and pointers, with the header of a test kernel. The same
 * seed gives the same kernel. Its results are exact and the same on every correct implementation: loops are bounded, indices in
 * range, and nothing depends on the order of threads.
 */
export function randomKernel(seed: number): string {
  return new KernelWriter(randomBits(seed)).kernel()
}

class KernelWriter {
  readonly #bits: () => number
  #variables: Variable[] = []
  #names = 0
  #functions: { name: string; kind: Kind }[] = []
  #budget = 60
  #loops = 0

  constructor(bits: () => number) {
    this.#bits = bits
  }

  #below(n: number): number {
    return this.#bits() % n
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** The text of the whole module. */
  kernel(): string {
    const functions = Array.from({ length: 1 + this.#below(4) }, () => this.#function())
    this.#budget = 80
    this.#variables = [
      { name: 'i', kind: 'u32', size: 1, mutable: false },
      { name: 'input', kind: 'u32', size: 1, mutable: false },
      { name: 'state', kind: 'u32', size: 1, mutable: true },
      { name: 'table', kind: 'i32', size: 'array', mutable: true },
    ]
    const body = this.#statements(4 + this.#below(8), '  ', false)
    const threads = this.#pick([1, 3, 16, 33])
    const blank = 1 + this.#below(9)
    const sums = this.#variables.slice(2).map((v, k) => `  sum = sum * 31u + ${this.#digest(v)} + ${k}u;`)
    return `// run: workgroups=2,1,1
// buffer values: u32[${2 * threads}] random
// buffer out: u32[${2 * threads}]

struct Pair {
  a: u32,
  b: vec3i,
}
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<private> state: u32 = 7u;
var<private> table: array<i32, 4>;
const constants = array<i32, 4>(3, -5, 11, 2000000011);
var<workgroup> blank: array<u32, ${blank}>;

${functions.join('\n')}
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let input = values[i];
${body}  var sum = blank[i % ${blank}u];
${sums.join('\n')}
  out[i] = sum;
}
`
  }

  #digest({ name, kind, size }: Variable): string {
    const scalar = (e: string) => (kind === 'bool' ? `u32(${e})` : kind === 'i32' ? `u32(${e})` : e)
    if (size === 'array') return `${scalar(`${name}[0]`)} + ${scalar(`${name}[3]`)} * 3u`
    if (size === 1) return scalar(name)
    return kind === 'bool' ? `u32(any(${name}))` : scalar(`dot(${name}, ${name})`)
  }

  #function(): string {
    const name = this.#name('f')
    const kind = this.#pick(['u32', 'i32'] as const)
    const outer = this.#variables
    this.#budget = 15
    this.#variables = [
      { name: 'x', kind: 'u32', size: 1, mutable: false },
      { name: 'y', kind: 'i32', size: 1, mutable: false },
      { name: '(*p)', kind: 'u32', size: 1, mutable: true },
      { name: 'state', kind: 'u32', size: 1, mutable: true },
    ]
    const body = this.#statements(2 + this.#below(4), '  ', true, kind)
    const text = `fn ${name}(x: u32, y: i32, p: ptr<function, u32>) -> ${kind} {
${body}  *p += ${this.#expression('u32', 1, 1)};
  return ${this.#expression(kind, 1, 2)};
}
`
    this.#variables = outer
    this.#functions.push({ name, kind })
    return text
  }

  // ---------------------------------------------------------------------------------------------- statements

  #statements(count: number, indent: string, inFunction: boolean, returns?: Kind): string {
    let text = ''
    for (let k = 0; k < count && this.#budget > 0; k++) {
      this.#budget--
      text += this.#statement(indent, inFunction, returns)
    }
    return text
  }

  #block(indent: string, inFunction: boolean, returns?: Kind): string {
    const outer = this.#variables
    this.#variables = [...outer]
    const text = this.#statements(1 + this.#below(3), `${indent}  `, inFunction, returns)
    this.#variables = outer
    return `{\n${text}${indent}}`
  }

  #statement(indent: string, inFunction: boolean, returns?: Kind): string {
    const line = (text: string) => `${indent}${text}\n`
    switch (this.#below(14)) {
      case 0:
      case 1:
        return line(this.#declaration())
      case 2:
      case 3:
      case 4:
      case 5:
        return line(this.#assignment())
      case 6: {
        const otherwise = this.#below(2) === 0 ? '' : ` else ${this.#block(indent, inFunction, returns)}`
        return line(
          `if ${this.#expression('bool', 1, 2)} ${this.#block(indent, inFunction, returns)}${otherwise}`,
        )
      }
      case 7: {
        const k = this.#name('k')
        return this.#inLoop(() =>
          line(
            `for (var ${k} = 0u; ${k} < ${1 + this.#below(5)}u; ${k}++) ${this.#block(indent, inFunction, returns)}`,
          ),
        )
      }
      case 8: {
        const k = this.#name('k')
        const inner = `${indent}  `
        return this.#inLoop(() => {
          const body = this.#statements(1 + this.#below(2), inner, inFunction, returns)
          const text = `var ${k} = 0u;\n${indent}loop {\n${inner}if ${k} > ${1 + this.#below(3)}u { break; }\n${body}${inner}continuing {\n${inner}  ${k}++;\n${inner}  break if ${this.#expression('bool', 1, 1)};\n${inner}}\n${indent}}`
          return line(text)
        }, true)
      }
      case 9: {
        const k = this.#name('w')
        return this.#inLoop(() =>
          line(
            `var ${k} = ${2 + this.#below(4)}u;\n${indent}while ${k} > 0u && ${this.#expression('bool', 1, 1)} {\n${indent}  ${k}--;\n${indent}  ${this.#block(`${indent}  `, inFunction, returns)}\n${indent}}`,
          ),
        )
      }
      case 10: {
        const cases = Array.from(
          { length: 1 + this.#below(3) },
          (_, c) =>
            `${indent}  case ${c * 2}u${this.#below(2) ? `, ${c * 2 + 1}u` : ''} ${this.#block(`${indent}  `, inFunction, returns)}\n`,
        )
        return line(
          `switch ${this.#expression('u32', 1, 1)} % 8u {\n${cases.join('')}${indent}  default ${this.#block(`${indent}  `, inFunction, returns)}\n${indent}}`,
        )
      }
      case 11:
        if (this.#loops > 0)
          return line(`if ${this.#expression('bool', 1, 2)} { ${this.#pick(['break', 'continue'])}; }`)
        if (returns !== undefined)
          return line(`if ${this.#expression('bool', 1, 2)} { return ${this.#expression(returns, 1, 1)}; }`)
        return line(this.#assignment())
      case 12: {
        const arrays = this.#variables.filter((v) => v.size === 'array' && v.mutable)
        if (arrays.length === 0) return line(this.#declaration())
        const a = this.#pick(arrays)
        const p = this.#name('p')
        return line(
          `let ${p} = &${a.name}[${this.#index()}];\n${indent}*${p} ${this.#pick(['=', '+=', '^='])} ${this.#expression(a.kind, 1, 2)};`,
        )
      }
      default:
        return line(this.#block(indent, inFunction, returns))
    }
  }

  /** Runs `write` with `break` and `continue` allowed; a loop with continuing parts declares nothing its body could bypass. */
  #inLoop(write: () => string, ownScope = false): string {
    const outer = this.#variables
    if (ownScope) this.#variables = [...outer]
    this.#loops++
    const text = write()
    this.#loops--
    this.#variables = outer
    return text
  }

  #declaration(): string {
    const kind = this.#pick(['u32', 'i32', 'u32', 'i32', 'bool'] as const)
    const mutable = this.#below(3) > 0
    const name = this.#name('v')
    if (this.#below(5) === 0 && kind !== 'bool') {
      const elements = Array.from({ length: 4 }, () => this.#expression(kind, 1, 1)).join(', ')
      this.#variables.push({ name, kind, size: 'array', mutable })
      return `${mutable ? 'var' : 'let'} ${name} = array<${kind}, 4>(${elements});`
    }
    const size = this.#pick(shapes)
    const value = this.#expression(kind, size, 2)
    this.#variables.push({ name, kind, size, mutable })
    return `${mutable ? 'var' : 'let'} ${name} = ${value};`
  }

  #assignment(): string {
    const targets = this.#variables.filter((v) => v.mutable)
    const v = this.#pick(targets)
    const operators =
      v.kind === 'bool' ? ['=', '=', '&=', '|='] : ['=', '=', '+=', '-=', '*=', '&=', '|=', '^=']
    const operator = this.#pick(operators)
    if (v.size === 'array')
      return `${v.name}[${this.#index()}] ${operator} ${this.#expression(v.kind, 1, 2)};`
    if (v.size === 1) {
      if (v.kind !== 'bool' && this.#below(6) === 0) return `${v.name}${this.#pick(['++', '--'])};`
      return `${v.name} ${operator} ${this.#expression(v.kind, 1, 2)};`
    }
    switch (this.#below(3)) {
      case 0:
        return `${v.name}[${this.#index()} % ${v.size}u] ${operator} ${this.#expression(v.kind, 1, 2)};`
      case 1:
        return `${v.name}.${'xyzw'[this.#below(v.size)]} ${operator} ${this.#expression(v.kind, 1, 2)};`
      default:
        return `${v.name} ${operator} ${this.#expression(v.kind, v.size, 2)};`
    }
  }

  // --------------------------------------------------------------------------------------------- expressions

  #index(): string {
    return this.#below(2) === 0 ? `(${this.#expression('u32', 1, 1)} % 4u)` : `${this.#below(4)}u`
  }

  /** A scalar that is not constant, so that no rule about constants applies. */
  #variable(kind: 'u32' | 'i32'): string {
    const found = this.#variables.filter((v) => v.kind === kind && v.size === 1)
    if (found.length > 0) return this.#pick(found).name
    return kind === 'i32' ? 'i32(state)' : 'state'
  }

  #literal(kind: Kind): string {
    if (kind === 'bool') return this.#pick(['true', 'false'])
    if (kind === 'u32')
      return `${this.#pick([0, 1, 2, 3, 7, 31, 32, 255, 65536, 2147483648, 4294967295, this.#below(1000)])}u`
    return `i32(${this.#pick([0, 1, -1, 2, -7, 31, 255, -65536, 2147483647, -2147483648, this.#below(1000) - 500])})`
  }

  #expression(kind: Kind, size: (typeof shapes)[number], depth: number): string {
    const same = this.#variables.filter((v) => v.kind === kind && v.size === size)
    if (size !== 1) return this.#vector(kind, size, depth, same)
    if (depth <= 0) return same.length > 0 && this.#below(4) > 0 ? this.#pick(same).name : this.#literal(kind)
    return kind === 'bool' ? this.#bool(depth) : this.#integer(kind, depth)
  }

  #vector(kind: Kind, size: 2 | 3 | 4, depth: number, same: readonly Variable[]): string {
    const type = kind === 'bool' ? `vec${size}<bool>` : `vec${size}${kind[0]}`
    const e = (d: number) => this.#expression(kind, size, d)
    if (depth <= 0) {
      return same.length > 0 && this.#below(3) > 0
        ? this.#pick(same).name
        : `${type}(${this.#expression(kind, 1, 0)})`
    }
    switch (this.#below(6)) {
      case 0:
        return `${type}(${Array.from({ length: size }, () => this.#expression(kind, 1, depth - 1)).join(', ')})`
      case 1:
        return kind === 'bool'
          ? `(${e(depth - 1)} ${this.#pick(['&', '|'])} ${e(depth - 1)})`
          : `(${e(depth - 1)} ${this.#pick(['+', '-', '*', '^', '&'])} ${e(depth - 1)})`
      case 2:
        return `select(${e(depth - 1)}, ${e(depth - 1)}, ${this.#expression('bool', this.#below(2) ? size : 1, depth - 1)})`
      case 3: {
        const of = this.#variables.filter((v) => v.kind === kind && typeof v.size === 'number' && v.size > 1)
        if (of.length === 0) return e(depth - 1)
        const v = this.#pick(of)
        return `${v.name}.${Array.from({ length: size }, () => 'xyzw'[this.#below(v.size as number)]).join('')}`
      }
      case 4:
        if (kind === 'bool')
          return `(${this.#expression('i32', size, depth - 1)} ${this.#pick(['<', '>=', '==', '!='])} ${this.#expression('i32', size, depth - 1)})`
        return `${this.#pick(['min', 'max'])}(${e(depth - 1)}, ${e(depth - 1)})`
      default:
        if (kind === 'bool') return `!${e(depth - 1)}`
        return `${type}(${this.#expression(kind === 'u32' ? 'i32' : 'u32', size, depth - 1)} | ${this.#vectorOf(kind === 'u32' ? 'i32' : 'u32', size)})`
    }
  }

  /** A vector that is not constant. */
  #vectorOf(kind: 'u32' | 'i32', size: number): string {
    return `vec${size}${kind[0]}(${this.#variable(kind)})`
  }

  #bool(depth: number): string {
    const e = (kind: Kind) => this.#expression(kind, 1, depth - 1)
    switch (this.#below(6)) {
      case 0:
        return `(${e('bool')} ${this.#pick(['&&', '||'])} ${e('bool')})`
      case 1:
        return `!${e('bool')}`
      case 2:
        return `(${e('bool')} ${this.#pick(['==', '!=', '&', '|'])} ${e('bool')})`
      case 3:
        return `${this.#pick(['any', 'all'])}(${this.#expression('bool', this.#pick([2, 3, 4] as const), depth - 1)})`
      default: {
        const kind = this.#pick(['u32', 'i32'] as const)
        return `(${e(kind)} ${this.#pick(['<', '<=', '>', '>=', '==', '!='])} ${e(kind)})`
      }
    }
  }

  #integer(kind: 'u32' | 'i32', depth: number): string {
    const e = () => this.#expression(kind, 1, depth - 1)
    const other = kind === 'u32' ? 'i32' : 'u32'
    switch (this.#below(13)) {
      case 0:
      case 1:
        return `(${e()} ${this.#pick(['+', '-', '*'])} ${e()})`
      case 2:
        return `(${e()} ${this.#pick(['&', '|', '^'])} ${e()})`
      case 3:
        return `(${e()} ${this.#pick(['/', '%'])} ${this.#variable(kind)})`
      case 4:
        return `(${e()} ${this.#pick(['<<', '>>'])} ${this.#variable('u32')})`
      case 5:
        return `${kind}(${this.#variable(other)} ^ ${this.#expression(other, 1, depth - 1)})`
      case 6:
        return `select(${e()}, ${e()}, ${this.#expression('bool', 1, depth - 1)})`
      case 7: {
        const callable = this.#functions.filter((f) => f.kind === kind)
        const pointed = this.#variables.filter(
          (v) => v.kind === 'u32' && v.size === 1 && v.mutable && v.name !== 'state',
        )
        if (callable.length === 0 || pointed.length === 0) return `(${e()} + ${e()})`
        const v = this.#pick(pointed)
        const address = v.name === '(*p)' ? 'p' : `&${v.name}`
        return `${this.#pick(callable).name}(${this.#expression('u32', 1, depth - 1)}, ${this.#expression('i32', 1, depth - 1)}, ${address})`
      }
      case 8: {
        const arrays = this.#variables.filter((v) => v.size === 'array' && v.kind === kind)
        return arrays.length > 0
          ? `${this.#pick(arrays).name}[${this.#index()}]`
          : kind === 'i32'
            ? `constants[${this.#index()}]`
            : e()
      }
      case 9: {
        const v = `vec3${kind[0]}(${this.#variable(kind)})`
        return `dot(${v}, ${this.#expression(kind, 3, depth - 1)})`
      }
      case 10:
        return kind === 'u32' ? `~${e()}` : `-${e()}`
      case 11: {
        const f = this.#pick([
          'countOneBits',
          'firstLeadingBit',
          'firstTrailingBit',
          'reverseBits',
          'countLeadingZeros',
          'abs',
        ])
        return `${f}(${this.#variable(kind)} ^ ${e()})`
      }
      default:
        return kind === 'u32'
          ? `Pair(${e()}, vec3i(${this.#expression('i32', 1, 0)})).a`
          : `Pair(1u, vec3i(${e()})).b.${this.#pick(['x', 'y', 'z'])}`
    }
  }
}
