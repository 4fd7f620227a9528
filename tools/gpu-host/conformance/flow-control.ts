import { type Batch, bindings } from './batch.ts'

/** A statement of a random function, which can be printed as WGSL and as JavaScript. */
type Statement =
  | { kind: 'trace'; id: number }
  | { kind: 'step'; amount: number }
  | { kind: 'if'; condition: string; body: Statement[]; otherwise: Statement[] | undefined }
  | { kind: 'switch'; on: string; cases: { values: number[]; body: Statement[] }[]; otherwise: Statement[] }
  | { kind: 'for'; name: string; count: number; step: number; body: Statement[] }
  | { kind: 'while'; name: string; count: number; body: Statement[] }
  | {
      kind: 'loop'
      name: string
      count: number
      body: Statement[]
      continuing: Statement[]
      breakIf: boolean
    }
  | { kind: 'break' | 'continue' | 'return' }
  | { kind: 'call'; condition: string }

const functionsPerBatch = 10
const inputs = [0, 1, 2, 3, 5, 8, 13, 255]
const traceLength = 96

/**
 * Random functions of nested loops, switches, conditions and jumps, each run for several inputs. A function records the path that it
 * takes; the same statements, printed as JavaScript, say what it must be.
 */
export function* flowControlBatches(): Generator<Batch> {
  for (let seed = 0; seed < 24; seed++) yield flowBatch(seed)
}

function flowBatch(seed: number): Batch {
  const writer = new FlowWriter(seed)
  const bodies = Array.from({ length: functionsPerBatch }, () => writer.body())
  const expected = bodies.map((body) => inputs.map((x) => run(body, x)))
  const functions = bodies.map(
    (body, f) => `fn f${f}(x: u32) {\n  var n = x;\n${printWgsl(body, f, '  ')}\n}`,
  )
  const calls = bodies.map((_, f) => `    case ${f}: { f${f}(x); }`).join('\n')
  const stride = traceLength + 1
  const output = new Uint32Array(functionsPerBatch * inputs.length * stride)
  return {
    name: `flow ${seed}`,
    wgsl: `diagnostic(off, chromium.unreachable_code);
${bindings}
var<private> at: u32;
var<private> used: u32;
fn trace(id: u32, n: u32) -> bool {
  if (used < ${traceLength}u) { out[at + used] = id * 1000u + n % 1000u; }
  used++;
  return n % 2u == 0u;
}
${functions.join('\n')}
@compute @workgroup_size(${inputs.length}) fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
  at = (id.x * ${inputs.length}u + i) * ${stride}u;
  let x = input[i];
  switch (id.x) {
${calls}
    default: { }
  }
  out[at + ${traceLength}u] = used;
}`,
    workgroups: functionsPerBatch,
    input: Uint32Array.from(inputs),
    output,
    cases: functionsPerBatch * inputs.length,
    check: (out) =>
      bodies.flatMap((_, f) =>
        inputs.flatMap((x, i) => {
          const want = expected[f]![i]!
          const words = [...out.subarray((f * inputs.length + i) * stride)].slice(0, stride)
          const got = words.slice(0, Math.min(words[traceLength]!, traceLength))
          const isSame = words[traceLength] === want.length && got.every((word, k) => word === want[k])
          if (isSame) return []
          const from = got.findIndex((word, k) => word !== want[k])
          const where = from < 0 ? got.length : from
          return [
            {
              reproducer: `${functions[f]}\n// f${f}(${x}u), step ${where}`,
              expected: `${want.length} steps, then ${want[where]}`,
              got: `${words[traceLength]} steps, then ${got[where]}`,
            },
          ]
        }),
      ),
  }
}

class FlowWriter {
  #state: number
  #names = 0
  #traces = 0
  #budget = 0

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  #below(n: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return (this.#state >>> 8) % n
  }

  body(): Statement[] {
    this.#budget = 18
    return [
      ...this.#statements(4, { loop: false, breakable: false, continuing: false, depth: 0 }),
      this.#trace(),
    ]
  }

  #trace(): Statement {
    return { kind: 'trace', id: ++this.#traces }
  }

  #condition(): string {
    const modulus = 2 + this.#below(4)
    return `n % ${modulus}u == ${this.#below(modulus)}u`
  }

  #statements(count: number, around: Around): Statement[] {
    const list: Statement[] = []
    for (let i = 0; i < count && this.#budget > 0; i++) list.push(this.#statement(around))
    return list
  }

  #body(around: Around): Statement[] {
    const list = [
      this.#trace(),
      ...this.#statements(1 + this.#below(3), { ...around, depth: around.depth + 1 }),
    ]
    if (this.#below(4) > 0) return list
    const jumps: ('break' | 'continue' | 'return')[] = around.continuing ? [] : ['return']
    if (around.breakable) jumps.push('break', 'break')
    if (around.loop) jumps.push('continue', 'continue')
    const kind = jumps[this.#below(jumps.length)]
    return kind === undefined ? list : [...list, { kind }]
  }

  #statement(around: Around): Statement {
    this.#budget--
    const kind = around.depth > 4 ? this.#below(4) : this.#below(12)
    const name = `k${this.#names++}`
    const inside = { ...around, loop: true, breakable: true }
    switch (kind) {
      case 0:
      case 1:
        return this.#trace()
      case 2:
        return { kind: 'step', amount: 1 + this.#below(5) }
      case 3:
        return { kind: 'call', condition: this.#condition() }
      case 4:
      case 5:
      case 6:
        return {
          kind: 'if',
          condition: this.#condition(),
          body: this.#body(around),
          otherwise: this.#below(2) === 0 ? undefined : this.#body(around),
        }
      case 7: {
        const cases = Array.from({ length: this.#below(3) }, (_, i) => ({
          values: [2 * i, 2 * i + 1],
          body: this.#body({ ...around, breakable: true }),
        }))
        return {
          kind: 'switch',
          on: `n % ${3 + this.#below(4)}u`,
          cases,
          otherwise: this.#body({ ...around, breakable: true }),
        }
      }
      case 8:
      case 9:
        return {
          kind: 'for',
          name,
          count: 1 + this.#below(4),
          step: 1 + this.#below(2),
          body: this.#body(inside),
        }
      case 10:
        return { kind: 'while', name, count: 1 + this.#below(4), body: this.#body(inside) }
      default: {
        const continuing = [
          this.#trace(),
          ...this.#statements(this.#below(2), {
            loop: false,
            breakable: false,
            continuing: true,
            depth: around.depth + 1,
          }),
        ]
        return {
          kind: 'loop',
          name,
          count: 1 + this.#below(4),
          body: this.#body(inside),
          continuing,
          breakIf: this.#below(2) === 0,
        }
      }
    }
  }
}

