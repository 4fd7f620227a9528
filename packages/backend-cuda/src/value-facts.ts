/*
 * What is known of the values of a register: bits, and the least and the most as an unsigned and as a signed integer. Sums and
 * products of known bits are from LLVM's KnownBits.
 */

export interface Fact {
  /** The width of the register. A predicate has one bit. */
  readonly bits: number
  /** The bits that are 0. */
  readonly zeros: bigint
  /** The bits that are 1. */
  readonly ones: bigint
  readonly low: bigint
  readonly high: bigint
  readonly signedLow: bigint
  readonly signedHigh: bigint
  /** Whether the value is the same in all executions, though perhaps not known here, such as a sine. */
  readonly isFixed: boolean
}

type Parts = Partial<Omit<Fact, 'bits'>>

const masks = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n)
export const maskOf = (bits: number): bigint => masks[bits]!
const signOf = (bits: number): bigint => masks[bits - 1]! + 1n
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
/** The number of bits without leading zeros. */
export function lengthOf(value: bigint): number {
  if (value < 0x100000000n) return 32 - Math.clz32(Number(value))
  return 32 + lengthOf(value >> 32n)
}

const countOf = (value: bigint): bigint => BigInt(value.toString(2).replaceAll('0', '').length)

/** Whatever follows from parts of a fact. */
export function fact(bits: number, parts: Parts = {}): Fact {
  const mask = maskOf(bits)
  const sign = signOf(bits)
  let { zeros = 0n, ones = 0n, low = 0n, high = mask, signedLow = -sign, signedHigh = sign - 1n } = parts
  zeros &= mask
  ones &= mask
  // Bits limit both ranges, and these each other and the bits.
  for (let round = 0; round < 2; round++) {
    const [zerosBefore, onesBefore] = [zeros, ones]
    low = larger(low, ones)
    high = smaller(high, mask & ~zeros)
    signedLow = larger(signedLow, BigInt.asIntN(bits, ones | (zeros & sign ? 0n : sign)))
    signedHigh = smaller(signedHigh, BigInt.asIntN(bits, (mask & ~zeros & ~sign) | (ones & sign)))
    if (signedLow >= 0n || signedHigh < 0n) {
      low = larger(low, BigInt.asUintN(bits, signedLow))
      high = smaller(high, BigInt.asUintN(bits, signedHigh))
    }
    if (high < sign || low >= sign) {
      signedLow = larger(signedLow, BigInt.asIntN(bits, low))
      signedHigh = smaller(signedHigh, BigInt.asIntN(bits, high))
    }
    // No value: the instruction is never executed.
    if (low > high || signedLow > signedHigh || (zeros & ones) !== 0n) return unknown(bits)
    const differing = low ^ high
    if ((differing & sign) === 0n) {
      const common = mask & ~maskOf(lengthOf(differing))
      zeros |= common & ~low
      ones |= common & low
    }
    if (zeros === zerosBefore && ones === onesBefore) break
  }
  const isFixed = parts.isFixed === true || low === high
  if (!isFixed && (zeros | ones) === 0n && low === 0n && high === mask) {
    const nothing = unknown(bits)
    if (signedLow === nothing.signedLow && signedHigh === nothing.signedHigh) return nothing
  }
  return { bits, zeros, ones, low, high, signedLow, signedHigh, isFixed }
}

const unknowns = new Map<number, Fact>()

export function unknown(bits: number): Fact {
  const known = unknowns.get(bits)
  if (known !== undefined) return known
  const sign = signOf(bits)
  const range = { low: 0n, high: maskOf(bits), signedLow: -sign, signedHigh: sign - 1n }
  const result = { bits, zeros: 0n, ones: 0n, ...range, isFixed: false }
  unknowns.set(bits, result)
  return result
}

export function literal(bits: number, value: bigint): Fact {
  const low = BigInt.asUintN(bits, value)
  const signed = BigInt.asIntN(bits, value)
  const zeros = maskOf(bits) & ~low
  return { bits, zeros, ones: low, low, high: low, signedLow: signed, signedHigh: signed, isFixed: true }
}

export const isLiteral = ({ low, high }: Fact): boolean => low === high

export function isSameFact(a: Fact, b: Fact): boolean {
  if (a === b) return true
  return (
    a.zeros === b.zeros &&
    a.ones === b.ones &&
    a.low === b.low &&
    a.high === b.high &&
    a.signedLow === b.signedLow &&
    a.signedHigh === b.signedHigh &&
    a.isFixed === b.isFixed
  )
}

