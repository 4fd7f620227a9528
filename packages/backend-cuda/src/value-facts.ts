/*
 * The bits that are known of the values of a register. ptxas knows no ranges of integers that do not follow from
 * bits, but some of f32. Sums and products are from LLVM's KnownBits.
 */

export interface Fact {
  /** The width of the register. A predicate has one bit. */
  readonly bits: number
  /** The bits that are 0. */
  readonly zeros: bigint
  /** The bits that are 1; the value, if all bits are known. */
  readonly ones: bigint
  /** Whether the value is the same in all executions, though perhaps not known here, such as a sine. */
  readonly isFixed: boolean
  /** The range as an f32, if it is known. */
  readonly floats?: FloatRange
}

/** The least and the most. NaN does not count. */
export type FloatRange = readonly [number, number]

const allFloats: FloatRange = [-Infinity, Infinity]

const masks = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n)
export const maskOf = (bits: number): bigint => masks[bits]!
const signOf = (bits: number): bigint => masks[bits - 1]! + 1n
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
/** The number of bits without leading zeros. */
export function lengthOf(value: bigint): number {
  if (value < 0x100000000n) return 32 - Math.clz32(Number(value))
  return 32 + lengthOf(value >> 32n)
}

const countOf = (value: bigint): bigint => BigInt(value.toString(2).replaceAll('0', '').length)

const leastOf = ({ ones }: Fact): bigint => ones
export const mostOf = ({ bits, zeros }: Fact): bigint => maskOf(bits) & ~zeros
export const isPositive = ({ bits, zeros }: Fact): boolean => (zeros & signOf(bits)) !== 0n
export const isNegative = ({ bits, ones }: Fact): boolean => (ones & signOf(bits)) !== 0n

/** The least and the most as a signed integer. */
function signedRangeOf({ bits, zeros, ones }: Fact): [bigint, bigint] {
  const sign = signOf(bits)
  return [ones | (sign & ~zeros), (maskOf(bits) & ~zeros & ~sign) | (ones & sign)].map((value) =>
    BigInt.asIntN(bits, value),
  ) as [bigint, bigint]
}

const unknowns = new Map<number, Fact>()

export function unknown(bits: number): Fact {
  const known = unknowns.get(bits)
  if (known !== undefined) return known
  const result = { bits, zeros: 0n, ones: 0n, isFixed: false }
  unknowns.set(bits, result)
  return result
}

export function fact(bits: number, allZeros: bigint, allOnes: bigint, isFixed = false): Fact {
  const [zeros, ones] = [allZeros & maskOf(bits), allOnes & maskOf(bits)]
  // Without any value: the instruction is never executed.
  if ((zeros & ones) !== 0n || (zeros === 0n && ones === 0n && !isFixed)) return unknown(bits)
  return { bits, zeros, ones, isFixed: isFixed || (zeros | ones) === maskOf(bits) }
}

export function literal(bits: number, value: bigint): Fact {
  const ones = BigInt.asUintN(bits, value)
  return { bits, zeros: maskOf(bits) & ~ones, ones, isFixed: true }
}

/** The bits that all values in a range have. */
export function between(bits: number, low: bigint, high: bigint): Fact {
  if (low > high || high > maskOf(bits)) return unknown(bits)
  const common = maskOf(bits) & ~maskOf(lengthOf(low ^ high))
  return fact(bits, common & ~low, common & low)
}

export const isLiteral = ({ bits, zeros, ones }: Fact): boolean => (zeros | ones) === maskOf(bits)
export const isZero = ({ bits, zeros }: Fact): boolean => zeros === maskOf(bits)

const isPowerOfTwo = (a: Fact): boolean => isLiteral(a) && a.ones !== 0n && (a.ones & (a.ones - 1n)) === 0n

export function isSameFact(a: Fact, b: Fact): boolean {
  const [low, high] = a.floats ?? []
  return (
    a === b ||
    (a.zeros === b.zeros &&
      a.ones === b.ones &&
      a.isFixed === b.isFixed &&
      low === b.floats?.[0] &&
      high === b.floats?.[1])
  )
}

export function bitsOfFloat(float: number): bigint {
  return BigInt(new Uint32Array(new Float32Array([float]).buffer)[0]!)
}

/** The range as an f32. */
export function rangeOf(of: Fact): FloatRange | undefined {
  if (of.floats !== undefined || of.bits !== 32 || !isLiteral(of)) return of.floats
  const value = new Float32Array(new Uint32Array([Number(of.ones)]).buffer)[0]!
  return Number.isNaN(value) ? undefined : [value, value]
}

