import type { BufferType, ViewPlace } from '../ir.ts'
import { alignOf, leastViewSize, runtimeArrayOf } from '../layout.ts'
import type { rootOf } from '../walk.ts'

/** The memory that holds a root's bytes: a binding, or a buffer of the workgroup; undefined for memory of values. */
export function boundMemory(root: ReturnType<typeof rootOf>): string | undefined {
  if (root.kind !== 'variable' || root.variable.kind !== 'module-variable') return undefined
  const { space, id, type } = root.variable
  if (space === 'storage' || space === 'uniform') return `m[${id}]`
  return type.kind === 'buffer' ? `inv.workgroup[${id}]` : undefined
}

/** Where a view begins in its buffer: `offset` rounded down to the alignment of its type, and brought inside. */
export function viewOffset(view: ViewPlace, offset: string, memory: string): string {
  const align = alignOf(view.type)
  const last = `${byteLength(view, memory)} - ${leastViewSize(view.type)}`
  return `Math.floor(Math.min((${offset}) >>> 0, ${last}) / ${align}) * ${align}`
}

/** The number of elements of the runtime-sized array in a view that begins at `offset`; undefined without one. */
export function viewLength(
  view: ViewPlace,
  offset: string,
  size: string | undefined,
  memory: string,
): string | undefined {
  const array = runtimeArrayOf(view.type)
  if (array === undefined) return undefined
  const rest = `${byteLength(view, memory)} - ${offset}`
  const bytes =
    size === undefined ? rest : `Math.min(${rest}, Math.max((${size}) >>> 0, ${leastViewSize(view.type)}))`
  return `Math.floor((${bytes} - ${array.offset}) / ${array.stride})`
}

function byteLength(view: ViewPlace, memory: string): string {
  return String((view.base.type as BufferType).length ?? `${memory}.byteLength`)
}