/** What is known of a value that is one or the other. */
export function either(a: Fact, b: Fact): Fact {
  if (a === b) return a
  const nothing = unknown(a.bits)
  if (a === nothing || b === nothing) return nothing
  if (a.bits !== b.bits) return unknown(Math.max(a.bits, b.bits))
  return fact(a.bits, {
    zeros: a.zeros & b.zeros,
    ones: a.ones & b.ones,
    low: smaller(a.low, b.low),
    high: larger(a.high, b.high),
    signedLow: smaller(a.signedLow, b.signedLow),
    signedHigh: larger(a.signedHigh, b.signedHigh),
  })
}

/** The bits alone, which change at most as often as there are bits. */
export const bitsOnly = ({ bits, zeros, ones }: Fact): Fact => fact(bits, { zeros, ones })

/** The low bits, or a value that is extended. */
export function resized(from: Fact, bits: number, isSigned: boolean): Fact {
  if (bits === from.bits) return from
  const { isFixed, low, high, signedLow, signedHigh } = from
  if (bits < from.bits) {
    const fits = high <= maskOf(bits)
    const fitsSigned = signedLow >= -signOf(bits) && signedHigh < signOf(bits)
    return fact(bits, {
      zeros: from.zeros,
      ones: from.ones,
      isFixed,
      ...(fits && { low, high }),
      ...(fitsSigned && { signedLow, signedHigh }),
    })
  }
  const above = maskOf(bits) & ~maskOf(from.bits)
  if (!isSigned) return fact(bits, { zeros: from.zeros | above, ones: from.ones, low, high, isFixed })
  const sign = signOf(from.bits)
  const zeros = from.zeros | (from.zeros & sign ? above : 0n)
  const ones = from.ones | (from.ones & sign ? above : 0n)
  return fact(bits, { zeros, ones, signedLow, signedHigh, isFixed })
}

/** What is known of a result whose exact values, before they wrap, are in two ranges. */
function wrapped(bits: number, parts: Parts, [low, high]: bigint[], [signedLow, signedHigh]: bigint[]): Fact {
  const size = 1n << BigInt(bits)
  const turns = low! >= 0n ? low! / size : -((size - 1n - low!) / size)
  const isInOne = high! < (turns + 1n) * size
  const isInSigned = signedLow! >= -signOf(bits) && signedHigh! < signOf(bits)
  return fact(bits, {
    ...parts,
    ...(isInOne && { low: low! - turns * size, high: high! - turns * size }),
    ...(isInSigned && { signedLow: signedLow!, signedHigh: signedHigh! }),
  })
}

function bitsOfSum(a: Fact, b: Fact, carry: bigint): Parts {
  const mask = maskOf(a.bits)
  const most = (mask & ~a.zeros) + (mask & ~b.zeros) + carry
  const least = a.ones + b.ones + carry
  const known =
    (a.zeros | a.ones) & (b.zeros | b.ones) & (~(most ^ a.zeros ^ b.zeros) | (least ^ a.ones ^ b.ones))
  return { zeros: ~most & known & mask, ones: least & known & mask }
}

export function sum(a: Fact, b: Fact): Fact {
  const nothing = unknown(a.bits)
  if (a === nothing || b === nothing) return nothing
  return wrapped(
    a.bits,
    bitsOfSum(a, b, 0n),
    [a.low + b.low, a.high + b.high],
    [a.signedLow + b.signedLow, a.signedHigh + b.signedHigh],
  )
}

export function difference(a: Fact, b: Fact): Fact {
  const nothing = unknown(a.bits)
  if (a === nothing || b === nothing) return nothing
  return wrapped(
    a.bits,
    bitsOfSum(a, complement(b), 1n),
    [a.low - b.high, a.high - b.low],
    [a.signedLow - b.signedHigh, a.signedHigh - b.signedLow],
  )
}

function trailingZeros({ zeros, bits }: Fact): number {
  let count = 0
  while (count < bits && (zeros >> BigInt(count)) & 1n) count++
  return count
}

