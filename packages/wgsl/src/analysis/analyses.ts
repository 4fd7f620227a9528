import type { IrModule } from '../ir.ts'
import { Assignments } from './assignments.ts'
import { type Effects, findEffects } from './effects.ts'
import { LinearForms } from './linear-form.ts'
import { LoopCounters } from './loop-counter.ts'
import { findRanges } from './ranges.ts'
import type { Ranges } from './recorded-ranges.ts'

/** The facts about a module that any target can use. */
export interface Analyses {
  /** Are two values equal, and if not, by which constant do they differ? */
  readonly forms: LinearForms
  /** What can evaluating an expression do to memory, and what does its value depend on? */
  readonly effects: Effects
  /** In which interval lies an integer, and which indices and operations need no guard? */
  readonly ranges: Ranges
  /** How does a loop count, and does it end? */
  readonly counters: LoopCounters
}

/** Analyses a module. */
export function analyse(module: IrModule): Analyses {
  const assignments = new Assignments(module)
  const forms = new LinearForms(module)
  const ranges = findRanges(module, assignments, forms)
  const counters = new LoopCounters(assignments, forms, ranges.interval)
  return { forms, effects: findEffects(module), ranges, counters }
}
