import type { ValueFunction } from '../builtin-functions.ts'
import { halfBits, halfValue, roundToHalf } from '../half-float.ts'
import { mapComponents, type Result, type Round, rounding } from './operators.ts'

/* The built-in functions that operate on values, for constants and for the reference executor. */

/** Creates a function for operands of a kind, given the rounding to that kind. */
type Make = (r: Round, kind: string) => (...args: never[]) => Result

const { fround, imul, clz32 } = Math

const unary =
  (g: (x: number, kind: string) => number): Make =>
  (r, kind) =>
  (x: number) =>
    r(g(x, kind))

const binary =
  (g: (a: number, b: number) => number): Make =>
  (r) =>
  (a: number, b: number) =>
    r(g(a, b))

const ternary =
  (g: (a: number, b: number, c: number) => number): Make =>
  (r) =>
  (a: number, b: number, c: number) =>
    r(g(a, b, c))

export function clampTo(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high)
}

/**
 * a · b + c of f32 values, rounded once. The product is exact in f64. The sum is rounded to f64 first, which
 * matters only where that gives a number halfway between two of f32: the error of that rounding (Knuth's
 * TwoSum) then says on which side the exact sum lies.
 */
function fmaOfF32(a: number, b: number, c: number): number {
  const product = a * b
  const sum = product + c
  const rounded = fround(sum)
  if (rounded === sum) return rounded
  const neighbor = sum + (sum - rounded)
  const isHalfway = Number.isFinite(rounded)
    ? fround(neighbor) === neighbor
    : Math.abs(sum) === halfwayToInfinity
  if (!isHalfway) return rounded
  const ofC = sum - product
  const error = product - (sum - ofC) + (c - ofC)
  return fround(sum + Math.sign(error) * Math.abs(sum) * 2 ** -52)
}

/** Halfway between the largest f32 and 2^128, which f32 does not have. */
const halfwayToInfinity = 2 ** 128 - 2 ** 103

function roundEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  const rounded = rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1
  return rounded === 0 ? x * 0 : rounded
}

function countOneBits(x: number): number {
  let count = 0
  for (let rest = x >>> 0; rest !== 0; rest &= rest - 1) count += 1
  return count
}

function reverseBits(x: number): number {
  let out = 0
  for (let i = 0; i < 32; i++) out |= ((x >>> i) & 1) << (31 - i)
  return out
}

function trailingZeros(x: number): number {
  return 31 - clz32(x & -x)
}

function firstLeadingBit(x: number, kind: string): number {
  return 31 - clz32(kind === 'i32' && x < 0 ? ~x : x)
}

/**
 * x · 2^exponent. A power outside the range of f64 is applied in three steps. If an intermediate product is
 * subnormal, the result is 0, so no result is rounded twice.
 */
function scaledByPower(x: number, exponent: number): number {
  if (Math.abs(exponent) <= 1000) return x * 2 ** exponent
  const power = clampTo(exponent, -2200, 2200)
  const third = Math.trunc(power / 3)
  return x * 2 ** third * 2 ** third * 2 ** (power - 2 * third)
}

/** The offset and length of a bit field, clamped to the word. */
function bitField(offset: number, count: number): [offset: number, count: number] {
  const o = Math.min(offset, 32)
  return [o, Math.min(count, 32 - o)]
}

const extractBits: Make = (_, kind) => (x: number, offset: number, count: number) => {
  const [o, c] = bitField(offset, count)
  if (c === 0) return 0
  const up = x << (32 - o - c)
  return kind === 'i32' ? up >> (32 - c) : up >>> (32 - c)
}

const insertBits: Make = (r) => (x: number, inserted: number, offset: number, count: number) => {
  const [o, c] = bitField(offset, count)
  if (c === 0) return x
  const mask = c === 32 ? -1 : ((1 << c) - 1) << o
  return r((x & ~mask) | ((inserted << o) & mask))
}

