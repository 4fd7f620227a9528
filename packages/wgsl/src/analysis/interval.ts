import type { BinaryOperator, Expression, ScalarKind } from '../ir.ts'

/** The integers from `low` to `high`, inclusive. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** The values that an expression can have, as far as they are known. */
export type IntervalOf = (e: Expression) => Interval | undefined

const wholeU32: Interval = Object.freeze({ low: 0, high: 4294967295 })
const wholeI32: Interval = Object.freeze({ low: -2147483648, high: 2147483647 })

/** All values of an integer type; undefined for other types. */
export function whole(scalar: ScalarKind): Interval | undefined {
  return scalar === 'u32' ? wholeU32 : scalar === 'i32' ? wholeI32 : undefined
}

export const interval = (low: number, high: number): Interval => ({ low, high })

/** The smallest interval that contains both. */
export function join(a: Interval, b: Interval): Interval {
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
}

/** The intersection, or `a` if it is empty, since the code is then unreachable. */
export function meet(a: Interval, b: Interval): Interval {
  const low = Math.max(a.low, b.low)
  const high = Math.min(a.high, b.high)
  return low > high ? a : { low, high }
}

/** Whether `outer` contains `inner`. */
export function contains(outer: Interval, inner: Interval): boolean {
  return inner.low >= outer.low && inner.high <= outer.high
}

/** The smallest `2^n - 1` that is at least `value`. */
function allOnes(value: number): number {
  return value <= 0 ? 0 : 2 ** (Math.floor(Math.log2(value)) + 1) - 1
}

/** The mathematical result of an operator before wrap-around; undefined if nothing useful is known. */
function unwrapped(operator: BinaryOperator, a: Interval, b: Interval): Interval | undefined {
  switch (operator) {
    case '+':
      return interval(a.low + b.low, a.high + b.high)
    case '-':
      return interval(a.low - b.high, a.high - b.low)
    case '*': {
      const products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]
      return interval(Math.min(...products), Math.max(...products))
    }
    case '/':
      if (b.low >= 1) {
        const quotients = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high].map(Math.trunc)
        return interval(Math.min(...quotients), Math.max(...quotients))
      }
      return a.low >= 0 && b.low >= 0 ? interval(0, a.high) : undefined
    case '%':
      if (b.low >= 0 && b.high >= 1) {
        if (a.low >= 0 && a.high < b.low) return a
        const most = b.high - 1
        return interval(a.low >= 0 ? 0 : -Math.min(most, -a.low), a.high <= 0 ? 0 : Math.min(most, a.high))
      }
      return undefined
    case '&':
      // Infinity if both may be negative, which is no value of a type.
      return interval(0, Math.min(...[a, b].map(({ low, high }) => (low < 0 ? Infinity : high))))
    case '|':
      return a.low < 0 || b.low < 0
        ? undefined
        : interval(Math.max(a.low, b.low), allOnes(Math.max(a.high, b.high)))
    case '^':
      return a.low < 0 || b.low < 0 ? undefined : interval(0, allOnes(Math.max(a.high, b.high)))
    case '<<':
      return a.low >= 0 ? interval(a.low * 2 ** b.low, a.high * 2 ** b.high) : undefined
    case '>>':
      return a.low >= 0
        ? interval(
            Math.floor(a.low / 2 ** Math.min(b.high, 31)),
            b.high <= 31 ? Math.floor(a.high / 2 ** b.low) : a.high,
          )
        : undefined
    default:
      return undefined
  }
}

/** The possible results of an operator in a type with the values `all`, which it has if it may wrap around. */
export function applyOperator(operator: BinaryOperator, a: Interval, b: Interval, all: Interval): Interval {
  const result = unwrapped(operator, a, b)
  return result === undefined || !contains(all, result) ? all : result
}
