import type { BufferType, ViewPlace } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import type { rootOf } from '../walk.ts'

/**
 * The memory that holds a root's bytes: a binding, or a buffer of the workgroup; undefined for memory of
 * values.
 */
export function boundMemory(root: ReturnType<typeof rootOf>): string | undefined {
  if (root.kind !== 'variable' || root.variable.kind !== 'module-variable') return undefined
  const { space, id, type } = root.variable
  if (space === 'storage' || space === 'uniform') return `m[${id}]`
  return type.kind === 'buffer' ? `inv.workgroup[${id}]` : undefined
}

/**
 * Where a view lies, as expressions to evaluate in this order: its offset rounded down to the alignment of
 * its type, and the bytes that it needs there.
 */
export function viewPlace(view: ViewPlace, offset: string, size: string | undefined) {
  const align = alignOf(view.type)
  const least = leastViewSize(view.type)
  return {
    offset: `Math.floor(((${offset}) >>> 0) / ${align}) * ${align}`,
    needed: size === undefined ? `${least}` : `Math.max((${size}) >>> 0, ${least})`,
  }
}

/** The number of elements of the runtime-sized array in a view of so many bytes; undefined without one. */
export function viewLength(view: ViewPlace, seen: string): string | undefined {
  const array = runtimeArrayOf(view.type)
  return array && `Math.floor((${seen} - ${array.offset}) / ${array.stride})`
}

/** The bytes of the buffer in which a view lies. */
export function byteLength(view: ViewPlace, memory: string): string {
  return String((view.base.type as BufferType).length ?? `${memory}.byteLength`)
}