const componentFunctions = {
  abs: unary(Math.abs),
  acos: unary(Math.acos),
  acosh: unary(Math.acosh),
  asin: unary(Math.asin),
  asinh: unary(Math.asinh),
  atan: unary(Math.atan),
  atanh: unary(Math.atanh),
  atan2: binary(Math.atan2),
  ceil: unary(Math.ceil),
  clamp: ternary(clampTo),
  cos: unary(Math.cos),
  cosh: unary(Math.cosh),
  countLeadingZeros: unary((x) => clz32(x)),
  countOneBits: unary(countOneBits),
  countTrailingZeros: unary((x) => (x === 0 ? 32 : trailingZeros(x))),
  degrees: unary((x) => x * (180 / Math.PI)),
  exp: unary(Math.exp),
  exp2: unary((x) => 2 ** x),
  extractBits,
  firstLeadingBit: unary(firstLeadingBit),
  firstTrailingBit: unary(trailingZeros),
  floor: unary(Math.floor),
  fma: (r, kind) => {
    const f = kind === 'f32' ? fmaOfF32 : (a: number, b: number, c: number) => a * b + c
    return (a: number, b: number, c: number) => r(f(a, b, c))
  },
  fract: unary((x) => x - Math.floor(x)),
  insertBits,
  inverseSqrt: unary((x) => 1 / Math.sqrt(x)),
  ldexp: binary(scaledByPower),
  log: unary(Math.log),
  log2: unary(Math.log2),
  max: binary(Math.max),
  min: binary(Math.min),
  mix: (r) => (a: number, b: number, t: number) => r(r(a * r(1 - t)) + r(b * t)),
  pow: binary(Math.pow),
  quantizeToF16: unary(roundToHalf),
  radians: unary((x) => x * (Math.PI / 180)),
  reverseBits: unary(reverseBits),
  round: unary(roundEven),
  saturate: unary((x) => clampTo(x, 0, 1)),
  select: () => (a: never, b: never, condition: boolean) => (condition ? b : a),
  sign: unary((x) => Number(x > 0) - Number(x < 0)),
  sin: unary(Math.sin),
  sinh: unary(Math.sinh),
  smoothstep: (r) => (low: number, high: number, x: number) => {
    const t = r(clampTo(r(r(x - low) / r(high - low)), 0, 1))
    return r(r(t * t) * r(3 - r(2 * t)))
  },
  sqrt: unary(Math.sqrt),
  step: binary((edge, x) => (edge <= x ? 1 : 0)),
  tan: unary(Math.tan),
  tanh: unary(Math.tanh),
  trunc: unary(Math.trunc),
} as const satisfies Partial<Record<ValueFunction, Make>>

/** Built-in functions that apply by component; the kind is that of the operands. */
export function componentFunction(name: string, kind: string, r: Round = rounding[kind]!) {
  return (componentFunctions as Readonly<Record<string, Make>>)[name]?.(r, kind)
}

// ------------------------------------------------------------------------------- functions of whole vectors
// and matrices

type Vector = readonly number[]

function dot(r: Round, kind: string, a: Vector, b: Vector): number {
  const times = kind === 'i32' || kind === 'u32' ? imul : (x: number, y: number) => x * y
  return a.map((x, i) => r(times(x, b[i]!))).reduce((x, y) => r(x + y))
}

function length(r: Round, kind: string, a: Vector | number): number {
  return Array.isArray(a) ? r(Math.sqrt(dot(r, kind, a, a))) : Math.abs(a as number)
}

const distance: Make = (r, kind) => (a: Vector | number, b: Vector | number) =>
  length(r, kind, mapComponents<unknown>((x: number, y: number) => r(x - y), a, b) as Vector)

const normalize: Make = (r, kind) => (a: Vector) => {
  const by = length(r, kind, a)
  return a.map((x) => r(x / by))
}

const cross: Make = (r) => (a: Vector, b: Vector) => {
  const at = (i: number, j: number) => r(r(a[i]! * b[j]!) - r(a[j]! * b[i]!))
  return [at(1, 2), at(2, 0), at(0, 1)]
}

const reflect: Make = (r, kind) => (a: Vector, b: Vector) => {
  const factor = r(2 * dot(r, kind, b, a))
  return a.map((x, i) => r(x - r(b[i]! * factor)))
}

const refract: Make = (r, kind) => (a: Vector, b: Vector, eta: number) => {
  const d = dot(r, kind, b, a)
  const k = r(1 - r(r(eta * eta) * r(1 - r(d * d))))
  if (k < 0) return a.map(() => 0)
  const factor = r(r(eta * d) + r(Math.sqrt(k)))
  return a.map((x, i) => r(r(x * eta) - r(b[i]! * factor)))
}

function determinant(m: readonly Vector[]): number {
  if (m.length === 1) return m[0]![0]!
  return m.reduce((sum, column, i) => {
    const minor = m.filter((_, j) => j !== i).map((other) => other.slice(1))
    return sum + (i % 2 === 0 ? 1 : -1) * column[0]! * determinant(minor)
  }, 0)
}