export function product(a: Fact, b: Fact): Fact {
  const { bits } = a
  const nothing = unknown(bits)
  if (a === nothing && b === nothing) return nothing
  const [zerosOfA, zerosOfB] = [trailingZeros(a), trailingZeros(b)]
  // Low bits that are known of both give low bits of the product.
  const knownOf = ({ zeros, ones }: Fact) => trailingZeros({ ...a, zeros: zeros | ones })
  const count = Math.min(knownOf(a) - zerosOfA, knownOf(b) - zerosOfB) + zerosOfA + zerosOfB
  const low = maskOf(Math.min(bits, count))
  const value = a.ones * b.ones
  const corners = [a.signedLow, a.signedHigh].flatMap((x) => [x * b.signedLow, x * b.signedHigh])
  return wrapped(
    bits,
    { zeros: (~value & low) | maskOf(zerosOfA + zerosOfB), ones: value & low & ~maskOf(zerosOfA + zerosOfB) },
    [a.low * b.low, a.high * b.high],
    [corners.reduce(smaller), corners.reduce(larger)],
  )
}

export function complement({ bits, zeros, ones, isFixed, ...a }: Fact): Fact {
  const mask = maskOf(bits)
  return fact(bits, {
    zeros: ones,
    ones: zeros,
    low: mask - a.high,
    high: mask - a.low,
    signedLow: -1n - a.signedHigh,
    signedHigh: -1n - a.signedLow,
    isFixed,
  })
}

/** A function of each bit of three operands, as the table of `lop3`. */
export function bitwise(table: number, a: Fact, b: Fact, c: Fact): Fact {
  const mask = maskOf(a.bits)
  const canBe = [a, b, c].map(({ zeros, ones }) => [mask & ~ones, mask & ~zeros])
  const results: [bigint, bigint] = [0n, 0n]
  for (let row = 0; row < 8; row++)
    results[(table >> row) & 1]! |= canBe[0]![row >> 2]! & canBe[1]![(row >> 1) & 1]! & canBe[2]![row & 1]!
  return fact(a.bits, { zeros: ~results[1], ones: ~results[0] })
}

const binary = (table: number) => (a: Fact, b: Fact) => bitwise(table, a, b, a)
const plainAnd = binary(0xc0 | 0)
const plainOr = binary(0xfc)

export function and(a: Fact, b: Fact): Fact {
  return fact(a.bits, { ...bitsOf(plainAnd(a, b)), high: smaller(a.high, b.high) })
}

export function or(a: Fact, b: Fact): Fact {
  return fact(a.bits, { ...bitsOf(plainOr(a, b)), low: larger(a.low, b.low) })
}

export const xor = binary(0x3c)

const bitsOf = ({ zeros, ones }: Fact): Parts => ({ zeros, ones })

export type Shift = 'left' | 'right' | 'signed'

export function shiftedBy(a: Fact, count: number, shift: Shift): Fact {
  const { bits } = a
  const by = BigInt(shift === 'signed' ? Math.min(count, bits - 1) : Math.min(count, bits))
  if (shift === 'left')
    return wrapped(
      bits,
      { zeros: (a.zeros << by) | maskOf(Number(by)), ones: a.ones << by },
      [a.low << by, a.high << by],
      [a.signedLow << by, a.signedHigh << by],
    )
  if (shift === 'right')
    return fact(bits, {
      zeros: (a.zeros >> by) | (maskOf(bits) & ~(maskOf(bits) >> by)),
      ones: a.ones >> by,
      low: a.low >> by,
      high: a.high >> by,
    })
  const extended = (value: bigint) => BigInt.asUintN(bits, BigInt.asIntN(bits, value) >> by)
  return fact(bits, {
    zeros: extended(a.zeros),
    ones: extended(a.ones),
    signedLow: a.signedLow >> by,
    signedHigh: a.signedHigh >> by,
  })
}

/** A shift by what need not be a literal. */
export function shifted(a: Fact, counts: Fact, shift: Shift): Fact {
  const last = Number(smaller(counts.high, BigInt(a.bits)))
  let all: Fact | undefined
  for (let count = Number(smaller(counts.low, BigInt(a.bits))); count <= last; count++) {
    const isAbove = count === a.bits
    const isExcluded = (BigInt(count) & counts.zeros) !== 0n || (~BigInt(count) & counts.ones) !== 0n
    if (isExcluded && !isAbove) continue
    const one = shiftedBy(a, count, shift)
    all = all === undefined ? one : either(all, one)
  }
  return all ?? unknown(a.bits)
}

