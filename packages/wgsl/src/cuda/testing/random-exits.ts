import { Random } from '../../testing/random.ts'

/**
 * The invocations of a kernel that `randomExits` writes, all in one workgroup; it stores one word for each in
 * `out`.
 */
export const exitInvocations = 32

/** The words of the buffer `input`. */
export const exitInputs = 3 * exitInvocations

/**
 * A kernel of loops that are left when an integer passes a bound, whether or not it moves towards the bound.
 * The comparison ends the loop in many ways: as its condition, through a flag, an equality, `select`, `max`,
 * a function, a `switch`, or a `continue` over a `break`. Half of the loops also end after fifty rounds. The
 * same seed produces the same source.
 */
export function randomExits(seed: number): string {
  return new Exits(new Random(seed)).source()
}

/** Values at which loops begin or end. */
const values = [
  0,
  1,
  2,
  3,
  5,
  7,
  16,
  17,
  30,
  31,
  64,
  70,
  99,
  100,
  101,
  1000,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 16,
  2 ** 32 - 1,
]

/** The contents of `input` for the kernel of a seed; the first third, bounds of most loops, is small. */
export function exitInput(seed: number): Uint32Array {
  const random = new Random(seed)
  return Uint32Array.from({ length: exitInputs }, (_, i) =>
    i < exitInvocations ? random.below(100) : random.pick(values),
  )
}

class Exits {
  readonly #random: Random
  readonly #type: 'i32' | 'u32'
  #depth = 0
  #counters = 0

  constructor(random: Random) {
    this.#random = random
    this.#type = random.oneIn(3) ? 'i32' : 'u32'
  }

  source(): string {
    const type = this.#type
    const results = () => this.#pick(['true', 'false', 'k == n'])
    return `@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<${type}>;
fn test(k: ${type}, n: ${type}) -> bool {
  if (k ${this.#relation()} n) { return ${results()}; }
  return ${results()};
}
fn step(p: ptr<function, ${type}>) { *p -= ${this.#literal()}; }
@compute @workgroup_size(${exitInvocations}) fn main(@builtin(local_invocation_index) i: u32) {
  let n = input[i];
  let m = input[i + ${exitInvocations}u];
  let h = ${this.#pick([`input[i + ${2 * exitInvocations}u]`, `n - ${this.#literal()}`])};
  var v = vec2<${type}>(n, m);
  var sum = 0u;
  var stop = 0u;
  var rounds = 0u;
  var k = ${this.#start()};
  ${this.#loop()}
  ${this.#loop()}
  out[i] = sum * 3u + u32(k) + stop + rounds;
}`
  }

  #pick(choices: readonly string[]): string {
    return this.#random.pick(choices)
  }

  #literal(): string {
    return `${this.#random.pick([1, 1, 2, 3, 4, 5, 7, 16, 30, 100])}${this.#type === 'i32' ? 'i' : 'u'}`
  }

  #relation(): string {
    return this.#pick(['<', '<=', '>', '>=', '<', '<=', '>', '>=', '==', '!='])
  }

  #value(): string {
    return this.#pick(['k', 'k', 'k', 'n', 'n', 'm', 'h'])
  }

  #side(): string {
    const [a, b, c] = [this.#value(), this.#value(), this.#literal()]
    const sums = [`(${a} + ${c})`, `(${a} - ${c})`, `(${a} - ${b})`, `(${c} * ${a})`, `(${a} & ${c})`]
    return this.#pick([a, a, a, a, ...sums, c, `min(${a}, ${b})`, `max(${a}, ${c})`, 'v.y'])
  }

  #comparison(): string {
    if (!this.#random.oneIn(3)) return `(k ${this.#pick(['<', '<=', '>', '>='])} n)`
    return `(${this.#side()} ${this.#relation()} ${this.#side()})`
  }

  /** A condition by which a loop may be left. */
  #condition(): string {
    const [a, b] = [this.#comparison(), this.#comparison()]
    return this.#pick([
      ...[a, a, a, `!${a}`, `(${a} && ${b})`, `(${a} || ${b})`, `(${a} == true)`, `(${a} != false)`],
      ...[`(u32${a} == 1u)`, `(select(0u, 5u, ${a}) != 0u)`, `(select(0.0, 2.0, ${a}) > 1.0)`],
      ...['(max(k, n) != n)', '(stop == 0u)', '(stop != 0u)', `any(vec2(${a}, ${b}))`, 'test(k, n)'],
    ])
  }

  #step(): string {
    const by = this.#literal()
    return this.#pick([
      `k -= ${by}`,
      `k -= ${by}`,
      `k += ${by}`,
      'k--',
      'k++',
      `k = ${by} + k`,
      'k = k + h',
      'step(&k)',
    ])
  }

  #start(): string {
    return this.#pick([
      'n',
      'n',
      'n',
      `n + ${this.#literal()}`,
      `n - ${this.#literal()}`,
      'm',
      'h',
      this.#literal(),
    ])
  }

  #count(): string {
    return this.#pick(['sum = sum * 31u + u32(k);', 'sum += u32(k) ^ 5u;', 'sum++;'])
  }

  /** A statement that may leave the loop around it. */
  #exit(): string {
    const condition = this.#condition()
    return this.#pick([
      `if ${condition} { break; }`,
      `if ${condition} { out[i] = sum; return; }`,
      `if ${condition} { stop = 1u; } if (stop != 0u) { break; }`,
      `switch u32(${condition}) { case 1u: { out[i] = sum + 1u; return; } default: { } }`,
      `if ${condition} { ${this.#step()}; ${this.#count()} continue; } ${this.#pick(['', 'break;'])}`,
      `if ${condition} { sum += 3u; }`,
    ])
  }

  #body(): string {
    const parts = [this.#count(), `${this.#step()};`]
    if (this.#random.oneIn(8)) parts.reverse()
    if (this.#random.oneIn(2)) parts.unshift('rounds++; if (rounds > 50u) { break; }')
    if (this.#depth < 2 && this.#random.oneIn(4)) parts.push(this.#loop())
    if (this.#random.oneIn(3)) parts.push(this.#exit())
    return parts.join(' ')
  }

  #loop(): string {
    this.#depth++
    const counter = `j${this.#counters++}`
    const first = this.#random.oneIn(3) ? '' : `k = ${this.#start()};`
    const counted = `var ${counter} = ${this.#start()}; ${counter} ${this.#pick(['<', '<=', '>', '>='])} ${this.#side()}`
    const away = `var ${counter} = ${this.#start()}; n - ${counter} ${this.#pick(['<', '<='])} n`
    const text = this.#pick([
      `for (${away}; ${counter} -= ${this.#literal()}) { ${this.#body()} sum ^= u32(${counter}); }`,
      `${first} while ${this.#condition()} { ${this.#body()} }`,
      `${first} loop { ${this.#body()} if ${this.#condition()} { break; } }`,
      `${first} loop { ${this.#body()} continuing { ${this.#step()}; break if ${this.#condition()}; } }`,
      `${first} for (; ${this.#condition()}; ${this.#step()}) { ${this.#body()} }`,
      `for (${counted}; ${counter} ${this.#pick(['+=', '-='])} ${this.#literal()}) { ${this.#body()} sum ^= u32(${counter}); }`,
    ])
    this.#depth--
    return text
  }
}
