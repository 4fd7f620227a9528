import type { Call, IrFunction, LocalVariable, Location, ModuleVariable, Place } from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

/** The root of a place in the source: a variable, or a pointer parameter by its position. */
type Root = ModuleVariable | LocalVariable | number

/** The memory that a function accesses; the map values tell whether it writes. */
interface Accesses {
  /** Module variables that the function itself accesses by name, or through calls with a pointer to them. */
  readonly named: Map<Root, boolean>
  /** Memory accessed through pointer parameters, by position. */
  readonly pointed: Map<Root, boolean>
  readonly callees: Set<IrFunction>
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
  const calls: Call[] = []
  for (const fn of functions) {
    const accesses: Accesses = { named: new Map(), pointed: new Map(), callees: new Set() }
    known.set(fn, accesses)
    walk(fn, {
      place(place, use) {
        if (use !== 'address' && use !== 'measure') note(accesses, sourceRoot(place), use !== 'load')
      },
      expression(e) {
        if (e.kind !== 'call') return
        calls.push(e)
        accesses.callees.add(e.function)
        notePointers(accesses, e, known.get(e.function)!)
      },
    })
  }
  const reached = new Map<IrFunction, readonly Accesses[]>()
  const accessesOf = (fn: IrFunction, variable: Root): boolean[] => {
    const all = reached.get(fn) ?? reachedFrom(fn, known)
    reached.set(fn, all)
    return all.map(({ named }) => named.get(variable)).filter((writes) => writes !== undefined)
  }
  for (const call of calls) checkCall(call, known.get(call.function)!, accessesOf, error)
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

/** A function and those that it calls, directly or through others. */
function reachedFrom(fn: IrFunction, known: ReadonlyMap<IrFunction, Accesses>): Accesses[] {
  const reached = new Set([fn])
  for (const caller of reached) for (const callee of known.get(caller)!.callees) reached.add(callee)
  return Array.from(reached, (f) => known.get(f)!)
}

function checkCall(
  { pointers, function: target }: Call,
  callee: Accesses,
  accessesOf: (fn: IrFunction, variable: Root) => boolean[],
  error: (loc: Location, text: string) => Error,
): void {
  const seen = new Map<Root, { position: number; writes: boolean }>()
  for (const { position, root: place } of pointers) {
    const writes = callee.pointed.get(position)
    if (writes === undefined) continue
    const root = sourceRoot(place)
    const memory = typeof root === 'number' ? `the memory behind parameter ${root + 1}` : `'${root.name}'`
    const what = `argument ${position + 1} of ${target.name} points to ${memory}`
    const other = seen.get(root)
    if (other !== undefined && (writes || other.writes)) {
      const through = writes ? position : other.position
      throw error(
        place.loc,
        `${what}, as argument ${other.position + 1} does, and ${target.name} writes through argument ${through + 1}`,
      )
    }
    seen.set(root, { position, writes })
    if (typeof root === 'number' || root.kind === 'local-variable') continue
    const named = accessesOf(target, root)
    if (named.includes(true) || (writes && named.length > 0)) {
      throw error(place.loc, `${what}, which ${target.name} also accesses by name, and it writes to it`)
    }
  }
}
