import { subgroupSize } from '../collectives.ts'
import { type Exchange, exchange } from './subgroups.ts'

/** An invocation that yields undefined at barriers and an `Exchange` at subgroup operations. */
export type Invoked = Generator<Exchange | undefined, void, unknown>

/**
 * Runs the invocations of a workgroup to their end; each runs until it waits for others. When no invocation
 * of a subgroup can continue, the invocations that wait at the same call perform its operation.
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
 * Performs the operation of the first waiting call in each subgroup; returns the invocations that continue,
 * with their results.
 */
function exchangeOnce(exchanges: Map<number, Exchange>): [number, unknown][] {
  const groups = new Map<number, Map<number, Exchange>>()
  for (const [i, waiting] of exchanges) {
    const subgroup = Math.floor(i / subgroupSize)
    const group = groups.get(subgroup) ?? new Map<number, Exchange>()
    const [first] = group.values()
    if (first !== undefined && waiting.site > first.site) continue
    if (first !== undefined && waiting.site < first.site) group.clear()
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
