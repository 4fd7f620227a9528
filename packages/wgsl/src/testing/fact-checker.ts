import { Assignments } from '../analysis/assignments.ts'
import { LoopCounters } from '../analysis/loop-counter.ts'
import { findRanges } from '../analysis/ranges.ts'
import type { Binary, CompoundAssign, Expression, IrModule, Location } from '../ir.ts'
import type { ExecutionObserver } from '../reference/index.ts'
import type { Value } from '../reference/memory.ts'

/** Compares what a run of the reference executor does with what the analyses of a module claim. */
export interface FactChecker {
  readonly observer: ExecutionObserver
  /** Claims that a run contradicts, as sentences, each once. */
  readonly failures: ReadonlySet<string>
}

/**
 * Makes a checker of these claims: each integer lies in its interval, an index called inside is one of the array, an operation
 * called exact does not wrap around, and a loop that is left by its condition ran as often as its trip count says.
 */
export function factChecker(module: IrModule): FactChecker {
  const assignments = new Assignments(module)
  const ranges = findRanges(module, assignments)
  const counters = new LoopCounters(assignments, ranges.interval)
  const failures = new Set<string>()
  const fail = (loc: Location, what: string) =>
    failures.add(`line ${loc.line}, column ${loc.column}: ${what}`)
  return {
    failures,
    observer: {
      reached() {},
      value(e, value) {
        const range = ranges.interval(e)
        if (range !== undefined && (value < range.low || value > range.high))
          fail(e.loc, `a ${e.kind} is ${value}, outside [${range.low}, ${range.high}]`)
      },
      indexed(access, index, length) {
        if (ranges.isInside(access) && (index < 0 || index >= length))
          fail(access.loc, `an index called inside is ${index} of ${length}`)
      },
      operated(operation, left, right) {
        if (ranges.isExact(operation) && wraps(operation, left, right))
          fail(operation.loc, `an operation called exact wraps: ${left} ${operation.operator} ${right}`)
      },
      left(loop, repetitions) {
        const trips = counters.of(loop)?.trips
        if (trips !== undefined && (trips.isExact ? repetitions !== trips.most : repetitions > trips.most))
          fail(
            loop.loc,
            `a loop of ${trips.isExact ? 'exactly' : 'at most'} ${trips.most} repetitions has ${repetitions}`,
          )
      },
    },
  }
}

/** Is the mathematical result outside the type, in some component? */
function wraps(operation: Binary | CompoundAssign, left: Value, right: Value): boolean {
  const type: Expression['type'] = operation.kind === 'binary' ? operation.type : operation.target.type
  const scalar = type?.kind === 'scalar' || type?.kind === 'vector' ? type.scalar : 'f32'
  const [low, high] = scalar === 'u32' ? [0n, 2n ** 32n - 1n] : [-(2n ** 31n), 2n ** 31n - 1n]
  const size = type?.kind === 'vector' ? type.size : 1
  const at = (v: Value, i: number) => BigInt(Number(Array.isArray(v) ? v[i] : v))
  return Array.from({ length: size }, (_, i) => exactly(operation.operator, at(left, i), at(right, i))).some(
    (r) => r !== undefined && (r < low || r > high),
  )
}

function exactly(operator: string, a: bigint, b: bigint): bigint | undefined {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '<<':
      return a << (b & 31n)
    case '/':
      return b === 0n ? undefined : a / b
    default:
      return undefined
  }
}
