import { type Make, RandomIdiomExpressions } from './random-idiom-expressions.ts'

/**
 * A random valid kernel of the integer idioms that compilers turn into a single instruction: fields of words, sums of
 * their products, bytes that change places, funnel shifts, insertions, saturation, carries, high products, remainders
 * of literals, and conversions of fields to floats and back. Conditions tell compilers ranges of words, loops change
 * words, and own elements of arrays in all address spaces are used through indices of many forms, with components
 * chosen at run time. The same seed produces the same kernel; all results are exact, and there are no data races.
 *
 * nvcc 13.0 has taken signed fields in sums of products for unsigned, two components of a vector in a loop for
 * different ones, and a buffer that changes for one that does not.
 */
export function randomIdioms(seed: number): string {
  return new IdiomWriter(seed).kernel()
}

const invocations = 64
const results = 8

class IdiomWriter extends RandomIdiomExpressions {
  readonly #variables = ['a', 'b', 'c', 'acc']
  #names = 0

  kernel(): string {
    const lines = Array.from({ length: results }, (_, i) => [
      this.#statements(1 + this.below(3), 2, '  '),
      `  result[${i * invocations}u + li] = ${this.word(3)};\n`,
    ]).flat()
    const contents = this.oneIn(2)
      ? 'random'
      : `values(${Array.from({ length: 13 }, () => this.number()).join(', ')})`
    return `enable f16;
// run: workgroups=1,1,1
// buffer given: u32[${3 * invocations}] ${contents}
// buffer table: u32[32] random
// buffer pairs: u32[${4 * invocations}] random
// buffer cells: u32[${8 * invocations}] random
// buffer result: u32[${results * invocations}]
@group(0) @binding(0) var<storage, read> given: array<u32, ${3 * invocations}>;
@group(0) @binding(1) var<storage, read> table: array<vec4u, 8>;
@group(0) @binding(2) var<storage, read_write> pairs: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> cells: array<u32>;
var<workgroup> quads: array<vec4u, ${2 * invocations}>;
var<workgroup> slots: array<u32, ${8 * invocations}>;
@compute @workgroup_size(${invocations})
fn main(@builtin(local_invocation_index) li: u32) {
  var a = given[li];
  var b = given[li + ${invocations}u];
  var c = given[li + ${2 * invocations}u];
  var acc = li * 0x01030507u;
  let n = ${this.number()}u;
  var local: array<u32, 8>;
  quads[2u * li] = vec4u(a, b, c, acc);
${lines.join('')}  result[li] ^= acc + a * 3u + b * 5u + c * 7u;
  for (var i = 0u; i < 8u; i++) { result[li] = result[li] * 31u + local[i] + slots[8u * li + i] * 7u; }
  result[${invocations}u + li] ^= dot(quads[2u * li], vec4u(3u, 5u, 7u, 9u)) + dot(quads[2u * li + 1u], vec4u(11u, 13u, 15u, 17u));
}
`
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  #statements(count: number, depth: number, indent: string): string {
    const outer = [...this.words]
    const text = Array.from({ length: count }, () => this.#statement(depth, indent)).join('')
    this.words = outer
    return text
  }

  #statement(depth: number, indent: string): string {
    const choices: Make[] = [
      () => {
        const name = this.#name('w')
        const text = `${indent}let ${name} = ${this.word(2 + this.below(2))};\n`
        this.words.push(name)
        return text
      },
      () => `${indent}${this.pick(this.#variables)} ${this.pick(['=', '+=', '^=', '='])} ${this.word(3)};\n`,
      () => `${indent}acc = acc * ${this.pick([3, 5, 31])}u + ${this.word(2)};\n`,
      () => `${indent}${this.#place()} ${this.pick(['=', '+=', '^='])} ${this.word(2)};\n`,
      () => this.#run(indent),
      () => this.#loads(indent),
    ]
    if (depth > 0)
      choices.push(
        () => this.#if(depth - 1, indent),
        () => this.#for(depth - 1, indent),
      )
    return this.choose(choices)
  }

  /** Uses of elements that follow each other, which compilers join. */
  #run(indent: string): string {
    const array = this.pick(['cells', 'slots', 'local'])
    const at = this.below(6)
    const first = array === 'local' ? '' : `${this.first()} + `
    const isStore = this.oneIn(2)
    const uses = Array.from({ length: 2 + this.below(3) }, (_, i) => {
      const place = `${array}[${first}${(at + i) % 8}u]`
      const store = this.oneIn(6) ? !isStore : isStore
      const use = store ? `${place} = ${this.word(this.below(2))};` : `acc = acc * 3u + ${place};`
      return this.oneIn(8) ? `if ${this.condition(1)} { ${use} }` : use
    })
    if (this.oneIn(3)) uses.reverse()
    return `${indent}${uses.join(' ')}\n`
  }

  /** Branches that end with loads, which compilers make one load. */
  #loads(indent: string): string {
    const { pair, quad, cell } = this.places
    const place = this.pick([pair, quad, cell, () => this.#place()])
    const load = this.pick([
      (from: string) => `acc = acc * 3u + ${from};`,
      (from: string) => `acc ^= ${from};`,
    ])
    const body = () => `{ ${load(this.oneIn(4) ? this.leaf() : place())} }`
    const branches = `if ${this.condition(1)} ${body()} else ${body()}`
    const store = this.oneIn(2) ? '' : ` ${place()} ${this.pick(['=', '+=', '^='])} acc;`
    return `${indent}${branches}${store}\n`
  }

  #place(): string {
    return this.choose(Object.values(this.places))
  }

  /** A condition on words, often one that gives a range. */
  #if(depth: number, indent: string): string {
    const word = this.pick(this.words)
    const condition = this.choose([
      () => this.condition(2),
      () => `(${word} ${this.pick(['<', '<=', '>', '>=', '==', '!='])} ${this.number()}u)`,
      () => `(bitcast<i32>(${word}) ${this.pick(['<', '<=', '>', '>='])} ${this.literal('i32')})`,
      () => `(${this.fieldOf('u32', word, this.field())} ${this.pick(['<', '==', '>'])} ${this.below(200)}u)`,
    ])
    const body = () => this.#statements(1 + this.below(3), depth, `${indent}  `)
    const head = `${indent}if ${condition} {\n${body()}${indent}}`
    return this.oneIn(2) ? `${head} else {\n${body()}${indent}}\n` : `${head}\n`
  }

  #for(depth: number, indent: string): string {
    const k = this.#name('k')
    const head = this.choose([
      () => `var ${k} = 0u; ${k} < ${this.pick(['3u', '4u', '8u', '(li & 3u)', '(c & 7u)'])}; ${k}++`,
      () => `var ${k} = ${this.pick(['7u', '(li & 7u)', '(a >> 29u)'])}; ${k} > 0u; ${k}--`,
      () => `var ${k} = li & 1u; ${k} < 9u; ${k} += ${this.pick([2, 3])}u`,
    ])
    this.counters.push(k)
    const outer = [...this.words]
    this.words.push(k)
    const body = this.#statements(1 + this.below(3), depth, `${indent}  `)
    this.words = outer
    this.counters.pop()
    return `${indent}for (${head}) {\n${body}${indent}}\n`
  }
}
