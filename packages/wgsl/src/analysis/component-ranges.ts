import { type BuiltinFunction, builtinFacts } from '../builtin-functions.ts'
import { subgroupSize } from '../collectives.ts'
import type { IrModule, Parameter, ScalarKind, Type } from '../ir.ts'
import { type Interval, interval, join, whole } from './interval.ts'

/** One interval for each component of an integer scalar or vector. */
export type Components = readonly Interval[]

/** The maximum number of workgroups per dimension, which every backend enforces. */
const mostWorkgroups = 65535

/** The kind of a scalar or of a vector's components. For other types it is f32, which has no intervals. */
export function scalarOf(type: Type): ScalarKind {
  return type.kind === 'scalar' || type.kind === 'vector' ? type.scalar : 'f32'
}

/**
 * All values of an integer scalar, and of vectors of two to four components, by size. Precomputed, because
 * every expression needs them.
 */
const wholeOf = new Map(
  (['i32', 'u32'] as const).map((scalar) => {
    const sizes = [0, 1, 2, 3, 4].map((size) => Array.from({ length: size }, () => whole(scalar)!))
    return [scalar as ScalarKind, sizes]
  }),
)

/** All values of an integer scalar or vector type. */
export function wholeComponents(type: Type): Components | undefined {
  return wholeOf.get(scalarOf(type))?.[type.kind === 'vector' ? type.size : 1]
}

/** Zero in each component. */
export function zeroComponents(type: Type): Components | undefined {
  return wholeComponents(type)?.map(() => interval(0, 0))
}

/** The values of a built-in value. */
export function builtinComponents(module: IrModule, p: Parameter): Components {
  const size = module.workgroupSize
  const threads = size[0] * size[1] * size[2]
  switch (p.builtin) {
    case 'local_invocation_id':
      return size.map((n) => interval(0, n - 1))
    case 'local_invocation_index':
      return [interval(0, threads - 1)]
    case 'global_invocation_id':
      return size.map((n) => interval(0, n * mostWorkgroups - 1))
    case 'workgroup_id':
      return size.map(() => interval(0, mostWorkgroups - 1))
    case 'num_workgroups':
      return size.map(() => interval(1, mostWorkgroups))
    case 'subgroup_invocation_id':
      return [interval(0, Math.min(subgroupSize, threads) - 1)]
    case 'subgroup_id':
      return [interval(0, Math.ceil(threads / subgroupSize) - 1)]
    default:
      return wholeComponents(p.type)!
  }
}

/** The possible results of a built-in function, a subset of `all` values of its type. */
export function builtinCallComponents(
  name: BuiltinFunction,
  args: readonly (Components | undefined)[],
  all: Components,
): Components {
  const at = (i: number, c: number) => args[i]?.[c] ?? all[c]!
  const least = (a: Interval, b: Interval) => interval(Math.min(a.low, b.low), Math.min(a.high, b.high))
  const greatest = (a: Interval, b: Interval) => interval(Math.max(a.low, b.low), Math.max(a.high, b.high))
  switch (builtinFacts[name].gives) {
    case 'least':
      return all.map((_, c) => least(at(0, c), at(1, c)))
    case 'greatest':
      return all.map((_, c) => greatest(at(0, c), at(1, c)))
    case 'clamped':
      return all.map((_, c) => least(greatest(at(0, c), at(1, c)), at(2, c)))
    case 'either':
      return all.map((_, c) => join(at(0, c), at(1, c)))
    default:
      return all
  }
}
