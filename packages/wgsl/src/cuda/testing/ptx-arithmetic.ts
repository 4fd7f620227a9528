import { halfBits, halfValue } from '../../half-float.ts'

/*
 * The arithmetic of PTX. Integers of up to 32 bits are numbers, those of 64 are bigints, floats are their
 * bits in registers and numbers in operations.
 */

const view = new DataView(new ArrayBuffer(8))

/** The value of the bits of an f32. */
export function floatValue(bits: number): number {
  view.setInt32(0, bits)
  return view.getFloat32(0)
}

/** The bits of the f32 nearest to a value; every NaN is the GPU's. */
export function floatBits(value: number): number {
  if (Number.isNaN(value)) return 0x7fffffff
  view.setFloat32(0, value)
  return view.getInt32(0)
}

/** The number of bits of a type's name, such as `u32`. */
export const widthOf = (type: string): number => (type === 'pred' ? 1 : Number(/\d+/.exec(type)![0]))

/** The value of a type's bits: `raw` may have more bits, and as a number it may be negative. */
export function typedValue(raw: number | bigint, type: string): number | bigint {
  const width = widthOf(type)
  if (width === 64)
    return type.startsWith('s') ? BigInt.asIntN(64, BigInt(raw)) : BigInt.asUintN(64, BigInt(raw))
  const bits = typeof raw === 'bigint' ? Number(BigInt.asIntN(32, raw)) : raw
  if (type === 'f32') return floatValue(bits)
  if (type === 'f16') return halfValue(bits & 0xffff)
  if (type.startsWith('s')) return (bits << (32 - width)) >> (32 - width)
  return (bits << (32 - width)) >>> (32 - width)
}

/** The bits of a type's value: a number from -2^31 to 2^32, or a bigint for 64 bits. */
export function bitsOf(value: number | bigint, type: string): number | bigint {
  if (type === 'f32') return floatBits(value as number)
  if (type === 'f16') return Number.isNaN(value) ? 0x7fff : halfBits(value as number)
  return value
}

/** `a * b + c`, rounded to a double so that a later rounding to fewer bits gives the exact result's. */
function oddProductSum(a: number, b: number, c: number): number {
  const product = a * b
  const sum = product + c
  if (!Number.isFinite(sum)) return sum
  const rest = sum - product
  const error = product - (sum - rest) + (c - rest)
  if (error === 0) return sum
  view.setFloat64(0, sum)
  const bits = view.getBigUint64(0)
  if ((bits & 1n) === 0n) view.setBigUint64(0, error > 0 === sum > 0 ? bits + 1n : bits - 1n)
  return view.getFloat64(0)
}

function towardsZero(value: number): number {
  const near = Math.fround(value)
  if (Math.abs(near) <= Math.abs(value) || Number.isNaN(near)) return near
  view.setFloat32(0, near)
  view.setInt32(0, view.getInt32(0) - 1)
  return view.getFloat32(0)
}

const smaller = (a: number, b: number) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b))
const larger = (a: number, b: number) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b))

/** Operations on floats; approximations are as exact as a double. */
export function floatOperation(words: readonly string[]): ((...operands: number[]) => number) | undefined {
  const round = words.includes('rz') ? towardsZero : (value: number) => value
  switch (words[0]) {
    case 'add':
      return (a, b) => round(oddProductSum(a, 1, b))
    case 'sub':
      return (a, b) => round(oddProductSum(a, 1, -b))
    case 'mul':
      return (a, b) => round(a * b)
    case 'fma':
    case 'mad':
      return (a, b, c) => round(oddProductSum(a, b, c))
    case 'div':
      return (a, b) => Math.fround(a / b)
    case 'neg':
      return (a) => -a
    case 'abs':
      return Math.abs
    case 'min':
      return smaller
    case 'max':
      return larger
    case 'copysign':
      return (a, b) => (a < 0 || Object.is(a, -0) ? -Math.abs(b) : Math.abs(b))
    case 'rcp':
      return (a) => 1 / a
    case 'sqrt':
      return Math.sqrt
    case 'rsqrt':
      return (a) => 1 / Math.sqrt(a)
    case 'sin':
      return Math.sin
    case 'cos':
      return Math.cos
    case 'ex2':
      return (a) => 2 ** a
    case 'lg2':
      return Math.log2
    case 'tanh':
      return Math.tanh
    default:
      return undefined
  }
}

