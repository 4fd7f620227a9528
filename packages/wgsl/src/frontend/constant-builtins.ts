import type { BuiltinFunction, ValueFunction } from '../builtin-functions.ts'
import { halfBits, halfValue } from '../half-float.ts'
import type { MatrixType, StructType, Type } from '../ir.ts'
import { scalarOperator } from './constant-operators.ts'
import { ConstantError, roundFloat, type Value } from './constant-value.ts'
import { type AnyScalar, scalarOf } from './numeric-types.ts'
import type { Overload } from './overloads.ts'

type Evaluate = (args: readonly Value[], overload: Overload) => Value

/** Whether a built-in function may be called in const-expressions. */
export function isEvaluated(name: BuiltinFunction): name is ValueFunction {
  return name in evaluators
}

/** Evaluates a built-in function on constants; it must be one for const-expressions. */
export function evaluateBuiltin(name: ValueFunction, args: readonly Value[], overload: Overload): Value {
  return evaluators[name](args, overload)
}

const isList = (v: Value | undefined): v is readonly Value[] => Array.isArray(v)

/** Applies a scalar function by component. */
function byComponent(args: readonly Value[], f: (...scalars: Value[]) => Value): Value {
  const vector = args.find(isList)
  if (vector === undefined) return f(...args)
  return vector.map((_, i) => f(...args.map((a) => (isList(a) ? a[i]! : a))))
}

/** A function of floats, by component, rounded to the result's kind. */
function floats(f: (...x: number[]) => number): Evaluate {
  return (args, { parameters }) => {
    const kind = scalarOf(parameters[0]!)!
    return byComponent(args, (...x) => roundFloat(f(...x.map(Number)), kind))
  }
}

/** A function of 32-bit integers, by component; `f` gets the bits as an unsigned number and whether the type is signed. */
function integers(f: (bits: number, signed: boolean, ...more: number[]) => number): Evaluate {
  return (args, { parameters }) => {
    const signed = scalarOf(parameters[0]!) === 'i32'
    return byComponent(args, (x, ...more) => {
      const result = f((x as number) >>> 0, signed, ...more.map(Number))
      return signed ? result | 0 : result >>> 0
    })
  }
}

/** A function on scalars of any kind, by component. */
function anyKind(f: (kind: AnyScalar, ...x: Value[]) => Value): Evaluate {
  return (args, { parameters }) => {
    const kind = scalarOf(parameters[0]!)!
    return byComponent(args, (...x) => f(kind, ...x))
  }
}

const op = scalarOperator

function dotOf(kind: AnyScalar, a: readonly Value[], b: readonly Value[]): Value {
  return a.map((x, i) => op('*', kind, x, b[i]!)).reduce((sum, x) => op('+', kind, sum, x))
}

function lengthOf(v: Value, kind: AnyScalar): number {
  return isList(v) ? Math.sqrt(dotOf(kind, v, v) as number) : Math.abs(v as number)
}

function roundEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  const result = rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1
  return result === 0 ? (Object.is(x, -0) || x < 0 ? -0 : 0) : result
}

function firstLeadingBit(bits: number, signed: boolean): number {
  const x = signed && bits >= 2 ** 31 ? ~bits >>> 0 : bits
  return x === 0 ? -1 : 31 - Math.clz32(x)
}

function trailingZeros(bits: number): number {
  return bits === 0 ? 32 : 31 - Math.clz32(bits & -bits)
}

function reverseBits(bits: number): number {
  let result = 0
  for (let i = 0; i < 32; i++) result = (result << 1) | ((bits >>> i) & 1)
  return result >>> 0
}

function oneBits(bits: number): number {
  let count = 0
  for (let b = bits; b !== 0; b = (b & (b - 1)) >>> 0) count++
  return count
}

function bitField(offset: number, count: number): [number, number] {
  if (offset + count > 32) throw new ConstantError(`offset ${offset} + count ${count} exceeds 32 bits`)
  return [offset, count]
}

function extractBits(bits: number, signed: boolean, offset: number, count: number): number {
  const [o, c] = bitField(offset, count)
  if (c === 0) return 0
  const shifted = (bits << (32 - o - c)) >>> 0
  return signed ? (shifted | 0) >> (32 - c) : shifted >>> (32 - c)
}

function insertBits(bits: number, _signed: boolean, newBits: number, offset: number, count: number): number {
  const [o, c] = bitField(offset, count)
  if (c === 0) return bits
  const mask = ((c === 32 ? 0xffffffff : 2 ** c - 1) << o) >>> 0
  return (bits & ~mask) | ((newBits << o) & mask)
}

