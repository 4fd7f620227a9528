import { subgroupSize } from '../collectives.ts'
import { type Exchange, exchange } from './subgroups.ts'

/** An invocation that yields undefined at barriers and an `Exchange` at subgroup operations. */
export type Invoked = Generator<Exchange | undefined, void, unknown>

/**
 * Runs the invocations of a workgroup to their end; each runs until it waits for others. When no invocation
 * of a subgroup can continue, those that are behind the others in the program perform their operation. All
 * invocations thus come together where their control flow does.
 */
export function runTogether(label: string, invocations: readonly Invoked[]): void {
  const exchanges = new Map<number, Exchange>()
  let running = invocations.length
  const goOn = (i: number, value: unknown) => {
    const step = invocations[i]!.next(value)
    if (step.done) running--
    else if (step.value !== undefined) exchanges.set(i, step.value)
  }
  while (running > 0) {
    // All invocations are at a barrier or at their beginning.
    for (let i = 0; i < invocations.length; i++) goOn(i, undefined)
    while (exchanges.size > 0) for (const [i, value] of exchangeOnce(exchanges)) goOn(i, value)
    if (running > 0 && running < invocations.length)
      throw new Error(
        `${label}: ${running} of ${invocations.length} invocations of a workgroup reached a barrier that the others did not`,
      )
  }
}

/**
 * Performs the operation of the waiting call that comes first in each subgroup; returns the invocations that
 * continue, with their results.
 */
function exchangeOnce(exchanges: Map<number, Exchange>): [number, unknown][] {
  const groups = new Map<number, Map<number, Exchange>>()
  for (const [i, waiting] of exchanges) {
    const subgroup = Math.floor(i / subgroupSize)
    const group = groups.get(subgroup) ?? new Map<number, Exchange>()
    const [first] = group.values()
    const order = first === undefined ? 0 : compare(waiting.path, first.path)
    if (order > 0) continue
    if (order < 0) group.clear()
    groups.set(subgroup, group.set(i % subgroupSize, waiting))
  }
  return [...groups].flatMap(([subgroup, group]) =>
    [...exchange(group)].map(([lane, value]): [number, unknown] => {
      const i = subgroup * subgroupSize + lane
      exchanges.delete(i)
      return [i, value]
    }),
  )
}

/** Below 0 if the first path comes earlier in the program. No path is the beginning of another. */
function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((x, i) => x !== b[i])
  return at < 0 ? 0 : a[at]! - b[at]!
}
