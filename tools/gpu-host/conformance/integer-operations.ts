/** An operation on integers: WGSL for operands `a`, `b` (of a type `T`, scalars or vectors) and its exact value. */
export interface IntegerOperation {
  readonly text: string
  /** The value for scalars, as 32 bits; operands are given as the type has them. */
  readonly value: (a: number, b: number) => number | bigint | boolean
  readonly types: readonly ('i32' | 'u32')[]
  /** Only for scalars. */
  readonly isScalar?: true
  /** Whether constants with these values are an error, or leave the result open. */
  readonly failsAsConstant?: (a: number, b: number) => boolean
}

const both = ['i32', 'u32'] as const
const signed = ['i32'] as const
const unsigned = ['u32'] as const

const leaves = (exact: (a: number, b: number) => number) => (a: number, b: number) => {
  const value = exact(a, b)
  const isSigned = a < 0 || b < 0 || value < 0
  return (
    value < -(2 ** 31) ||
    value > 2 ** 32 - 1 ||
    (isSigned && value > 2 ** 31 - 1) ||
    Math.abs(value) > 2 ** 31 - 1
  )
}
const byZero = (a: number, b: number) => b === 0 || (b === -1 && a === -(2 ** 31))
const field = (b: number) => ({ offset: b & 63, count: (b >>> 6) & 63 })
const clipped = (b: number) => {
  const offset = Math.min(field(b).offset, 32)
  return { offset, count: Math.min(field(b).count, 32 - offset) }
}
const outside = (_: number, b: number) => field(b).offset + field(b).count > 32
const mask = (count: number) => (count === 32 ? 0xffffffff : 2 ** count - 1)
const bytes = (x: number, isSigned: boolean) =>
  [0, 8, 16, 24].map((shift) => (isSigned ? ((x >>> shift) << 24) >> 24 : (x >>> shift) & 255))
const packedDot = (isSigned: boolean) => (a: number, b: number) => {
  const [l, r] = [bytes(a, isSigned), bytes(b, isSigned)]
  return l.reduce((sum, x, i) => sum + x * r[i]!, 0)
}
const packed = (parts: readonly number[]) =>
  parts.reduce((word, part, i) => word | ((part & 255) << (8 * i)), 0)
const reversed = (x: number) =>
  Number.parseInt((x >>> 0).toString(2).padStart(32, '0').split('').reverse().join(''), 2)
const ones = (x: number) => (x >>> 0).toString(2).replaceAll('0', '').length
const trailing = (x: number) => (x === 0 ? 32 : 31 - Math.clz32(x & -x))

