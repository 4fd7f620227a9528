import { requireCount } from '../buffers/view.ts'
import { describedValue, isObject } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { requireOptions } from '../options.ts'
import type { Program } from '../running/program.ts'
import { removableEdges, withoutEdge } from './plan-edges.ts'
import type { ReferenceBackend } from './reference-backend.ts'

/** Options of `expectEveryEdgeToMatter`. */
export interface EdgesMatterOptions {
  /** Random orders in which the program runs with every edge, and at most without each. Default 12. */
  readonly seeds?: number | undefined
}

/**
 * Tests that a program has every edge that it needs and no other. `run` resets all data, runs the program
 * several times and says whether the result is right. With all edges it must be right in many random orders; if
 * any one edge is removed, it must be wrong in some order. Rejects with an Error that names the edges that do not
 * matter, or the seed of the order that gives a wrong result.
 *
 * Edges lead from one repetition to the next too, and a program that repeats the same work hides them: change
 * the input at the start of each repetition (`recordIncrement`), and fold the outputs into totals at its end
 * (`recordAccumulate`).
 */
export async function expectEveryEdgeToMatter(
  backend: ReferenceBackend,
  program: Program,
  run: () => Promise<boolean>,
  options: EdgesMatterOptions = {},
): Promise<void> {
  if (!isObject(backend) || !('seed' in backend))
    throw invalid(
      `The backend is ${describedValue(backend)}; it must be a backend that referenceBackend returned.`,
    )
  if (!isObject(program) || !('plan' in program))
    throw invalid(`The program is ${describedValue(program)}; it must be a program that record returned.`)
  if (typeof run !== 'function')
    throw invalid(`The run of a program is ${describedValue(run)}; it must be a function.`)
  requireOptions(options, 'expectEveryEdgeToMatter', { seeds: 'number' })
  const { seeds = 12 } = options
  requireCount(seeds, 'The option seeds of expectEveryEdgeToMatter', 1)
  const { plan, label } = program
  const { seed: seedBefore, transformPlan: transformBefore } = backend
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      backend.seed = seed
      if (!(await run()))
        throw new Error(
          `Program "${label}" has a wrong result with all its edges, in the order of seed ${seed}.`,
        )
    }
    const edges = removableEdges(plan)
    if (edges.length === 0)
      throw new Error(
        `Program "${label}" has no edges: run it on several devices, or record more than one command.`,
      )
    const unnoticed: string[] = []
    for (const { from, to, previous } of edges) {
      backend.transformPlan = (whole) => withoutEdge(whole, from, to, previous)
      let noticed = false
      for (let seed = 1; seed <= seeds && !noticed; seed++) {
        backend.seed = seed
        noticed = !(await run())
      }
      if (noticed) continue
      const name = (index: number) => `${index} ${plan.commands[index]!.label}`
      unnoticed.push(`${name(from)} → ${name(to)}${previous ? ' (next repetition)' : ''}`)
    }
    if (unnoticed.length > 0)
      throw new Error(
        `Program "${label}" still has a correct result if one of these edges is missing, in ${seeds} orders: ${unnoticed.join('; ')}. Usually the test repeats the same work, so a repetition that runs too early still reads the right values. Change the input at the start of each repetition (recordIncrement) and fold the output into a total at its end (recordAccumulate).`,
      )
  } finally {
    backend.seed = seedBefore
    backend.transformPlan = transformBefore
  }
}