function frexpOf(x: number): [number, number] {
  if (x === 0) return [x, 0]
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(x))) + 1)
  let fract = x * 2 ** -exponent
  while (Math.abs(fract) < 0.5) {
    fract *= 2
    exponent--
  }
  while (Math.abs(fract) >= 1) {
    fract /= 2
    exponent++
  }
  return [fract, exponent]
}

/** x · 2^exponent. A power beyond f64 is applied in thirds; a product that is subnormal on the way ends as 0, so none rounds twice. */
function scaledByPower(x: number, exponent: number): number {
  if (Math.abs(exponent) <= 1000) return x * 2 ** exponent
  const power = clampTo(exponent, -2200, 2200)
  const third = Math.trunc(power / 3)
  return x * 2 ** third * 2 ** third * 2 ** (power - 2 * third)
}

/** Splits by component into the two members of a result structure. */
function pairs(f: (x: number) => [number, number]): Evaluate {
  return ([x], { result }) => {
    const abstract = scalarOf((result as StructType).members[1]!.type) === 'abstract-int'
    const second = (v: number): Value => (abstract ? BigInt(v) : v)
    if (!isList(x)) {
      const [a, b] = f(x as number)
      return [a, second(b)]
    }
    const parts = x.map((v) => f(v as number))
    return [parts.map((p) => p[0]), parts.map((p) => second(p[1]))]
  }
}

function determinantOf(m: readonly (readonly number[])[], kind: AnyScalar): number {
  if (m.length === 1) return m[0]![0]!
  let sum: Value | undefined
  for (const [c, column] of m.entries()) {
    const minor = m.filter((_, i) => i !== c).map((other) => other.slice(1))
    const product = op('*', kind, column[0]!, determinantOf(minor, kind))
    sum = sum === undefined ? product : op(c % 2 === 0 ? '+' : '-', kind, sum, product)
  }
  return sum as number
}

function scaled(v: readonly Value[], factor: number, kind: AnyScalar): Value {
  return v.map((x) => roundFloat((x as number) * factor, kind))
}

const floatKind = ({ parameters }: Overload) => scalarOf(parameters[0]!)!

function normalize([v]: readonly Value[], overload: Overload): Value {
  const length = lengthOf(v!, floatKind(overload))
  if (length === 0) throw new ConstantError('a vector of length 0 cannot be normalized')
  return scaled(v as Value[], 1 / length, floatKind(overload))
}

function cross([a, b]: readonly Value[], overload: Overload): Value {
  const [x, y] = [a as number[], b as number[]]
  const kind = floatKind(overload)
  const at = (i: number, j: number) => op('-', kind, op('*', kind, x[i]!, y[j]!), op('*', kind, x[j]!, y[i]!))
  return [at(1, 2), at(2, 0), at(0, 1)]
}

function reflect([e1, e2]: readonly Value[], overload: Overload): Value {
  const kind = floatKind(overload)
  const factor = op('*', kind, 2, dotOf(kind, e2 as Value[], e1 as Value[]))
  return (e1 as Value[]).map((x, i) => op('-', kind, x, op('*', kind, factor, (e2 as Value[])[i]!)))
}

function refract([e1, e2, e3]: readonly Value[], overload: Overload): Value {
  const kind = floatKind(overload)
  const times = (a: Value, b: Value) => op('*', kind, a, b)
  const eta = e3!
  const d = dotOf(kind, e2 as Value[], e1 as Value[])
  const k = op('-', kind, 1, times(times(eta, eta), op('-', kind, 1, times(d, d))))
  if ((k as number) < 0) return (e1 as number[]).map(() => 0)
  const factor = op('+', kind, times(eta, d), roundFloat(Math.sqrt(k as number), kind))
  return (e1 as Value[]).map((x, i) => op('-', kind, times(eta, x), times(factor, (e2 as Value[])[i]!)))
}

function quantize(x: number): number {
  return roundFloat(x, 'f16')
}

/** Lanes of `width` bits, lowest first. */
function lanes(word: number, width: 8 | 16): number[] {
  return Array.from({ length: 32 / width }, (_, i) => (word >>> (i * width)) & (2 ** width - 1))
}

function packLanes(values: readonly number[], width: 8 | 16): number {
  return values.reduce((word, v, i) => word | ((v & (2 ** width - 1)) << (i * width)), 0) >>> 0
}

const signedLane = (v: number, width: 8 | 16) => (v >= 2 ** (width - 1) ? v - 2 ** width : v)
const clampTo = (v: number, low: number, high: number) => Math.min(Math.max(v, low), high)