export function extreme(a: Fact, b: Fact, isMaximum: boolean, isSigned: boolean): Fact {
  const [x, y] = isMaximum ? [a, b] : [b, a]
  if (isSigned ? x.signedLow >= y.signedHigh : x.low >= y.high) return a
  if (isSigned ? y.signedLow >= x.signedHigh : y.low >= x.high) return b
  const of = isMaximum ? larger : smaller
  return fact(a.bits, {
    ...either(a, b),
    ...(isSigned
      ? { signedLow: of(a.signedLow, b.signedLow), signedHigh: of(a.signedHigh, b.signedHigh) }
      : { low: of(a.low, b.low), high: of(a.high, b.high) }),
  })
}

/** The result of a comparison, or undefined if it may be both. */
export function compared(operator: string, isSigned: boolean, a: Fact, b: Fact): boolean | undefined {
  const [low, high, otherLow, otherHigh] = isSigned
    ? [a.signedLow, a.signedHigh, b.signedLow, b.signedHigh]
    : [a.low, a.high, b.low, b.high]
  const decide = (isTrue: boolean, isFalse: boolean) => (isTrue ? true : isFalse ? false : undefined)
  const isEqual = isLiteral(a) && isLiteral(b) && a.low === b.low
  const differs =
    a.high < b.low ||
    b.high < a.low ||
    a.signedHigh < b.signedLow ||
    b.signedHigh < a.signedLow ||
    (a.ones & b.zeros) !== 0n ||
    (a.zeros & b.ones) !== 0n
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

const isPowerOfTwo = (a: Fact): boolean => isLiteral(a) && a.low > 0n && (a.low & (a.low - 1n)) === 0n

export function quotient(a: Fact, b: Fact, isSigned: boolean): Fact {
  if (!isSigned && isPowerOfTwo(b)) return shiftedBy(a, lengthOf(b.low) - 1, 'right')
  if (!isSigned && b.low > 0n) return fact(a.bits, { low: a.low / b.high, high: a.high / b.low })
  if (!isSigned || b.signedLow <= 0n) return unknown(a.bits)
  const corners = [a.signedLow, a.signedHigh].flatMap((x) => [x / b.signedLow, x / b.signedHigh])
  return fact(a.bits, { signedLow: corners.reduce(smaller), signedHigh: corners.reduce(larger) })
}

export function remainder(a: Fact, b: Fact, isSigned: boolean): Fact {
  if (!isSigned && isPowerOfTwo(b)) return and(a, literal(a.bits, b.low - 1n))
  const zeros = maskOf(Math.min(trailingZeros(a), trailingZeros(b)))
  if (!isSigned) return fact(a.bits, { zeros, high: b.low > 0n ? smaller(a.high, b.high - 1n) : a.high })
  const most = larger(b.signedHigh, -b.signedLow) - 1n
  return fact(a.bits, {
    zeros,
    signedLow: a.signedLow < 0n ? larger(-most, a.signedLow) : 0n,
    signedHigh: a.signedHigh < 0n ? 0n : smaller(most, a.signedHigh),
  })
}

export function absolute(a: Fact): Fact {
  const low = a.signedLow > 0n ? a.signedLow : a.signedHigh < 0n ? -a.signedHigh : 0n
  return fact(a.bits, { low, high: larger(-a.signedLow, a.signedHigh), zeros: maskOf(trailingZeros(a)) })
}

export function reversed({ bits, zeros, ones }: Fact): Fact {
  const reverse = (value: bigint) =>
    BigInt(`0b${[...value.toString(2).padStart(bits, '0')].reverse().join('')}`)
  return fact(bits, { zeros: reverse(zeros), ones: reverse(ones) })
}

export function countOfOnes({ bits, zeros, ones }: Fact): Fact {
  return fact(32, { low: countOf(ones), high: countOf(maskOf(bits) & ~zeros) })
}

export function leadingZeros({ bits, low, high }: Fact): Fact {
  return fact(32, { low: BigInt(bits - lengthOf(high)), high: BigInt(bits - lengthOf(low)) })
}

/** The position of the first bit, `bits` for none. */
export function firstBit(a: Fact, isShift: boolean): Fact {
  const none = literal(32, -1n)
  if (a.high === 0n) return none
  const positions = [lengthOf(a.low) - 1, lengthOf(a.high) - 1].map((at) =>
    BigInt(isShift ? a.bits - 1 - Math.max(0, at) : Math.max(0, at)),
  )
  const found = fact(32, { low: positions.reduce(smaller), high: positions.reduce(larger) })
  return a.low === 0n ? either(found, none) : found
}
