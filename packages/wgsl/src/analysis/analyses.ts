import type { IrModule } from '../ir.ts'
import { Assignments } from './assignments.ts'
import { type Effects, findEffects } from './effects.ts'
import { LinearForms } from './linear-form.ts'
import { LoopCounters } from './loop-counter.ts'
import { findRanges } from './ranges.ts'
import type { Ranges } from './recorded-ranges.ts'

/** The facts about a module that any target can use. */
export interface Analyses {
  /** Whether two values are equal or differ by a constant. */
  readonly forms: LinearForms
  /** How evaluating an expression affects memory, and what its value depends on. */
  readonly effects: Effects
  /** The intervals of integers, and the indices and operations that need no guard. */
  readonly ranges: Ranges
  /** The counters of loops, and whether loops end. */
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