const packed =
  (width: 8 | 16, lane: (x: number) => number = (x) => x): Evaluate =>
  ([v]) =>
    packLanes((v as number[]).map(lane), width)

const packNorm = (width: 8 | 16, signed: boolean): Evaluate => {
  const scale = signed ? 2 ** (width - 1) - 1 : 2 ** width - 1
  return packed(width, (x) => Math.floor(0.5 + scale * clampTo(x, signed ? -1 : 0, 1)))
}

const unpackNorm =
  (width: 8 | 16, signed: boolean): Evaluate =>
  ([word]) =>
    lanes(word as number, width).map((v) =>
      Math.fround(
        signed ? Math.max(signedLane(v, width) / (2 ** (width - 1) - 1), -1) : v / (2 ** width - 1),
      ),
    )

const dot4 =
  (signed: boolean): Evaluate =>
  ([a, b]) => {
    const [x, y] = [lanes(a as number, 8), lanes(b as number, 8)]
    const lane = (v: number) => (signed ? signedLane(v, 8) : v)
    return x.reduce((sum, v, i) => sum + lane(v) * lane(y[i]!), 0)
  }

const minimum: Evaluate = anyKind((_, a, b) => (b! < a! ? b! : a!))
const maximum: Evaluate = anyKind((_, a, b) => (a! < b! ? b! : a!))

const evaluators: Readonly<Record<ValueFunction, Evaluate>> = {
  all: ([v]) => (isList(v) ? v.every(Boolean) : v!),
  any: ([v]) => (isList(v) ? v.some(Boolean) : v!),
  select: ([f, t, c]) =>
    isList(c) ? c.map((x, i) => (x ? (t as Value[])[i]! : (f as Value[])[i]!)) : c ? t! : f!,
  abs: anyKind((kind, x) => {
    if (typeof x === 'bigint') return x < 0n ? BigInt.asIntN(64, -x) : x
    return kind === 'i32' ? Math.abs(x as number) | 0 : Math.abs(x as number)
  }),
  acos: floats(Math.acos),
  acosh: floats(Math.acosh),
  asin: floats(Math.asin),
  asinh: floats(Math.asinh),
  atan: floats(Math.atan),
  atanh: floats(Math.atanh),
  atan2: floats(Math.atan2),
  ceil: floats(Math.ceil),
  clamp: anyKind((_, x, low, high) => (x! < low! ? low! : x! > high! ? high! : x!)),
  cos: floats(Math.cos),
  cosh: floats(Math.cosh),
  countLeadingZeros: integers(Math.clz32),
  countOneBits: integers(oneBits),
  countTrailingZeros: integers(trailingZeros),
  cross,
  degrees: floats((x) => x * (180 / Math.PI)),
  determinant: ([m], overload) => determinantOf(m as unknown as number[][], floatKind(overload)),
  distance: ([a, b], overload) => {
    const difference = byComponent([a!, b!], (x, y) => op('-', floatKind(overload), x, y))
    return roundFloat(lengthOf(difference, floatKind(overload)), floatKind(overload))
  },
  dot: ([a, b], overload) => dotOf(floatKind(overload), a as Value[], b as Value[]),
  dot4I8Packed: dot4(true),
  dot4U8Packed: dot4(false),
  exp: floats(Math.exp),
  exp2: floats((x) => 2 ** x),
  extractBits: integers(extractBits),
  faceForward: ([e1, e2, e3], overload) => {
    const kind = floatKind(overload)
    const negative = (dotOf(kind, e2 as Value[], e3 as Value[]) as number) < 0
    return negative ? e1! : (e1 as number[]).map((x) => -x)
  },
  firstLeadingBit: integers(firstLeadingBit),
  firstTrailingBit: integers((bits) => (bits === 0 ? -1 : trailingZeros(bits))),
  floor: floats(Math.floor),
  fma: floats((a, b, c) => a * b + c),
  fract: floats((x) => x - Math.floor(x)),
  frexp: pairs(frexpOf),
  insertBits: integers(insertBits),
  inverseSqrt: floats((x) => 1 / Math.sqrt(x)),
  ldexp: (args, { parameters }) => {
    const kind = scalarOf(parameters[0]!)!
    return byComponent(args, (x, e) => roundFloat(scaledByPower(x as number, Number(e)), kind))
  },
  length: ([v], overload) => roundFloat(lengthOf(v!, floatKind(overload)), floatKind(overload)),
  log: floats(Math.log),
  log2: floats(Math.log2),
  max: maximum,
  min: minimum,
  mix: ([a, b, t], overload) => {
    const kind = floatKind(overload)
    return byComponent([a!, b!, t!], (x, y, z) =>
      op('+', kind, op('*', kind, x!, op('-', kind, 1, z!)), op('*', kind, y!, z!)),
    )
  },
  modf: pairs((x) => [x - Math.trunc(x), Math.trunc(x)]),
  normalize,
  pow: floats((a, b) => (a < 0 || (a === 0 && b === 0) ? Number.NaN : a ** b)),
  quantizeToF16: floats(quantize),
  radians: floats((x) => x * (Math.PI / 180)),
  reflect,
  refract,
  reverseBits: integers(reverseBits),
  round: floats(roundEven),
  saturate: floats((x) => clampTo(x, 0, 1)),
  sign: anyKind((_, x) =>
    typeof x === 'bigint' ? (x > 0n ? 1n : x < 0n ? -1n : 0n) : Math.sign(x as number),
  ),
  sin: floats(Math.sin),
  sinh: floats(Math.sinh),
  smoothstep: (args, overload) => {
    const kind = floatKind(overload)
    return byComponent(args, (low, high, x) => {
      const ratio = op('/', kind, op('-', kind, x!, low!), op('-', kind, high!, low!))
      const t = clampTo(ratio as number, 0, 1)
      return roundFloat(t * t * (3 - 2 * t), kind)
    })
  },
  sqrt: floats(Math.sqrt),
  step: floats((edge, x) => (edge <= x ? 1 : 0)),
  tan: floats(Math.tan),
  tanh: floats(Math.tanh),
  transpose: ([m], { parameters }) => {
    const { rows } = parameters[0] as MatrixType
    return Array.from({ length: rows }, (_, r) => (m as Value[][]).map((column) => column[r]!))
  },
  trunc: floats(Math.trunc),
  pack4x8snorm: packNorm(8, true),
  pack4x8unorm: packNorm(8, false),
  pack2x16snorm: packNorm(16, true),
  pack2x16unorm: packNorm(16, false),
  pack4xI8: packed(8),
  pack4xU8: packed(8),
  pack4xI8Clamp: packed(8, (x) => clampTo(x, -128, 127)),
  pack4xU8Clamp: packed(8, (x) => clampTo(x, 0, 255)),
  pack2x16float: packed(16, (x) => halfBits(quantize(x))),
  unpack4x8snorm: unpackNorm(8, true),
  unpack4x8unorm: unpackNorm(8, false),
  unpack2x16snorm: unpackNorm(16, true),
  unpack2x16unorm: unpackNorm(16, false),
  unpack4xI8: ([word]) => lanes(word as number, 8).map((v) => signedLane(v, 8)),
  unpack4xU8: ([word]) => lanes(word as number, 8),
  unpack2x16float: ([word]) => lanes(word as number, 16).map((v) => roundFloat(halfValue(v), 'f32')),
}

