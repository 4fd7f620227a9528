import { type BuiltinFunction, builtinFacts } from './builtin-functions.ts'
import type { BuiltinCall } from './ir.ts'

/**
 * The number of invocations in a subgroup, which every emitter and executor of this package assumes. Lanes
 * are numbered from 0.
 */
export const subgroupSize = 32

/**
 * Whether a built-in function synchronizes the workgroup: every invocation of the workgroup must make the
 * call.
 */
export function isBarrier(name: BuiltinFunction): boolean {
  return builtinFacts[name].barrier !== undefined
}

/** Whether a built-in function works on the invocations of a subgroup or a quad together. */
export function isSubgroupOperation(name: BuiltinFunction): boolean {
  return builtinFacts[name].together === 'subgroup'
}

/**
 * Whether a call is collective: its effect depends on which other invocations make it together with this one.
 * An emitter must not place it under a condition that the source does not have.
 */
export function isCollective({ name }: BuiltinCall): boolean {
  return builtinFacts[name].together !== undefined
}
