import { halfBits, halfValue, roundToHalf } from '../half-float.ts'
import type { Value } from './memory.ts'
import { floatValue, nanBits } from './nan.ts'

/*
 * Arithmetic of WGSL on JavaScript numbers. f32 operations round once to single precision after a double operation,
 * which is the correctly rounded result for + - * / and sqrt (Figueroa, "When is double rounding innocuous?", 1995).
 */

type Scalar = number | boolean
type ScalarFunction = (...args: never[]) => Scalar

const { fround, imul, clz32 } = Math

/** Rounds a double to the scalar kind. */
export const rounding: Readonly<Record<string, (x: number) => number>> = {
  f32: fround,
  f16: roundToHalf,
  i32: (x) => x | 0,
  u32: (x) => x >>> 0,
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

/** Applies `f` by component; scalars beside vectors are used for every component. */
export function mapComponents(f: (...args: never[]) => Value, ...args: Value[]): Value {
  const vector = args.find((arg) => Array.isArray(arg))
  if (vector === undefined) return f(...(args as never[]))
  const result: Value[] = []
  for (let i = 0; i < vector.length; i++)
    result.push(mapComponents(f, ...args.map((arg) => (Array.isArray(arg) ? arg[i]! : arg))))
  return result
}

/** The scalar function of a binary operator on operands of a kind. */
export function binaryFunction(operator: string, kind: string): (a: never, b: never) => Scalar {
  const f = (g: (a: number, b: number) => Scalar) => g as (a: never, b: never) => Scalar
  if (kind === 'bool') {
    if (operator === '&') return f((a, b) => Boolean(a) && Boolean(b))
    if (operator === '|') return f((a, b) => Boolean(a) || Boolean(b))
    if (operator === '==') return f((a, b) => a === b)
    return f((a, b) => a !== b)
  }
  const r = rounding[kind]!
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

/** Linear-algebra product of matrices (arrays of columns) and vectors. */
export function multiplyMatrix(
  left: number[] | number[][],
  right: number[] | number[][],
  kind: string,
  shape: 'mv' | 'vm' | 'mm',
): Value {
  const r = rounding[kind]!
  const sum = (terms: number[]) => terms.reduce((a, b) => r(a + b))
  const timesVector = (m: number[][], v: number[]) =>
    m[0]!.map((_, row) => sum(m.map((column, i) => r(column[row]! * v[i]!))))
  if (shape === 'mv') return timesVector(left as number[][], right as number[])
  if (shape === 'vm')
    return (right as number[][]).map((column) => sum(column.map((x, i) => r(x * (left as number[])[i]!))))
  return (right as number[][]).map((column) => timesVector(left as number[][], column))
}

/** Value conversion, WGSL "Value Constructor Built-in Functions": floats clamp to the integer's range, NaN gives 0. */
export function convertScalar(value: Scalar, from: string, to: string): Scalar {
  if (to === 'bool') return Boolean(value)
  const x = Number(value)
  if ((from === 'f32' || from === 'f16') && (to === 'i32' || to === 'u32')) {
    if (Number.isNaN(x)) return 0
    const [low, high] = to === 'i32' ? [-2147483648, 2147483520] : [0, 4294967040]
    return Math.min(Math.max(Math.trunc(x), low), high) + 0
  }
  return rounding[to]!(x)
}

/** The bytes of a scalar or vector, reinterpreted as `toSize` components (1: a scalar) of kind `to`. */
export function bitcastValue(value: Value, from: string, to: string, toSize: number): Value {
  // The usual case: one word, which is not a NaN that knows its bits.
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

/** `lane * 8` bytes and their inverse, for the packing functions. */
function packBytes(v: number[], encode: (x: number) => number): number {
  return v.reduce((word, x, i) => word | ((encode(x) & 0xff) << (8 * i)), 0) >>> 0
}

function unpackBytes(word: number, decode: (byte: number) => number): number[] {
  return [0, 1, 2, 3].map((i) => decode((word >>> (8 * i)) & 0xff))
}

const signedByte = (byte: number) => (byte << 24) >> 24
const clampTo = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high)
const roundEven = (x: number) => {
  const floor = Math.floor(x)
  const rest = x - floor
  const rounded = rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1
  return rounded === 0 ? x * 0 : rounded
}

/** Built-in functions that apply by component; the kind is that of the operands. */
export function componentFunction(name: string, kind: string): ScalarFunction | undefined {
  const r = rounding[kind] ?? ((x: number) => x)
  const unary = (g: (x: number) => number) => ((x: number) => r(g(x))) as ScalarFunction
  const binary = (g: (a: number, b: number) => number) =>
    ((a: number, b: number) => r(g(a, b))) as ScalarFunction
  const ternary = (g: (a: number, b: number, c: number) => number) =>
    ((a: number, b: number, c: number) => r(g(a, b, c))) as ScalarFunction
  const width = 32
  switch (name) {
    case 'abs':
    case 'acos':
    case 'acosh':
    case 'asin':
    case 'asinh':
    case 'atan':
    case 'atanh':
    case 'ceil':
    case 'cos':
    case 'cosh':
    case 'exp':
    case 'floor':
    case 'log':
    case 'log2':
    case 'sin':
    case 'sinh':
    case 'sqrt':
    case 'tan':
    case 'tanh':
    case 'trunc':
      return unary(Math[name])
    case 'atan2':
    case 'max':
    case 'min':
    case 'pow':
      return binary(Math[name])
    case 'exp2':
      return unary((x) => 2 ** x)
    case 'inverseSqrt':
      return unary((x) => 1 / Math.sqrt(x))
    case 'fract':
      return unary((x) => x - Math.floor(x))
    case 'round':
      return unary(roundEven)
    case 'sign':
      return unary((x) => Number(x > 0) - Number(x < 0))
    case 'saturate':
      return unary((x) => clampTo(x, 0, 1))
    case 'degrees':
      return unary((x) => (x * 180) / Math.PI)
    case 'radians':
      return unary((x) => (x * Math.PI) / 180)
    case 'quantizeToF16':
      return unary(roundToHalf)
    case 'step':
      return binary((edge, x) => (edge <= x ? 1 : 0))
    case 'ldexp':
      return binary((x, e) => x * 2 ** clampTo(e, -1000, 1000))
    case 'clamp':
      return ternary((x, low, high) => Math.min(Math.max(x, low), high))
    case 'fma':
      return ternary((a, b, c) => a * b + c)
    case 'mix':
      return ternary((a, b, t) => r(a * r(1 - t)) + r(b * t))
    case 'smoothstep':
      return ternary((low, high, x) => {
        const t = r(clampTo(r(r(x - low) / r(high - low)), 0, 1))
        return r(t * t) * r(3 - r(2 * t))
      })
    case 'countLeadingZeros':
      return unary((x) => clz32(x))
    case 'countTrailingZeros':
      return unary((x) => (x === 0 ? width : 31 - clz32(x & -x)))
    case 'countOneBits':
      return unary((x) => {
        let count = 0
        for (let rest = x >>> 0; rest !== 0; rest &= rest - 1) count += 1
        return count
      })
    case 'firstTrailingBit':
      return unary((x) => (x === 0 ? -1 : 31 - clz32(x & -x)))
    case 'firstLeadingBit':
      return unary((x) => {
        const y = kind === 'i32' && x < 0 ? ~x : x
        return y === 0 ? -1 : 31 - clz32(y)
      })
    case 'reverseBits':
      return unary((x) => {
        let out = 0
        for (let i = 0; i < 32; i++) out |= ((x >>> i) & 1) << (31 - i)
        return out
      })
    case 'extractBits':
      return ternary((x, offset, count) => {
        const o = Math.min(offset, width)
        const c = Math.min(count, width - o)
        if (c === 0) return 0
        const up = x << (width - o - c)
        return kind === 'i32' ? up >> (width - c) : up >>> (width - c)
      })
    case 'insertBits':
      return ((x: number, inserted: number, offset: number, count: number) => {
        const o = Math.min(offset, width)
        const c = Math.min(count, width - o)
        if (c === 0) return x
        const mask = c === 32 ? -1 : ((1 << c) - 1) << o
        return r((x & ~mask) | ((inserted << o) & mask))
      }) as ScalarFunction
    case 'select':
      return ((a: Scalar, b: Scalar, condition: boolean) => (condition ? b : a)) as ScalarFunction
    default:
      return undefined
  }
}

/** Built-in functions that see whole vectors or matrices. */
export function wholeFunction(name: string, kind: string): ((...args: never[]) => Value) | undefined {
  const r = rounding[kind] ?? ((x: number) => x)
  const f = (g: (...args: number[][]) => Value) => g as (...args: never[]) => Value
  const times =
    kind === 'i32' || kind === 'u32'
      ? (a: number, b: number) => r(imul(a, b))
      : (a: number, b: number) => r(a * b)
  const dot = (a: number[], b: number[]) => a.map((x, i) => times(x, b[i]!)).reduce((x, y) => r(x + y))
  const length = (a: number[] | number) => (Array.isArray(a) ? r(Math.sqrt(dot(a, a))) : Math.abs(a))
  const scale = (a: number[], s: number) => a.map((x) => r(x * s))
  const subtract = (a: number[], b: number[]) => a.map((x, i) => r(x - b[i]!))
  switch (name) {
    case 'all':
      return ((v: boolean | boolean[]) => (Array.isArray(v) ? v.every(Boolean) : v)) as never
    case 'any':
      return ((v: boolean | boolean[]) => (Array.isArray(v) ? v.some(Boolean) : v)) as never
    case 'dot':
      return f((a, b) => dot(a!, b!))
    case 'cross':
      return f((a, b) => [
        r(times(a![1]!, b![2]!) - times(a![2]!, b![1]!)),
        r(times(a![2]!, b![0]!) - times(a![0]!, b![2]!)),
        r(times(a![0]!, b![1]!) - times(a![1]!, b![0]!)),
      ])
    case 'length':
      return f((a) => length(a!))
    case 'distance':
      return f((a, b) =>
        Array.isArray(a) ? length(subtract(a, b!)) : Math.abs(r((a as never) - (b as never))),
      )
    case 'normalize':
      return f((a) => a!.map((x) => r(x / length(a!))))
    case 'faceForward':
      return f((a, b, c) => (dot(b!, c!) < 0 ? a! : a!.map((x) => -x)))
    case 'reflect':
      return f((a, b) => subtract(a!, scale(b!, r(2 * dot(b!, a!)))))
    case 'refract':
      return ((a: number[], b: number[], eta: number) => {
        const d = dot(b, a)
        const k = r(1 - r(r(eta * eta) * r(1 - r(d * d))))
        if (k < 0) return a.map(() => 0)
        return subtract(scale(a, eta), scale(b, r(r(eta * d) + r(Math.sqrt(k)))))
      }) as never
    case 'transpose':
      return ((m: number[][]) => m[0]!.map((_, row) => m.map((column) => column[row]!))) as never
    case 'determinant':
      return ((m: number[][]) => r(determinant(m))) as never
    case 'frexp':
      return ((v: Value) => {
        const one = (x: number): [number, number] => {
          if (x === 0 || !Number.isFinite(x)) return [x, 0]
          let exponent = Math.floor(Math.log2(Math.abs(x))) + 1
          while (Math.abs(x) / 2 ** exponent >= 1) exponent += 1
          while (Math.abs(x) / 2 ** exponent < 0.5) exponent -= 1
          return [x / 2 ** exponent, exponent]
        }
        return Array.isArray(v)
          ? [v.map((x) => one(x as number)[0]), v.map((x) => one(x as number)[1])]
          : one(v as number)
      }) as never
    case 'modf':
      return ((v: Value) => {
        const whole = mapComponents(((x: number) => Math.trunc(x)) as never, v)
        return [mapComponents(((x: number) => r(x - Math.trunc(x))) as never, v), whole]
      }) as never
    case 'dot4U8Packed':
      return ((a: number, b: number) =>
        unpackBytes(a, (x) => x).reduce(
          (s, x, i) => (s + x * unpackBytes(b, (y) => y)[i]!) >>> 0,
          0,
        )) as never
    case 'dot4I8Packed':
      return ((a: number, b: number) =>
        unpackBytes(a, signedByte).reduce(
          (s, x, i) => (s + x * unpackBytes(b, signedByte)[i]!) | 0,
          0,
        )) as never
    case 'pack4x8snorm':
      return f((v) => packBytes(v as never, (x) => Math.floor(0.5 + 127 * clampTo(x, -1, 1))))
    case 'pack4x8unorm':
      return f((v) => packBytes(v as never, (x) => Math.floor(0.5 + 255 * clampTo(x, 0, 1))))
    case 'pack4xI8':
    case 'pack4xU8':
      return f((v) => packBytes(v as never, (x) => x))
    case 'pack4xI8Clamp':
      return f((v) => packBytes(v as never, (x) => clampTo(x, -128, 127)))
    case 'pack4xU8Clamp':
      return f((v) => packBytes(v as never, (x) => Math.min(x, 255)))
    case 'unpack4x8snorm':
      return ((w: number) => unpackBytes(w, (x) => fround(Math.max(signedByte(x) / 127, -1)))) as never
    case 'unpack4x8unorm':
      return ((w: number) => unpackBytes(w, (x) => fround(x / 255))) as never
    case 'unpack4xI8':
      return ((w: number) => unpackBytes(w, signedByte)) as never
    case 'unpack4xU8':
      return ((w: number) => unpackBytes(w, (x) => x)) as never
    case 'pack2x16snorm':
      return ((v: number[]) =>
        v.reduce((w, x, i) => w | ((Math.floor(0.5 + 32767 * clampTo(x, -1, 1)) & 0xffff) << (16 * i)), 0) >>>
        0) as never
    case 'pack2x16unorm':
      return ((v: number[]) =>
        v.reduce((w, x, i) => w | ((Math.floor(0.5 + 65535 * clampTo(x, 0, 1)) & 0xffff) << (16 * i)), 0) >>>
        0) as never
    case 'pack2x16float':
      return ((v: number[]) => (halfBits(v[0]!) | (halfBits(v[1]!) << 16)) >>> 0) as never
    case 'unpack2x16snorm':
      return ((w: number) =>
        [w & 0xffff, w >>> 16].map((x) => fround(Math.max(((x << 16) >> 16) / 32767, -1)))) as never
    case 'unpack2x16unorm':
      return ((w: number) => [w & 0xffff, w >>> 16].map((x) => fround(x / 65535))) as never
    case 'unpack2x16float':
      return ((w: number) => [halfValue(w & 0xffff), halfValue(w >>> 16)]) as never
    default:
      return undefined
  }
}

function determinant(m: number[][]): number {
  if (m.length === 1) return m[0]![0]!
  return m.reduce((sum, column, i) => {
    const minor = m.filter((_, j) => j !== i).map((other) => other.slice(1))
    return sum + (i % 2 === 0 ? 1 : -1) * column[0]! * determinant(minor)
  }, 0)
}
