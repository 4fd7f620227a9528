import type { IrModule, ModuleVariable, Place } from '../ir.ts'
import { sizeOf, strideOf } from '../layout.ts'
import { walk } from '../walk.ts'

/** The byte length of one vector load. */
export const chunkByteLength = 16

/** The maximum number of chunks that are kept in registers. */
const mostChunks = 16

/**
 * Finds uniform variables that are loaded together at the start and kept in registers. In their original
 * positions the loads would wait for conditions and for each other: a transpose of a 32 × 32 tile would take
 * 1.4 times as long on an H200. The map value has a bit for each chunk of 16 bytes that is used.
 *
 * Such a variable is not a `buffer`, its size is a multiple of 4 and at most 256 bytes, and each place in it
 * that code uses has only members, components and literal indices. Uniform memory does not change while a
 * kernel runs, so the time of the load is not observable.
 */
export function findUniformCopies(module: IrModule): ReadonlyMap<ModuleVariable, number> {
  const copies = new Map<ModuleVariable, number>()
  const unfit = new Set<ModuleVariable>()
  for (const v of module.variables) if (isSmall(v)) copies.set(v, 0)
  walk(module, {
    place(place) {
      const access = extentOf(place)
      if (access === undefined) return undefined
      const { variable, offset, byteLength } = access
      const used = copies.get(variable)
      if (used === undefined) return undefined
      if (offset === undefined) {
        unfit.add(variable)
        return undefined
      }
      let chunks = used
      const last = Math.floor((offset + byteLength - 1) / chunkByteLength)
      for (let c = Math.floor(offset / chunkByteLength); c <= last; c++) chunks |= 1 << c
      copies.set(variable, chunks)
      // The bases of a place are not separate accesses, and a constant index has no operands.
      return false
    },
  })
  for (const v of unfit) copies.delete(v)
  return copies
}

function isSmall({ space, type }: ModuleVariable): boolean {
  if (space !== 'uniform' || type.kind === 'buffer') return false
  return sizeOf(type) <= mostChunks * chunkByteLength && sizeOf(type) % 4 === 0
}

/** The byte range of a module variable that a place covers; the offset is undefined if it is not constant. */
function extentOf(
  place: Place,
): { variable: ModuleVariable; offset: number | undefined; byteLength: number } | undefined {
  let offset: number | undefined = 0
  let p = place
  while (p.kind !== 'variable') {
    if (p.kind === 'deref' || p.kind === 'view-place') return undefined
    if (p.kind === 'member-place') offset = offset === undefined ? undefined : offset + p.member.offset
    else if (offset !== undefined) {
      const index: number | undefined =
        p.kind === 'component-place'
          ? p.component
          : p.index.kind === 'literal'
            ? Number(p.index.value)
            : undefined
      offset = index === undefined ? undefined : offset + index * strideOf(p.base.type)
    }
    p = p.base
  }
  if (p.variable.kind !== 'module-variable') return undefined
  return { variable: p.variable, offset, byteLength: sizeOf(place.type) }
}
