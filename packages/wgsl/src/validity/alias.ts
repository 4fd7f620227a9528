import type { Call, IrFunction, LocalVariable, Location, ModuleVariable, Place } from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

/** The root of a place in the source: a variable, or a pointer parameter by its position. */
type Root = ModuleVariable | LocalVariable | number

/** The memory that a function accesses directly or through calls; the map values tell whether it writes. */
interface Accesses {
  /** Module variables that are accessed by name. */
  readonly named: Map<Root, boolean>
  /** Memory accessed through pointer parameters, by position. */
  readonly pointed: Map<Root, boolean>
}

/**
 * Checks the alias rule of WGSL: a function must not write memory that it accesses in two ways, through two
 * pointer arguments or through one and by name. `functions` lists callees before callers; `error` creates the
 * error to throw.
 */
export function checkAliases(
  functions: readonly IrFunction[],
  error: (loc: Location, text: string) => Error,
): void {
  const known = new Map<IrFunction, Accesses>()
  for (const fn of functions) {
    const accesses: Accesses = { named: new Map(), pointed: new Map() }
    known.set(fn, accesses)
    const called = new Set<IrFunction>()
    walk(fn, {
      place(place, use) {
        if (use !== 'address' && use !== 'measure') note(accesses, sourceRoot(place), use !== 'load')
      },
      expression(e) {
        if (e.kind === 'call') {
          const callee = known.get(e.function)!
          checkCall(e, callee, error)
          if (!called.has(e.function)) for (const [root, writes] of callee.named) note(accesses, root, writes)
          called.add(e.function)
          notePointers(accesses, e, callee)
        }
      },
    })
  }
}

function sourceRoot(place: Place): Root {
  const root = rootOf(place)
  if (root.parameter !== undefined) return root.parameter
  return (root as Extract<typeof root, { kind: 'variable' }>).variable
}

function note(accesses: Accesses, root: Root, writes: boolean): void {
  if (typeof root === 'object' && root.kind === 'local-variable') return
  const list = typeof root === 'number' ? accesses.pointed : accesses.named
  list.set(root, writes || list.get(root) === true)
}

function notePointers(accesses: Accesses, { pointers }: Call, callee: Accesses): void {
  for (const { position, root } of pointers) {
    const writes = callee.pointed.get(position)
    if (writes !== undefined) note(accesses, sourceRoot(root), writes)
  }
}

function checkCall(
  { pointers, function: target }: Call,
  callee: Accesses,
  error: (loc: Location, text: string) => Error,
): void {
  const seen = new Map<Root, { position: number; writes: boolean }>()
  for (const { position, root: place } of pointers) {
    const writes = callee.pointed.get(position)
    if (writes === undefined) continue
    const root = sourceRoot(place)
    const { name } = place.kind === 'deref' ? place.pointer : place.variable
    const what = `argument ${position + 1} of ${target.name} points to '${name}'`
    const other = seen.get(root)
    if (other !== undefined && (writes || other.writes)) {
      const through = writes ? position : other.position
      throw error(
        place.loc,
        `${what}, as argument ${other.position + 1} does, and ${target.name} writes through argument ${through + 1}`,
      )
    }
    const named = callee.named.get(root)
    if (named !== undefined && (writes || named)) {
      throw error(place.loc, `${what}, which ${target.name} also accesses by name, and it writes to it`)
    }
    seen.set(root, { position, writes })
  }
}
