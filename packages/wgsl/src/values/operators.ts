import { halfBits, halfValue, roundToHalf } from '../half-float.ts'
import type { Type } from '../ir.ts'
import { floatValue, nanBits } from './nan.ts'

/*
 * Operators and conversions of WGSL on JavaScript numbers, for constants and for the reference executor. f32
 * operations round once to single precision after a double operation, which is the correctly rounded result
 * for + - * / and sqrt (Figueroa, "When is double rounding innocuous?", 1995).
 */

/** A scalar, or a list of components, columns or members. */
export type Result = number | boolean | Result[]

/**
 * Rounds the result of one operation to its kind; the version for constants throws if the result has no value
 * of the kind.
 */
export type Round = (x: number) => number

const { fround, imul } = Math

/** Rounds a double to the scalar kind; bools are not rounded. */
export const rounding: Readonly<Record<string, Round>> = {
  f32: fround,
  f16: roundToHalf,
  i32: (x) => x | 0,
  u32: (x) => x >>> 0,
  bool: (x) => x,
}

const bits = new DataView(new ArrayBuffer(16))
const word = new Uint32Array(1)
const float = new Float32Array(word.buffer)

function divideInteger(a: number, b: number, kind: string): number {
  if (b === 0 || (kind === 'i32' && a === -0x80000000 && b === -1)) return a
  return Math.trunc(a / b)
}

function remainderInteger(a: number, b: number, kind: string): number {
  if (b === 0 || (kind === 'i32' && a === -0x80000000 && b === -1)) return 0
  return (a % b) + 0
}

/** Applies `f` component-wise; if there are vectors, scalar arguments are used for every component. */
export function mapComponents<V>(f: (...scalars: never[]) => V, ...args: readonly V[]): V {
  const vector = args.find((arg) => Array.isArray(arg)) as unknown[] | undefined
  if (vector === undefined) return f(...(args as never[]))
  const result: V[] = []
  for (let i = 0; i < vector.length; i++)
    result.push(mapComponents(f, ...args.map((arg) => (Array.isArray(arg) ? arg[i] : arg))))
  return result as V
}

/** The scalar function of a binary operator on operands of a kind. */
export function binaryFunction(
  operator: string,
  kind: string,
  r: Round = rounding[kind]!,
): (a: never, b: never) => number | boolean {
  const f = (g: (a: number, b: number) => number | boolean) => g as (a: never, b: never) => number | boolean
  if (kind === 'bool') {
    if (operator === '&') return f((a, b) => Boolean(a) && Boolean(b))
    if (operator === '|') return f((a, b) => Boolean(a) || Boolean(b))
  }
  const integer = kind === 'i32' || kind === 'u32'
  switch (operator) {
    case '+':
      return f((a, b) => r(a + b))
    case '-':
      return f((a, b) => r(a - b))
    case '*':
      return integer ? f((a, b) => r(imul(a, b))) : f((a, b) => r(a * b))
    case '/':
      return integer ? f((a, b) => r(divideInteger(a, b, kind))) : f((a, b) => r(a / b))
    case '%':
      return integer ? f((a, b) => r(remainderInteger(a, b, kind))) : f((a, b) => r(a % b))
    case '&':
      return f((a, b) => r(a & b))
    case '|':
      return f((a, b) => r(a | b))
    case '^':
      return f((a, b) => r(a ^ b))
    case '<<':
      return f((a, b) => r(a << (b & 31)))
    case '>>':
      return kind === 'u32' ? f((a, b) => a >>> (b & 31)) : f((a, b) => a >> (b & 31))
    // A NaN may be an object, which would equal itself.
    case '==':
      return f((a, b) => +a === +b)
    case '!=':
      return f((a, b) => +a !== +b)
    case '<':
      return f((a, b) => a < b)
    case '<=':
      return f((a, b) => a <= b)
    case '>':
      return f((a, b) => a > b)
    case '>=':
      return f((a, b) => a >= b)
    default:
      throw new TypeError(`operator ${operator} is unknown`)
  }
}

/**
 * Which linear-algebra product `*` is: matrix and vector, vector and matrix, or two matrices; undefined for a
 * component-wise product.
 */
export function productShape(left: Type, right: Type): 'mv' | 'vm' | 'mm' | undefined {
  if (left.kind === 'matrix')
    return right.kind === 'matrix' ? 'mm' : right.kind === 'vector' ? 'mv' : undefined
  return left.kind === 'vector' && right.kind === 'matrix' ? 'vm' : undefined
}

/** Linear-algebra product of matrices (arrays of columns) and vectors. */
export function multiplyMatrix(
  left: number[] | number[][],
  right: number[] | number[][],
  kind: string,
  shape: 'mv' | 'vm' | 'mm',
  r: Round = rounding[kind]!,
): Result {
  const sum = (terms: number[]) => terms.reduce((a, b) => r(a + b))
  const timesVector = (m: number[][], v: number[]) =>
    m[0]!.map((_, row) => sum(m.map((column, i) => r(column[row]! * v[i]!))))
  if (shape === 'mv') return timesVector(left as number[][], right as number[])
  if (shape === 'vm')
    return (right as number[][]).map((column) => sum(column.map((x, i) => r(x * (left as number[])[i]!))))
  return (right as number[][]).map((column) => timesVector(left as number[][], column))
}

/**
 * Value conversion, WGSL "Value Constructor Built-in Functions": floats are clamped to the integer's range,
 * and NaN becomes 0.
 */
export function convertScalar(value: number | boolean, from: string, to: string): number | boolean {
  const x = Number(value)
  // NaN is true.
  if (to === 'bool') return x !== 0
  if ((from === 'f32' || from === 'f16') && (to === 'i32' || to === 'u32')) {
    if (Number.isNaN(x)) return 0
    const [low, high] = to === 'i32' ? [-2147483648, 2147483520] : [0, 4294967040]
    return Math.min(Math.max(Math.trunc(x), low), high) + 0
  }
  return rounding[to]!(x)
}

/** The bytes of a scalar or vector, reinterpreted as `toSize` components (1: a scalar) of kind `to`. */
export function bitcastValue(value: Result, from: string, to: string, toSize: number): Result {
  // The common case: one word that is not a NaN with stored bits.
  if (toSize === 1 && typeof value === 'number' && from !== 'f16' && to !== 'f16') {
    if (from === 'f32') float[0] = value
    else word[0] = value
    if (to === 'u32') return word[0]!
    if (to === 'i32') return word[0]! | 0
    const x = float[0]!
    return floatValue(x, () => word[0]!)
  }
  for (const [i, x] of (Array.isArray(value) ? value : [value]).entries()) {
    const nan = nanBits(x)
    if (from === 'f16') bits.setUint16(i * 2, nan ?? halfBits(x as number), true)
    else if (from === 'f32' && nan === undefined) bits.setFloat32(i * 4, x as number, true)
    else if (nan !== undefined) bits.setUint32(i * 4, nan, true)
    else bits.setUint32(i * 4, x as number, true)
  }
  const read = (i: number) => {
    if (to === 'f32') return floatValue(bits.getFloat32(i * 4, true), () => bits.getUint32(i * 4, true))
    if (to === 'i32') return bits.getInt32(i * 4, true)
    if (to === 'f16')
      return floatValue(halfValue(bits.getUint16(i * 2, true)), () => bits.getUint16(i * 2, true))
    return bits.getUint32(i * 4, true)
  }
  return toSize === 1 ? read(0) : Array.from({ length: toSize }, (_, i) => read(i))
}