/** Operations on integers of up to 32 bits, whose operands are values of the type. */
export function integerOperation(
  words: readonly string[],
  type: string,
): ((...operands: number[]) => number) | undefined {
  const width = widthOf(type)
  const high = (a: number, b: number) => Number((BigInt(a) * BigInt(b)) >> BigInt(width))
  const product = words[1] === 'hi' ? high : Math.imul
  switch (words[0]) {
    case 'add':
      return (a, b) => a + b
    case 'sub':
      return (a, b) => a - b
    case 'mul':
      return product
    case 'mad':
      return (a, b, c) => product(a, b) + c
    case 'div':
      return (a, b) => (b === 0 ? -1 : Math.trunc(a / b))
    case 'rem':
      return (a, b) => (b === 0 ? a : a % b)
    case 'neg':
      return (a) => -a
    case 'abs':
      return Math.abs
    case 'min':
      return Math.min
    case 'max':
      return Math.max
    case 'and':
      return (a, b) => a & b
    case 'or':
      return (a, b) => a | b
    case 'xor':
      return (a, b) => a ^ b
    case 'not':
      return (a) => ~a
    case 'shl':
      return (a, b) => (b > 31 ? 0 : a << b)
    case 'shr':
      if (type.startsWith('s')) return (a, b) => a >> Math.min(b, 31)
      return (a, b) => (b > 31 ? 0 : a >>> b)
    case 'sad':
      return (a, b, c) => Math.abs(a - b) + c
    case 'popc':
      return (a) => [...(a >>> 0).toString(2)].filter((bit) => bit === '1').length
    case 'clz':
      return Math.clz32
    case 'brev':
      return (a) => Number.parseInt([...(a >>> 0).toString(2).padStart(32, '0')].reverse().join(''), 2)
    case 'bfind': {
      const highest = (a: number) => 31 - Math.clz32(a < 0 && type === 's32' ? ~a : a)
      return words[1] === 'shiftamt' ? (a) => (highest(a) < 0 ? -1 : 31 - highest(a)) : highest
    }
    case 'bfe':
      return (a, b, c) => bitField(a, b & 255, c & 255, type)
    case 'bfi':
      return (a, b, c, d) => insertField(a, b, c & 255, d & 255)
    case 'prmt':
      return permuteBytes
    case 'lop3':
      return logicOfThree
    case 'shf':
      return funnelShift(words)
    case 'dp4a':
      return (a, b, c) =>
        [0, 8, 16, 24].reduce((sum, by) => sum + part(a, by, 8, words[1]!) * part(b, by, 8, words[2]!), c)
    case 'dp2a': {
      const from = words[1] === 'hi' ? 16 : 0
      return (a, b, c) =>
        [0, 1].reduce(
          (sum, i) => sum + part(a, 16 * i, 16, words[2]!) * part(b, from + 8 * i, 8, words[3]!),
          c,
        )
    }
    default:
      return undefined
  }
}

const part = (word: number, by: number, width: number, type: string) =>
  Number(typedValue(word >> by, `${type[0]}${width}`))

function bitField(word: number, from: number, count: number, type: string): number {
  const bits = BigInt.asIntN(type === 's32' ? 64 : 33, BigInt(type === 's32' ? word | 0 : word >>> 0))
  const field = (bits >> BigInt(from)) & ((1n << BigInt(count)) - 1n)
  if (type !== 's32' || count === 0) return Number(BigInt.asUintN(32, field))
  return Number(BigInt.asIntN(32, BigInt.asIntN(count, field)))
}

function insertField(field: number, word: number, from: number, count: number): number {
  if (from > 31) return word
  const mask = Number(BigInt.asUintN(32, ((1n << BigInt(count)) - 1n) << BigInt(from)))
  return (word & ~mask) | ((field << from) & mask)
}