/** What is known of a value that is one or the other. */
export function either(a: Fact, b: Fact): Fact {
  if (a === b) return a
  if (a.bits !== b.bits) return unknown(Math.max(a.bits, b.bits))
  const joined = fact(a.bits, a.zeros & b.zeros, a.ones & b.ones)
  if (a.floats === undefined && b.floats === undefined && !(isLiteral(a) && isLiteral(b))) return joined
  const [one, other] = [rangeOf(a), rangeOf(b)]
  if (one === undefined || other === undefined) return joined
  return { ...joined, floats: [Math.min(one[0], other[0]), Math.max(one[1], other[1])] }
}

/** What is known of a value that is both. */
export function both(a: Fact, b: Fact): Fact {
  const joined = fact(a.bits, a.zeros | b.zeros, a.ones | b.ones, a.isFixed || b.isFixed)
  if (a.floats === undefined && b.floats === undefined) return joined
  const [[low, high], [otherLow, otherHigh]] = [a.floats ?? allFloats, b.floats ?? allFloats]
  return { ...joined, floats: [Math.max(low, otherLow), Math.min(high, otherHigh)] }
}

/** The low bits, or a value that is extended. */
export function resized(from: Fact, bits: number, isSigned: boolean): Fact {
  if (bits === from.bits) return from
  const above = maskOf(bits) & ~maskOf(from.bits)
  const zeros = from.zeros | (!isSigned || isPositive(from) ? above : 0n)
  return fact(bits, zeros, from.ones | (isSigned && isNegative(from) ? above : 0n), from.isFixed)
}

function sumAndCarry(a: Fact, b: Fact, carry: bigint): Fact {
  const most = mostOf(a) + mostOf(b) + carry
  const least = a.ones + b.ones + carry
  const known =
    (a.zeros | a.ones) & (b.zeros | b.ones) & (~(most ^ a.zeros ^ b.zeros) | (least ^ a.ones ^ b.ones))
  return fact(a.bits, ~most & known, least & known)
}

export const sum = (a: Fact, b: Fact): Fact => sumAndCarry(a, b, 0n)

export const difference = (a: Fact, b: Fact): Fact => sumAndCarry(a, complement(b), 1n)

export const negation = (a: Fact): Fact => difference(literal(a.bits, 0n), a)

function trailingZeros({ zeros, bits }: Pick<Fact, 'zeros' | 'bits'>): number {
  let count = 0
  while (count < bits && (zeros >> BigInt(count)) & 1n) count++
  return count
}

export function product(a: Fact, b: Fact): Fact {
  const { bits } = a
  if (isPowerOfTwo(b)) return shiftedBy(a, lengthOf(b.ones) - 1, 'left')
  const [zerosOfA, zerosOfB] = [trailingZeros(a), trailingZeros(b)]
  // Low bits that are known of both give low bits of the product.
  const knownOf = ({ zeros, ones }: Fact) => trailingZeros({ bits, zeros: zeros | ones })
  const count = Math.min(knownOf(a) - zerosOfA, knownOf(b) - zerosOfB) + zerosOfA + zerosOfB
  const value = a.ones * b.ones
  const low = maskOf(Math.min(bits, count))
  return both(between(bits, value, mostOf(a) * mostOf(b)), fact(bits, ~value & low, value & low))
}

export function complement({ bits, zeros, ones, isFixed }: Fact): Fact {
  return fact(bits, ones, zeros, isFixed)
}

/** A function of each bit of three operands, as the table of `lop3`. */
export function bitwise(table: number, a: Fact, b: Fact, c: Fact): Fact {
  const mask = maskOf(a.bits)
  const canBe = [a, b, c].map(({ zeros, ones }) => [mask & ~ones, mask & ~zeros])
  const results: [bigint, bigint] = [0n, 0n]
  for (let row = 0; row < 8; row++)
    results[(table >> row) & 1]! |= canBe[0]![row >> 2]! & canBe[1]![(row >> 1) & 1]! & canBe[2]![row & 1]!
  return fact(a.bits, ~results[1], ~results[0])
}

const binary = (table: number) => (a: Fact, b: Fact) => bitwise(table, a, b, a)
export const and = binary(0xc0)
export const or = binary(0xfc)
export const xor = binary(0x3c)

export type Shift = 'left' | 'right' | 'signed'

export function shiftedBy(a: Fact, count: number, shift: Shift): Fact {
  const { bits, zeros, ones } = a
  const by = BigInt(shift === 'signed' ? Math.min(count, bits - 1) : Math.min(count, bits))
  if (shift === 'left') return fact(bits, (zeros << by) | maskOf(Number(by)), ones << by)
  if (shift === 'right') return fact(bits, (zeros >> by) | (maskOf(bits) & ~(maskOf(bits) >> by)), ones >> by)
  const extended = (value: bigint) => BigInt.asIntN(bits, value) >> by
  return fact(bits, extended(zeros), extended(ones))
}