/** Checks that apply as soon as some arguments are constant; `undefined` stands for those that are not. */
export function checkPartialArguments(
  name: BuiltinFunction,
  args: readonly (Value | undefined)[],
  types: readonly Type[],
): void {
  const numbers = (v: Value | undefined): number[] =>
    v === undefined ? [] : isList(v) ? v.map(Number) : [Number(v)]
  const kind = types[0] && scalarOf(types[0])
  if (name === 'extractBits' || name === 'insertBits') {
    const [offset, count] = args.slice(-2)
    if (offset === undefined || count === undefined) return
    const sum = Number(offset) + Number(count)
    if (sum > 32) throw new ConstantError(`${name}: offset + count is ${sum}, above 32`)
  } else if (name === 'clamp') {
    const highs = numbers(args[2])
    const lows = numbers(args[1])
    const bad = lows.findIndex((v, i) => v > highs[i]!)
    if (bad >= 0)
      throw new ConstantError(`clamp: the low bound ${lows[bad]} is above the high bound ${highs[bad]}`)
  } else if (name === 'smoothstep') {
    const highs = numbers(args[1])
    const bad = numbers(args[0]).find((v, i) => v === highs[i])
    if (bad !== undefined) throw new ConstantError(`smoothstep: both edges are ${bad}`)
  } else if (name === 'ldexp') {
    const limit = kind === 'f16' ? 16 : kind === 'f32' ? 128 : 1024
    const bad = numbers(args[1]).find((e) => e > limit)
    if (bad !== undefined) throw new ConstantError(`ldexp: the exponent ${bad} is above ${limit}`)
  }
}