/** Applies `f` component-wise and collects the results in the two members of a result structure. */
const pairs =
  (f: (x: number) => readonly [number, number]): Make =>
  () =>
  (v: number | number[]) =>
    Array.isArray(v) ? [v.map((x) => f(x)[0]), v.map((x) => f(x)[1])] : [...f(v)]

function frexp(x: number): [fract: number, exponent: number] {
  if (x === 0 || !Number.isFinite(x)) return [x, 0]
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

/** Lanes of `width` bits, lowest first. */
function lanes(word: number, width: 8 | 16, signed: boolean): number[] {
  const rest = 32 - width
  return Array.from({ length: 32 / width }, (_, i) => {
    const up = word << (rest - i * width)
    return signed ? up >> rest : up >>> rest
  })
}

/** Packs vectors into lanes of `width` bits. */
const pack =
  (width: 8 | 16, lane: (x: number) => number = (x) => x): Make =>
  () =>
  (v: Vector) =>
    v.reduce((word, x, i) => word | ((lane(x) & (2 ** width - 1)) << (i * width)), 0) >>> 0

const packNorm = (width: 8 | 16, signed: boolean): Make => {
  const scale = signed ? 2 ** (width - 1) - 1 : 2 ** width - 1
  return pack(width, (x) => Math.floor(0.5 + scale * clampTo(x, signed ? -1 : 0, 1)))
}

const unpack =
  (width: 8 | 16, signed: boolean, value: (lane: number) => number = (x) => x): Make =>
  () =>
  (word: number) =>
    lanes(word, width, signed).map(value)

const unpackNorm = (width: 8 | 16, signed: boolean): Make => {
  const scale = signed ? 2 ** (width - 1) - 1 : 2 ** width - 1
  return unpack(width, signed, (x) => fround(Math.max(x / scale, -1)))
}

const dot4 =
  (signed: boolean): Make =>
  () =>
  (a: number, b: number) => {
    const others = lanes(b, 8, signed)
    return lanes(a, 8, signed).reduce((sum, x, i) => sum + x * others[i]!, 0)
  }

const wholeFunctions: Readonly<Record<Exclude<ValueFunction, keyof typeof componentFunctions>, Make>> = {
  all: () => (v: boolean | boolean[]) => (Array.isArray(v) ? v.every(Boolean) : v),
  any: () => (v: boolean | boolean[]) => (Array.isArray(v) ? v.some(Boolean) : v),
  cross,
  determinant: (r) => (m: Vector[]) => r(determinant(m)),
  distance,
  dot: (r, kind) => (a: Vector, b: Vector) => dot(r, kind, a, b),
  dot4I8Packed: dot4(true),
  dot4U8Packed: dot4(false),
  faceForward: (r, kind) => (a: number[], b: Vector, c: Vector) =>
    dot(r, kind, b, c) < 0 ? a : a.map((x) => -x),
  frexp: pairs(frexp),
  length: (r, kind) => (a: Vector | number) => length(r, kind, a),
  modf: pairs((x) => [x - Math.trunc(x), Math.trunc(x)]),
  normalize,
  reflect,
  refract,
  transpose: () => (m: number[][]) => m[0]!.map((_, row) => m.map((column) => column[row]!)),
  pack4x8snorm: packNorm(8, true),
  pack4x8unorm: packNorm(8, false),
  pack2x16snorm: packNorm(16, true),
  pack2x16unorm: packNorm(16, false),
  pack4xI8: pack(8),
  pack4xU8: pack(8),
  pack4xI8Clamp: pack(8, (x) => clampTo(x, -128, 127)),
  pack4xU8Clamp: pack(8, (x) => clampTo(x, 0, 255)),
  pack2x16float: pack(16, halfBits),
  unpack4x8snorm: unpackNorm(8, true),
  unpack4x8unorm: unpackNorm(8, false),
  unpack2x16snorm: unpackNorm(16, true),
  unpack2x16unorm: unpackNorm(16, false),
  unpack4xI8: unpack(8, true),
  unpack4xU8: unpack(8, false),
  unpack2x16float: unpack(16, false, halfValue),
}

/** Built-in functions on whole vectors or matrices. */
export function wholeFunction(name: ValueFunction, kind: string, r: Round = rounding[kind]!) {
  return (wholeFunctions as Readonly<Record<string, Make>>)[name]!(r, kind)
}