function permuteBytes(a: number, b: number, selector: number): number {
  const bytes = BigInt.asUintN(32, BigInt(a)) | (BigInt.asUintN(32, BigInt(b)) << 32n)
  return [0, 1, 2, 3].reduce((word, i) => {
    const choice = (selector >> (4 * i)) & 15
    const byte = Number((bytes >> BigInt(8 * (choice & 7))) & 255n)
    return word | ((choice & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i))
  }, 0)
}

function logicOfThree(a: number, b: number, c: number, table: number): number {
  let word = 0
  for (let row = 0; row < 8; row++)
    if ((table >> row) & 1) word |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c)
  return word
}

function funnelShift([, direction, mode]: readonly string[]): (a: number, b: number, c: number) => number {
  return (a, b, c) => {
    const by = BigInt(mode === 'wrap' ? c & 31 : Math.min(c >>> 0, 32))
    const both = BigInt.asUintN(32, BigInt(a)) | (BigInt.asUintN(32, BigInt(b)) << 32n)
    return Number(BigInt.asIntN(32, direction === 'l' ? (both << by) >> 32n : both >> by))
  }
}

/** Operations on integers of 64 bits. */
export function longOperation(words: readonly string[]): ((...operands: bigint[]) => bigint) | undefined {
  const product =
    words[1] === 'hi' ? (a: bigint, b: bigint) => (a * b) >> 64n : (a: bigint, b: bigint) => a * b
  switch (words[0]) {
    case 'add':
      return (a, b) => a + b
    case 'sub':
      return (a, b) => a - b
    case 'mul':
      return product
    case 'mad':
      return (a, b, c) => product(a, b) + c
    case 'div':
      return (a, b) => (b === 0n ? -1n : a / b)
    case 'rem':
      return (a, b) => (b === 0n ? a : a % b)
    case 'neg':
      return (a) => -a
    case 'abs':
      return (a) => (a < 0n ? -a : a)
    case 'min':
      return (a, b) => (a < b ? a : b)
    case 'max':
      return (a, b) => (a > b ? a : b)
    case 'and':
      return (a, b) => a & b
    case 'or':
      return (a, b) => a | b
    case 'xor':
      return (a, b) => a ^ b
    case 'not':
      return (a) => ~a
    default:
      return undefined
  }
}

/** A comparison. On floats, one that ends in `u` is true if an operand is NaN; `num` and `nan` say whether one is. */
export function comparison(
  how: string,
  isFloat: boolean,
): (a: number | bigint, b: number | bigint) => boolean {
  if (how === 'num' || how === 'nan')
    return (a, b) => (Number.isNaN(a) || Number.isNaN(b)) === (how === 'nan')
  // On integers `lo`, `ls`, `hi` and `hs` compare without signs, as the type does.
  const unsigned: Record<string, string> = { lo: 'lt', ls: 'le', hi: 'gt', hs: 'ge' }
  const name = unsigned[how] ?? (isFloat && how.length === 3 ? how.slice(0, 2) : how)
  const isTrueOfNaN = isFloat && how.length === 3 && how.endsWith('u')
  const compare = comparisons[name]
  if (compare === undefined) throw new TypeError(`no comparison ${how}`)
  return (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? isTrueOfNaN : compare(a, b))
}

const comparisons: Record<string, (a: number | bigint, b: number | bigint) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
}

/** The rounding of a conversion to an integer: `rni`, `rzi`, `rmi` or `rpi`. */
export function roundTo(words: readonly string[]): ((value: number) => number) | undefined {
  if (words.includes('rzi')) return Math.trunc
  if (words.includes('rmi')) return Math.floor
  if (words.includes('rpi')) return Math.ceil
  if (!words.includes('rni')) return undefined
  return (value) => {
    const floor = Math.floor(value)
    const rest = value - floor
    const near = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor
    return near === 0 && (value < 0 || Object.is(value, -0)) ? -0 : near
  }
}
