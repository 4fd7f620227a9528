import type { BufferType, ViewPlace } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import type { rootOf } from '../walk.ts'

/**
 * The memory that contains a root's bytes: a binding or a workgroup buffer; undefined for memory that holds
 * JavaScript values.
 */
export function boundMemory(root: ReturnType<typeof rootOf>): string | undefined {
  if (root.kind !== 'variable' || root.variable.kind !== 'module-variable') return undefined
  const { space, id, type } = root.variable
  if (space === 'storage' || space === 'uniform') return `m[${id}]`
  return type.kind === 'buffer' ? `inv.workgroup[${id}]` : undefined
}

/**
 * The position of a view, as expressions to evaluate in this order: its offset rounded down to the alignment
 * of its type, and the byte length that it needs.
 */
export function viewPlace(view: ViewPlace, offset: string, size: string | undefined) {
  const align = alignOf(view.type)
  const least = leastViewSize(view.type)
  return {
    offset: `Math.floor(((${offset}) >>> 0) / ${align}) * ${align}`,
    needed: size === undefined ? `${least}` : `Math.max((${size}) >>> 0, ${least})`,
  }
}

/**
 * The number of elements of the runtime-sized array in a view of `seen` bytes; undefined if there is none.
 */
export function viewLength(view: ViewPlace, seen: string): string | undefined {
  const array = runtimeArrayOf(view.type)
  return array && `Math.floor((${seen} - ${array.offset}) / ${array.stride})`
}

/** The byte length of the buffer that contains a view. */
export function byteLength(view: ViewPlace, memory: string): string {
  return String((view.base.type as BufferType).length ?? `${memory}.byteLength`)
}
