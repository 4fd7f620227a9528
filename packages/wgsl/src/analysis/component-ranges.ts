import { subgroupSize } from '../collectives.ts'
import type { BuiltinFunction, Expression, IrModule, Parameter, ScalarKind, Type } from '../ir.ts'
import { type Interval, interval, join, whole } from './interval.ts'

/** One interval for each component of an integer scalar or vector. */
export type Components = readonly Interval[]

/** The most workgroups in a dimension, which every backend enforces. */
const mostWorkgroups = 65535

/** What a scalar's or vector's components are; f32 for other types. */
export function scalarOf(type: Type): ScalarKind {
  return type.kind === 'scalar' || type.kind === 'vector' ? type.scalar : 'f32'
}

/** All values of an integer scalar or vector type. */
export function wholeComponents(type: Type): Components | undefined {
  const all = whole(scalarOf(type))
  if (all === undefined) return undefined
  return Array.from({ length: type.kind === 'vector' ? type.size : 1 }, () => all)
}

/** Zero in each component. */
export function zeroComponents(type: Type): Components | undefined {
  return wholeComponents(type)?.map(() => interval(0, 0))
}

/** The values in a constant array of integers. */
export function constantElements(base: Expression): Components | undefined {
  const value = base.kind === 'constant' ? base.constant.value : undefined
  if (value?.kind !== 'construct') return undefined
  let range: Interval | undefined
  for (const a of value.args) {
    if (a.kind !== 'literal' || whole(a.type.scalar) === undefined) return undefined
    const v = interval(Number(a.value), Number(a.value))
    range = range === undefined ? v : join(range, v)
  }
  return range && [range]
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
    case 'subgroup_size':
      return [interval(subgroupSize, subgroupSize)]
    case 'subgroup_id':
      return [interval(0, Math.ceil(threads / subgroupSize) - 1)]
    case 'num_subgroups':
      return [interval(Math.ceil(threads / subgroupSize), Math.ceil(threads / subgroupSize))]
    default:
      return wholeComponents(p.type)!
  }
}

/** The values that a built-in function gives, out of `all` of its type. */
export function builtinCallComponents(
  name: BuiltinFunction,
  args: readonly (Components | undefined)[],
  all: Components,
): Components {
  const at = (i: number, c: number) => args[i]?.[c] ?? args[i]?.[0] ?? all[c]!
  switch (name) {
    case 'min':
      return all.map((_, c) =>
        interval(Math.min(at(0, c).low, at(1, c).low), Math.min(at(0, c).high, at(1, c).high)),
      )
    case 'max':
      return all.map((_, c) =>
        interval(Math.max(at(0, c).low, at(1, c).low), Math.max(at(0, c).high, at(1, c).high)),
      )
    case 'clamp':
      return all.map((_, c) => {
        const raised = interval(Math.max(at(0, c).low, at(1, c).low), Math.max(at(0, c).high, at(1, c).high))
        return interval(Math.min(raised.low, at(2, c).low), Math.min(raised.high, at(2, c).high))
      })
    case 'select':
      return all.map((_, c) => join(at(0, c), at(1, c)))
    case 'abs':
      return all.map((a, c) => {
        const v = at(0, c)
        if (v.low >= 0) return v
        return v.low > -2147483648 ? interval(v.high < 0 ? -v.high : 0, Math.max(-v.low, v.high)) : a
      })
    case 'countOneBits':
    case 'countLeadingZeros':
    case 'countTrailingZeros':
      return all.map(() => interval(0, 32))
    case 'extractBits': {
      const count = args[2]?.[0]
      return all.map((a) =>
        a.low === 0 && count !== undefined && count.high < 32 ? interval(0, 2 ** count.high - 1) : a,
      )
    }
    case 'sign':
      return all.map(() => interval(-1, 1))
    default:
      return all
  }
}
