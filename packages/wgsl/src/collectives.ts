import { type BuiltinFunction, builtinFacts } from './builtin-functions.ts'
import type { BuiltinCall } from './ir.ts'

/**
 * Invocations in a subgroup, which every emitter and executor of this package counts on; its lanes are
 * numbered from 0.
 */
export const subgroupSize = 32

/** Whether a built-in function synchronises the workgroup: every invocation of it must make the call. */
export function isBarrier(name: BuiltinFunction): boolean {
  return builtinFacts[name].barrier !== undefined
}

/** Whether a built-in function works on the invocations of a subgroup or a quad together. */
export function isSubgroupOperation(name: BuiltinFunction): boolean {
  return builtinFacts[name].together === 'subgroup'
}

/**
 * Whether a call is collective: what it does depends on which other invocations make it with this one. An
 * emitter may put it under no condition of its own.
 */
export function isCollective({ name }: BuiltinCall): boolean {
  return builtinFacts[name].together !== undefined
}