/** A shift by what need not be a literal. */
export function shifted(a: Fact, counts: Fact, shift: Shift): Fact {
  const last = Number(smaller(mostOf(counts), BigInt(a.bits)))
  let all: Fact | undefined
  for (let count = Number(smaller(leastOf(counts), BigInt(a.bits))); count <= last; count++) {
    const isAbove = count === a.bits
    const isExcluded = (BigInt(count) & counts.zeros) !== 0n || (~BigInt(count) & counts.ones) !== 0n
    if (isExcluded && !isAbove) continue
    const one = shiftedBy(a, count, shift)
    all = all === undefined ? one : either(all, one)
  }
  return all ?? unknown(a.bits)
}

export function extreme(a: Fact, b: Fact, isMaximum: boolean, isSigned: boolean): Fact {
  const isFirst = isFirstExtreme(a, b, isMaximum, isSigned)
  if (isFirst === undefined) return either(a, b)
  return isFirst ? a : b
}

/** Whether an extreme is the first operand, or undefined if it may be both. */
export function isFirstExtreme(a: Fact, b: Fact, isMaximum: boolean, isSigned: boolean): boolean | undefined {
  const isLess = compared('le', isSigned, a, b) ?? (compared('ge', isSigned, a, b) ? false : undefined)
  return isLess === undefined ? undefined : isLess !== isMaximum
}

/** The result of a comparison, or undefined if it may be both. */
export function compared(operator: string, isSigned: boolean, a: Fact, b: Fact): boolean | undefined {
  const [[low, high], [otherLow, otherHigh]] = [a, b].map((value) =>
    isSigned ? signedRangeOf(value) : [leastOf(value), mostOf(value)],
  ) as [[bigint, bigint], [bigint, bigint]]
  const decide = (isTrue: boolean, isFalse: boolean) => (isTrue ? true : isFalse ? false : undefined)
  const isEqual = isLiteral(a) && isLiteral(b) && a.ones === b.ones
  const differs = (a.ones & b.zeros) !== 0n || (a.zeros & b.ones) !== 0n
  switch (operator) {
    case 'eq':
      return decide(isEqual, differs)
    case 'ne':
      return decide(differs, isEqual)
    case 'lt':
    case 'lo':
      return decide(high < otherLow, low >= otherHigh)
    case 'le':
    case 'ls':
      return decide(high <= otherLow, low > otherHigh)
    case 'gt':
    case 'hi':
      return decide(low > otherHigh, high <= otherLow)
    case 'ge':
    case 'hs':
      return decide(low >= otherHigh, high < otherLow)
    default:
      return undefined
  }
}

export function quotient(a: Fact, b: Fact, isSigned: boolean): Fact {
  const isUnsigned = !isSigned || (isPositive(a) && isPositive(b))
  if (!isUnsigned || leastOf(b) === 0n) return unknown(a.bits)
  if (isPowerOfTwo(b)) return shiftedBy(a, lengthOf(b.ones) - 1, 'right')
  return between(a.bits, leastOf(a) / mostOf(b), mostOf(a) / leastOf(b))
}

export function remainder(a: Fact, b: Fact, isSigned: boolean): Fact {
  // Whole multiples of the divisor do not change these bits.
  const low = maskOf(trailingZeros(b))
  const kept = fact(a.bits, a.zeros & low, a.ones & low)
  if (isSigned && !isPositive(a)) return kept
  const most = isSigned || leastOf(b) === 0n ? mostOf(a) : smaller(mostOf(a), mostOf(b) - 1n)
  return both(kept, between(a.bits, 0n, most))
}

export function absolute(a: Fact): Fact {
  if (isPositive(a)) return a
  return isNegative(a) ? negation(a) : either(a, negation(a))
}

export function reversed({ bits, zeros, ones }: Fact): Fact {
  const reverse = (value: bigint) =>
    BigInt(`0b${[...value.toString(2).padStart(bits, '0')].reverse().join('')}`)
  return fact(bits, reverse(zeros), reverse(ones))
}

export function countOfOnes(a: Fact): Fact {
  return between(32, countOf(leastOf(a)), countOf(mostOf(a)))
}

export function leadingZeros(a: Fact): Fact {
  return between(32, BigInt(a.bits - lengthOf(mostOf(a))), BigInt(a.bits - lengthOf(leastOf(a))))
}

/** The position of the first bit, `bits` for none. */
export function firstBit(a: Fact, isShift: boolean): Fact {
  const none = literal(32, -1n)
  if (isZero(a)) return none
  const [first, last] = [leastOf(a), mostOf(a)].map((value) => BigInt(Math.max(0, lengthOf(value) - 1)))
  const top = BigInt(a.bits - 1)
  const found = isShift ? between(32, top - last!, top - first!) : between(32, first!, last!)
  return leastOf(a) === 0n ? either(found, none) : found
}