interface Around {
  readonly loop: boolean
  readonly breakable: boolean
  readonly continuing: boolean
  readonly depth: number
}

function printWgsl(body: readonly Statement[], f: number, indent: string): string {
  const block = (list: readonly Statement[]) => `{\n${printWgsl(list, f, `${indent}  `)}\n${indent}}`
  return body
    .map((s): string => {
      switch (s.kind) {
        case 'trace':
          return `${indent}trace(${s.id}u, n);`.replace('trace(', '_ = trace(')
        case 'step':
          return `${indent}n += ${s.amount}u;`
        case 'call':
          return `${indent}if (${s.condition} && trace(7u, n) || trace(8u, n)) { n++; }`.replace(
            `${s.condition} && trace(7u, n)`,
            `(${s.condition} && trace(7u, n))`,
          )
        case 'if':
          return `${indent}if (${s.condition}) ${block(s.body)}${s.otherwise === undefined ? '' : ` else ${block(s.otherwise)}`}`
        case 'switch':
          return `${indent}switch (${s.on}) {\n${s.cases.map((c) => `${indent}case ${c.values.join(', ')}: ${block(c.body)}\n`).join('')}${indent}default: ${block(s.otherwise)}\n${indent}}`
        case 'for':
          return `${indent}for (var ${s.name} = 0u; ${s.name} < ${s.count}u; ${s.name} += ${s.step}u) ${block(s.body)}`
        case 'while':
          return `${indent}var ${s.name} = 0u;\n${indent}while (${s.name} < ${s.count}u) {\n${indent}  ${s.name}++;\n${printWgsl(s.body, f, `${indent}  `)}\n${indent}}`
        case 'loop': {
          const end = s.breakIf ? `${indent}    break if ${s.name} >= ${s.count}u;\n` : ''
          const leave = s.breakIf ? '' : `${indent}  if (${s.name} >= ${s.count}u) { break; }\n`
          return `${indent}var ${s.name} = 0u;\n${indent}loop {\n${leave}${printWgsl(s.body, f, `${indent}  `)}\n${indent}  continuing {\n${printWgsl(s.continuing, f, `${indent}    `)}\n${indent}    ${s.name}++;\n${end}${indent}  }\n${indent}}`
        }
        default:
          return `${indent}${s.kind};`
      }
    })
    .join('\n')
}

/** Interprets the statements: the path that a function takes for an input. */
function run(body: readonly Statement[], x: number): number[] {
  const path: number[] = []
  let n = x
  const trace = (id: number): boolean => {
    path.push(id * 1000 + (n % 1000))
    return n % 2 === 0
  }
  const holds = (condition: string): boolean => {
    const [, modulus, rest] = /^n % (\d+)u == (\d+)u$/.exec(condition)!
    return n % Number(modulus) === Number(rest)
  }
  type End = 'next' | 'break' | 'continue' | 'return'
  const all = (list: readonly Statement[]): End => {
    for (const s of list) {
      const end = one(s)
      if (end !== 'next') return end
    }
    return 'next'
  }
  /** A loop: `iterate` says how an iteration ends. */
  const repeat = (wants: () => boolean, iterate: () => End, update: () => boolean): End => {
    while (wants()) {
      const end = iterate()
      if (end === 'return') return end
      if (end === 'break') break
      if (update()) break
    }
    return 'next'
  }
  const one = (s: Statement): End => {
    switch (s.kind) {
      case 'trace':
        trace(s.id)
        return 'next'
      case 'step':
        n += s.amount
        return 'next'
      case 'call':
        if ((holds(s.condition) && trace(7)) || trace(8)) n++
        return 'next'
      case 'if':
        return holds(s.condition) ? all(s.body) : s.otherwise === undefined ? 'next' : all(s.otherwise)
      case 'switch': {
        const value = n % Number(/%\s(\d+)/.exec(s.on)![1])
        const end = all(s.cases.find((c) => c.values.includes(value))?.body ?? s.otherwise)
        return end === 'break' ? 'next' : end
      }
      case 'for': {
        let k = 0
        return repeat(
          () => k < s.count,
          () => all(s.body),
          () => {
            k += s.step
            return false
          },
        )
      }
      case 'while': {
        let k = 0
        return repeat(
          () => k < s.count,
          () => {
            k++
            return all(s.body)
          },
          () => false,
        )
      }
      case 'loop': {
        let k = 0
        const update = () => {
          all(s.continuing)
          k++
          return s.breakIf && k >= s.count
        }
        return repeat(
          () => s.breakIf || k < s.count,
          () => all(s.body),
          update,
        )
      }
      default:
        return s.kind
    }
  }
  all(body)
  return path
}
