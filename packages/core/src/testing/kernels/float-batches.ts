import { accepts, type FloatOperation, floatOperations, floatValues } from './float-operations.ts'
import { type Batch, bindings, bitsFloat, floatBits, hex, type KernelFailure } from './kernel-batch.ts'

/** An operation with its judgement of a result, whatever the type. */
interface Judged {
  readonly text: string
  readonly isBool: boolean
  readonly isScalar: boolean
  readonly failsAsConstant: (operands: readonly number[]) => boolean
  /** What is expected of the bits `got`; undefined when they are right. */
  readonly wrong: (operands: readonly number[], got: number) => string | undefined
}

/** Operands of a case, as bits. */
type Operands = readonly [number, number, number]

/**
 * Every operator and numeric built-in function of f32 at run time, by component of vectors too, and as
 * constants.
 */
export function* floatBatches(): Generator<Batch> {
  const operations = floatOperations.map(judged)
  const operands = operandsOf(floatValues.map(floatBits))
  for (const size of [1, 2, 3, 4]) {
    const usable = operations.filter((o) => size === 1 || !o.isScalar)
    for (let from = 0; from < usable.length; from += 16)
      yield runtimeBatch(size, usable.slice(from, from + 16), operands, from)
  }
  yield* constantBatches(operations, operands)
}

function judged(o: FloatOperation): Judged {
  const read = (operands: readonly number[]) => operands.map(bitsFloat) as [number, number, number]
  return {
    text: o.text,
    isBool: typeof o.value(1, 1, 1) === 'boolean',
    isScalar: o.isScalar === true,
    failsAsConstant: (operands) => {
      const want = Number(o.value(...read(operands)))
      return o.failsAsConstant?.(...read(operands)) === true || !(Math.abs(want) < 1e38)
    },
    wrong: (operands, got) => {
      const want = o.value(...read(operands))
      if (typeof want === 'boolean') return Number(want) === got ? undefined : String(want)
      const error = o.error(want, ...read(operands))
      return accepts(bitsFloat(got), want, error) ? undefined : `${want} ± ${error}`
    },
  }
}

function operandsOf(bits: readonly number[]): Operands[] {
  return bits.flatMap((a, i) => bits.map((b, j): Operands => [a, b, bits[(i * 7 + j * 3) % bits.length]!]))
}

/** The text of an operation in types of a size. */
function textOf({ text, isBool }: Judged, size: number): string {
  const vector = (scalar: string) => (size === 1 ? scalar : `vec${size}<${scalar}>`)
  const named = text
    .replace(/\bT\b/g, vector('f32'))
    .replace(/\bU\b/g, vector('u32'))
    .replace(/\bI\b/g, vector('i32'))
    .replace(/\bF\b/g, vector('f32'))
  const isChosen = isBool && !/^U\(/.test(text)
  return isChosen
    ? `select(${vector('u32')}(0), ${vector('u32')}(1), ${named})`
    : `bitcast<${vector('u32')}>(${named})`
}

function runtimeBatch(
  size: number,
  operations: readonly Judged[],
  operands: readonly Operands[],
  part: number,
): Batch {
  const vector = size === 1 ? 'f32' : `vec${size}<f32>`
  const lanes = [...Array(size).keys()]
  const load = (operand: number) =>
    `${vector}(${lanes.map((c) => `bitcast<f32>(input[((i + ${c}) % ${operands.length}) * 3 + ${operand}])`).join(', ')})`
  const stores = operations.map((operation, k) => {
    const value = textOf(operation, size)
    const parts = lanes.map((c) => `out[at + ${k * size + c}] = r${k}${size === 1 ? '' : `[${c}]`};`)
    return `    let r${k} = ${value}; ${parts.join(' ')}`
  })
  const perCase = operations.length * size
  return {
    name: `expression ${vector} ${part}`,
    wgsl: `${bindings}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i < ${operands.length}) {
    let a = ${load(0)}; let b = ${load(1)}; let c = ${load(2)};
    let at = i * ${perCase};
${stores.join('\n')}
  }
}`,
    workgroups: Math.ceil(operands.length / 64),
    input: Uint32Array.from(operands.flat()),
    output: new Uint32Array(operands.length * perCase).fill(0xdeadbeef),
    cases: operands.length * perCase,
    check(out) {
      const failures: KernelFailure[] = []
      for (let i = 0; i < operands.length; i++) {
        for (const [k, operation] of operations.entries()) {
          for (const c of lanes) {
            const given = operands[(i + c) % operands.length]!
            const got = out[i * perCase + k * size + c]!
            const expected = operation.wrong(given, got)
            if (expected === undefined) continue
            failures.push({
              reproducer: statementOf(operation, given, size, c),
              expected,
              got: shown(got),
            })
          }
        }
      }
      return failures
    },
  }
}

function shown(bits: number): string {
  return `${bitsFloat(bits)} (${hex(bits)})`
}

function statementOf(operation: Judged, given: Operands, size: number, component: number): string {
  const [a, b, c] = given.map((bits) => `bitcast<f32>(${hex(bits)}u)`)
  const where = size === 1 ? '' : ` // component ${component} of a vec${size}`
  return `let a = ${a}; let b = ${b}; let c = ${c}; out[0] = ${textOf(operation, 1)};${where}`
}

/** The same operations on constants, some operands of each. */
function* constantBatches(operations: readonly Judged[], operands: readonly Operands[]): Generator<Batch> {
  const cases = operations.flatMap((operation, k) =>
    operands
      .filter((given, i) => (i * 31 + k) % 29 === 0 && !operation.failsAsConstant(given))
      .map((given) => ({ operation, given })),
  )
  for (let from = 0; from < cases.length; from += 400) {
    const part = cases.slice(from, from + 400)
    const statements = part.map(({ operation, given }, i) => {
      const [a, b, c] = given.map((bits) => `bitcast<f32>(${hex(bits)}u)`)
      return `  { const a = ${a}; const b = ${b}; const c = ${c}; out[${i}] = ${textOf(operation, 1)}; }`
    })
    yield {
      name: `expression constants f32 ${from}`,
      wgsl: `${bindings}@compute @workgroup_size(1) fn main() {\n${statements.join('\n')}\n}`,
      workgroups: 1,
      input: new Uint32Array(1),
      output: new Uint32Array(part.length).fill(0xdeadbeef),
      cases: part.length,
      check: (out) =>
        part.flatMap(({ operation, given }, i) => {
          const expected = operation.wrong(given, out[i]!)
          if (expected === undefined) return []
          return [
            {
              reproducer: statementOf(operation, given, 1, 0).replaceAll('let', 'const'),
              expected,
              got: shown(out[i]!),
            },
          ]
        }),
    }
  }
}