/** The operations of the expression group on i32 and u32. */
export const integerOperations: readonly IntegerOperation[] = [
  { text: 'a + b', value: (a, b) => a + b, types: both, failsAsConstant: leaves((a, b) => a + b) },
  {
    text: 'a - b',
    value: (a, b) => a - b,
    types: both,
    failsAsConstant: (a, b) => a - b < 0 || leaves((x, y) => x - y)(a, b),
  },
  { text: 'a * b', value: (a, b) => Math.imul(a, b), types: both, failsAsConstant: leaves((a, b) => a * b) },
  {
    text: 'a / b',
    value: (a, b) => (byZero(a, b) ? a : Math.trunc(a / b)),
    types: both,
    failsAsConstant: byZero,
  },
  { text: 'a % b', value: (a, b) => (byZero(a, b) ? 0 : a % b), types: both, failsAsConstant: byZero },
  { text: 'a & b', value: (a, b) => a & b, types: both },
  { text: 'a | b', value: (a, b) => a | b, types: both },
  { text: 'a ^ b', value: (a, b) => a ^ b, types: both },
  { text: 'a << bitcast<U>(b)', value: (a, b) => a << (b & 31), types: both, failsAsConstant: () => true },
  {
    text: 'a >> bitcast<U>(b)',
    value: (a, b) => a >> (b & 31),
    types: signed,
    failsAsConstant: (_, b) => b < 0 || b > 31,
  },
  {
    text: 'a >> bitcast<U>(b)',
    value: (a, b) => a >>> (b & 31),
    types: unsigned,
    failsAsConstant: (_, b) => b > 31,
  },
  { text: '-a', value: (a) => -a, types: signed, failsAsConstant: (a) => a === -(2 ** 31) },
  { text: '~a', value: (a) => ~a, types: both },
  { text: 'a == b', value: (a, b) => a === b, types: both },
  { text: 'a != b', value: (a, b) => a !== b, types: both },
  { text: 'a < b', value: (a, b) => a < b, types: both },
  { text: 'a <= b', value: (a, b) => a <= b, types: both },
  { text: 'a > b', value: (a, b) => a > b, types: both },
  { text: 'a >= b', value: (a, b) => a >= b, types: both },
  { text: 'min(a, b)', value: Math.min, types: both },
  { text: 'max(a, b)', value: Math.max, types: both },
  { text: 'abs(a)', value: Math.abs, types: both },
  { text: 'sign(a)', value: Math.sign, types: signed },
  {
    text: 'clamp(a, min(b, T(7)), max(b, T(7)))',
    value: (a, b) => Math.min(Math.max(a, Math.min(b, 7)), Math.max(b, 7)),
    types: both,
  },
  { text: 'select(a, b, a < b)', value: (a, b) => (a < b ? b : a), types: both },
  { text: 'countOneBits(a)', value: ones, types: both },
  { text: 'countLeadingZeros(a)', value: Math.clz32, types: both },
  { text: 'countTrailingZeros(a)', value: trailing, types: both },
  { text: 'reverseBits(a)', value: reversed, types: both },
  { text: 'firstLeadingBit(a)', value: (a) => 31 - Math.clz32(a < 0 ? ~a : a), types: signed },
  { text: 'firstLeadingBit(a)', value: (a) => 31 - Math.clz32(a), types: unsigned },
  { text: 'firstTrailingBit(a)', value: (a) => (a === 0 ? -1 : trailing(a)), types: both },
  {
    text: 'extractBits(a, u32(b) & 63u, (u32(b) >> 6u) & 63u)',
    value: (a, b) => {
      const { offset, count } = clipped(b)
      return count === 0 ? 0 : ((a << (32 - count - offset)) | 0) >> (32 - count)
    },
    ...{ types: signed, isScalar: true, failsAsConstant: outside },
  },
  {
    text: 'extractBits(a, b & 63u, (b >> 6u) & 63u)',
    value: (a, b) => {
      const { offset, count } = clipped(b)
      return count === 0 ? 0 : (a << (32 - count - offset)) >>> (32 - count)
    },
    ...{ types: unsigned, isScalar: true, failsAsConstant: outside },
  },
  {
    text: 'insertBits(a, ~a, b & 63u, (b >> 6u) & 63u)',
    value: (a, b) => {
      const { offset, count } = clipped(b)
      const region = count === 0 ? 0 : mask(count) << offset
      return (a & ~region) | ((~a << offset) & region)
    },
    ...{ types: unsigned, isScalar: true, failsAsConstant: outside },
  },
  { text: 'dot4U8Packed(a, b)', value: packedDot(false), types: unsigned, isScalar: true },
  { text: 'bitcast<u32>(dot4I8Packed(a, b))', value: packedDot(true), types: unsigned, isScalar: true },
  {
    text: 'pack4xU8(unpack4xU8(a) + unpack4xU8(b))',
    value: (a, b) => packed(bytes(a, false).map((x, i) => x + bytes(b, false)[i]!)),
    types: unsigned,
    isScalar: true,
  },
  {
    text: 'pack4xI8(unpack4xI8(a) * unpack4xI8(b))',
    value: (a, b) => packed(bytes(a, true).map((x, i) => x * bytes(b, true)[i]!)),
    types: unsigned,
    isScalar: true,
  },
  {
    text: 'pack4xU8Clamp(unpack4xU8(a) + unpack4xU8(b))',
    value: (a, b) => packed(bytes(a, false).map((x, i) => Math.min(255, x + bytes(b, false)[i]!))),
    types: unsigned,
    isScalar: true,
  },
  {
    text: 'pack4xI8Clamp(unpack4xI8(a) + unpack4xI8(b))',
    value: (a, b) =>
      packed(bytes(a, true).map((x, i) => Math.max(-128, Math.min(127, x + bytes(b, true)[i]!)))),
    types: unsigned,
    isScalar: true,
  },
  { text: 'U(a)', value: (a) => a, types: signed },
  { text: 'I(a)', value: (a) => a, types: unsigned },
  { text: 'U(a < b)', value: (a, b) => a < b, types: both },
]

/** Operands: bits that are remarkable for signed or unsigned numbers. */
export const integerBits: readonly number[] = [
  ...[0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 100, 255, 256, 1000, 32767, 65535, 65536, 0x0f0f0f0f, 0x12345678],
  ...[
    0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0x80808080, 0xaaaaaaaa, 0xfffffff9, 0xfffffffe,
    0xffffffff,
  ],
]
