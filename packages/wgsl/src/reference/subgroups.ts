import { componentFunction } from '../values/functions.ts'
import { binaryFunction, mapComponents } from '../values/operators.ts'
import { cloneValue, type Value } from './memory.ts'

/** An operation at which an invocation waits for the others of its subgroup. */
export interface Exchange {
  /** The operation and the kind of its operand: `subgroupAdd u32`. */
  readonly operation: string
  /**
   * Where the invocation is in the program: the calls on the way to this one and itself, each as a number that
   * rises in the order of the text, behind those of the loops around it with their rounds.
   */
  readonly path: number[]
  readonly args: readonly Value[]
  /**
   * Set for an operation of the whole subgroup: computed from any invocation's arguments, the result holds
   * for all.
   */
  readonly once?: (args: readonly Value[]) => Value
}

/** The operator of a reduction or of an atomic function, by the end of its name, with its identity. */
export const reductions: Readonly<Record<string, readonly [operator: string, identity: number]>> = {
  Add: ['+', 0],
  Mul: ['*', 1],
  And: ['&', 0],
  Or: ['|', 0],
  Xor: ['^', 0],
  Min: ['min', 0],
  Max: ['max', 0],
}

/** The result of a call for each lane; `waiting` has an exchange for each lane that makes the call. */
export function exchange(waiting: ReadonlyMap<number, Exchange>): Map<number, Value> {
  const [{ operation, once, args }] = waiting.values() as unknown as [Exchange]
  if (once !== undefined) {
    const value = once(args)
    const results = new Map<number, Value>()
    for (const lane of waiting.keys()) results.set(lane, value)
    return results
  }
  const [name, kind] = operation.split(' ') as [string, string]
  const lanes = [...waiting.keys()].sort((a, b) => a - b)
  // Several lanes may get the argument of one, and each may change its own.
  const argument = (lane: number, i = 0) => cloneValue(waiting.get(lane)!.args[i]!)
  const give = (value: (lane: number) => Value) => new Map(lanes.map((lane) => [lane, value(lane)]))
  // A lane that does not make the call provides no value; in WGSL, reading from it yields an indeterminate
  // value.
  const from = (source: (lane: number) => number) =>
    give((lane) => argument(waiting.has(source(lane)) ? source(lane) : lane))
  const [, order = '', reduction] =
    /^subgroup(Exclusive|Inclusive)?(Add|Mul|And|Or|Xor|Min|Max)$/.exec(name) ?? []
  if (reduction !== undefined) {
    const [operator, identity] = reductions[reduction]!
    const combine = componentFunction(operator, kind) ?? binaryFunction(operator, kind)
    const fold = (of: readonly number[]) =>
      of.map((lane) => argument(lane)).reduce((a, b) => mapComponents<Value>(combine, a, b))
    if (order === '') return give(() => fold(lanes))
    return give((lane) => {
      const before = lanes.filter((l) => l < lane || (l === lane && order === 'Inclusive'))
      return before.length > 0 ? fold(before) : mapComponents<Value>(() => identity, argument(lane))
    })
  }
  switch (name) {
    case 'subgroupAll':
      return give(() => lanes.every((lane) => argument(lane)))
    case 'subgroupAny':
      return give(() => lanes.some((lane) => argument(lane)))
    case 'subgroupElect':
      return give((lane) => lane === lanes[0])
    case 'subgroupBallot':
      return give(() => [lanes.reduce((bits, l) => (argument(l) ? bits | (1 << l) : bits), 0) >>> 0, 0, 0, 0])
    case 'subgroupBroadcastFirst':
      return from(() => lanes[0]!)
    case 'subgroupBroadcast':
    case 'subgroupShuffle':
      return from((lane) => argument(lane, 1) as number)
    case 'subgroupShuffleXor':
      return from((lane) => lane ^ (argument(lane, 1) as number))
    case 'subgroupShuffleUp':
      return from((lane) => lane - (argument(lane, 1) as number))
    case 'subgroupShuffleDown':
      return from((lane) => lane + (argument(lane, 1) as number))
    case 'quadBroadcast':
      return from((lane) => (lane & ~3) + (argument(lane, 1) as number))
    case 'quadSwapX':
      return from((lane) => lane ^ 1)
    case 'quadSwapY':
      return from((lane) => lane ^ 2)
    case 'quadSwapDiagonal':
      return from((lane) => lane ^ 3)
    default:
      throw new TypeError(`the reference executor has no ${name}`)
  }
}
