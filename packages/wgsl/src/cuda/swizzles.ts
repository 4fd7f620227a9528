import type { BuiltinCall, IrModule, ModuleVariable } from '../ir.ts'
import { moduleVariableOf, type Visitor, walk } from '../walk.ts'
import type { AsyncCopies } from './async-copies.ts'

/** The number of 16-byte elements in the 128 bytes that all banks deliver at once. */
const line = 8

/**
 * Finds the workgroup arrays to swizzle, with the number of elements in a row: element i is stored at i ^ (i
 * / max(row, 8) mod min(row, 8)) (CUTLASS's `Swizzle`). The eight rows of a block that `ldmatrix` reads are
 * then in different banks, and each row begins at a multiple of 128 bytes, or of its own length. Padded rows
 * are also spread over the banks but lack this alignment, so an asynchronous copy into them moves sectors of
 * 32 bytes more than once: on an H200 an f16 product takes 1.17 times as long.
 *
 * An array is swizzled if asynchronous copies write it, its f16 matrices are loaded with one constant stride,
 * a power of two (the row), and every other access is to an element. No access can observe the layout, which
 * only permutes the elements of the array.
 */
export function findSwizzles(module: IrModule, { copies }: AsyncCopies): ReadonlyMap<ModuleVariable, number> {
  const targets = new Set([...copies].map((copy) => moduleVariableOf(copy.target)!))
  const rows = new Map<ModuleVariable, number>()
  if (targets.size === 0) return rows
  const unfit = new Set<object>()
  const visitor: Visitor = {
    place(place) {
      if (place.kind === 'variable') unfit.add(place.variable)
      if (place.kind !== 'index-place' || place.base.kind !== 'variable') return undefined
      walk(place.index, visitor)
      return false
    },
    expression(e) {
      if (e.kind !== 'builtin-call' || e.name !== 'subgroupMatrixLoad') return undefined
      const [address, ...others] = e.args
      if (address?.kind !== 'address-of' || address.place.kind !== 'variable') return undefined
      const variable = moduleVariableOf(address.place)!
      const row = rowOf(e)
      if (row === undefined || (rows.get(variable) ?? row) !== row) unfit.add(variable)
      else rows.set(variable, row)
      for (const other of others) walk(other, visitor)
      return false
    },
  }
  walk(module, visitor)
  for (const variable of [...rows.keys()]) {
    const { type } = variable
    const isWhole = type.kind === 'array' && type.length !== undefined && type.length % line === 0
    if (!isWhole || !targets.has(variable) || unfit.has(variable)) rows.delete(variable)
  }
  return rows
}

/** The stride of a load of a matrix of f16, if it is a constant and a power of two. */
function rowOf({ type, args }: BuiltinCall): number | undefined {
  const stride = args.at(-2)!
  if (type?.kind !== 'subgroup-matrix' || type.component !== 'f16' || stride.kind !== 'literal')
    return undefined
  const row = Number(stride.value)
  return (row & (row - 1)) === 0 ? row : undefined
}
