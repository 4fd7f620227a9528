import { bitsOfFloat, type Fact, type FloatRange, isLiteral, literal, rangeOf } from './value-facts.ts'

/** The range of an f32, by instruction. Those of others are not known; ptxas knows no ranges of halves. */
const rules: Readonly<
  Record<string, (a: FloatRange | undefined, b: FloatRange | undefined) => FloatRange | undefined>
> = {
  abs: ([low, high] = [-Infinity, Infinity]) => [
    low > 0 ? low : high < 0 ? -high : 0,
    Math.max(Math.abs(low), Math.abs(high)),
  ],
  add: (a, b) => a && b && [a[0] + b[0], a[1] + b[1]],
  cos: () => [-1, 1],
  ex2: () => [0, Infinity],
  max: (a, b) => a && b && [Math.max(a[0], b[0]), Math.max(a[1], b[1])],
  min: (a, b) => a && b && [Math.min(a[0], b[0]), Math.min(a[1], b[1])],
  mul: (a, b) => {
    if (isZero(a) || isZero(b)) return [0, 0]
    if (a === undefined || b === undefined) return undefined
    const corners = a.flatMap((x) => b.map((y) => x * y))
    return [Math.min(...corners), Math.max(...corners)]
  },
  neg: (a) => a && [-a[1], -a[0]],
  sin: () => [-1, 1],
  sub: (a, b) => a && b && [a[0] - b[1], a[1] - b[0]],
  tanh: () => [-1, 1],
}

/** What is known of the result of an instruction for f32, NaN aside, if its bits are known to be those of `result`. */
export function withRange(result: Fact, name: string, modifiers: string, operands: readonly Fact[]): Fact {
  const [a, b] = operands.map(rangeOf)
  let range = rules[name]?.(a, b)
  if (range?.some(Number.isNaN)) range = undefined
  if (/\.sat\b/.test(modifiers)) {
    const [low, high] = range ?? [0, 1]
    range = [Math.min(Math.max(low, 0), 1), Math.min(Math.max(high, 0), 1)]
  }
  if (range === undefined) return result
  const areFinite = [a, b].every((one) => one?.every(Number.isFinite) === true)
  const isNumber = areFinite || /^(?:max|min)$/.test(name) || /\.sat\b/.test(modifiers)
  if (isNumber && range[0] === range[1]) return literal(32, bitsOfFloat(range[0]))
  return { ...result, floats: range }
}

/** Whether an f32 is its first operand, or undefined if it may be another value. */
export function isFirstFloat(
  name: string,
  modifiers: string,
  operands: readonly Fact[],
): boolean | undefined {
  const [a, b] = operands.map(rangeOf)
  if (a === undefined) return undefined
  if (name === 'abs') return a[0] >= 0 || undefined
  if (name === 'cvt') return (/^\.sat\.f32/.test(modifiers) && a[0] >= 0 && a[1] <= 1) || undefined
  if (b === undefined || !/^(?:max|min)$/.test(name)) return undefined
  if (a[1] <= b[0]) return name === 'min'
  return a[0] >= b[1] ? name === 'max' : undefined
}

const isZero = (range: FloatRange | undefined): boolean => range?.[0] === 0 && range[1] === 0

/**
 * The result of a comparison of floats, or undefined if it may be both, NaN aside. That a float is not above infinity is not
 * known, because this is a question whether it is NaN.
 */
export function comparedFloats(operator: string, a: Fact, b: Fact): boolean | undefined {
  const [first, second] = [rangeOf(a), rangeOf(b)]
  if (isNotANumber(a, first) || isNotANumber(b, second)) return /^(?:..u|nan)$/.test(operator)
  if (first === undefined || second === undefined) return undefined
  const [isLess, isMore] = [isBelow(first, second), isBelow(second, first)]
  const differs = isLess === true || isMore === true
  const isEqual = isLess === false && isMore === false
  switch (operator) {
    case 'lt':
      return isLess
    case 'gt':
      return isMore
    case 'ge':
      return isLess === undefined ? undefined : !isLess
    case 'le':
      return isMore === undefined ? undefined : !isMore
    case 'neu':
      return differs ? true : isEqual ? false : undefined
    case 'eq':
      return differs ? false : isEqual ? true : undefined
    default:
      return undefined
  }
}

function isBelow([low, high]: FloatRange, [otherLow, otherHigh]: FloatRange): boolean | undefined {
  if (high < otherLow) return true
  return low > otherHigh || (low === otherHigh && Number.isFinite(low)) ? false : undefined
}

function isNotANumber(of: Fact, range: FloatRange | undefined): boolean {
  return range === undefined && of.bits === 32 && isLiteral(of)
}
