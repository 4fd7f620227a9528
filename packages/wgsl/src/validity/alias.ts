import type {
  Call,
  IrFunction,
  LocalVariable,
  Location,
  ModuleVariable,
  Place,
  PointerArgument,
} from '../ir.ts'
import { rootOf, walk } from '../walk.ts'

/** The root of a place in the source: a variable, or a pointer parameter by its position. */
type Root = ModuleVariable | LocalVariable | number

/** The memory that a function accesses; the map values tell whether it writes. */
interface Accesses {
  /** Memory accessed through pointer parameters, by position. */
  readonly pointed: Map<Root, boolean>
  readonly callers: Set<Accesses>
  /** The last variable that was found to be accessed by name here or in a callee, and whether it is written. */
  variable: Root | undefined
  writes: boolean
}

/**
 * For each module variable, the functions that access it by name, or through calls with a pointer to it, and
 * whether they write it.
 */
type Named = Map<Root, Map<Accesses, boolean>>

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
  const named: Named = new Map()
  const calls: Call[] = []
  const passed = new Map<ModuleVariable, [PointerArgument, Accesses][]>()
  for (const fn of functions) {
    const accesses: Accesses = { pointed: new Map(), callers: new Set(), variable: undefined, writes: false }
    known.set(fn, accesses)
    walk(fn, {
      place(place, use) {
        if (use !== 'address' && use !== 'measure') note(named, accesses, sourceRoot(place), use !== 'load')
      },
      expression(e) {
        if (e.kind !== 'call') return
        const callee = known.get(e.function)!
        calls.push(e)
        callee.callers.add(accesses)
        for (const pointer of e.pointers) {
          const root = sourceRoot(pointer.root)
          const writes = callee.pointed.get(pointer.position)
          if (writes !== undefined) note(named, accesses, root, writes)
          if (typeof root === 'number' || root.kind === 'local-variable') continue
          const list = passed.get(root) ?? []
          passed.set(root, list)
          list.push([pointer, callee])
        }
      },
    })
  }
  // One variable at a time, so that time and memory do not grow with the functions that each function reaches.
  const byName = new Map<PointerArgument, boolean>()
  for (const [variable, pointers] of passed) {
    mark(variable, named.get(variable) ?? new Map())
    for (const [pointer, callee] of pointers)
      if (callee.variable === variable) byName.set(pointer, callee.writes)
  }
  for (const call of calls) checkCall(call, known.get(call.function)!, byName, error)
}

/** Marks the functions that access a variable by name, in their own code or through calls. */
function mark(variable: Root, named: ReadonlyMap<Accesses, boolean>): void {
  for (const writes of [false, true]) {
    const found = [...named.keys()].filter((accesses) => named.get(accesses) === writes)
    for (const accesses of found) {
      if (accesses.variable === variable && accesses.writes === writes) continue
      Object.assign(accesses, { variable, writes })
      for (const caller of accesses.callers) found.push(caller)
    }
  }
}

function sourceRoot(place: Place): Root {
  const root = rootOf(place)
  if (root.parameter !== undefined) return root.parameter
  return (root as Extract<typeof root, { kind: 'variable' }>).variable
}

function note(named: Named, accesses: Accesses, root: Root, writes: boolean): void {
  if (typeof root === 'object' && root.kind === 'local-variable') return
  if (typeof root === 'number') accesses.pointed.set(root, writes || accesses.pointed.get(root) === true)
  else {
    const list = named.get(root) ?? new Map<Accesses, boolean>()
    named.set(root, list.set(accesses, writes || list.get(accesses) === true))
  }
}

function checkCall(
  { pointers, function: target }: Call,
  callee: Accesses,
  byName: ReadonlyMap<PointerArgument, boolean>,
  error: (loc: Location, text: string) => Error,
): void {
  const seen = new Map<Root, { position: number; writes: boolean }>()
  for (const pointer of pointers) {
    const { position, root: place } = pointer
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
    const named = byName.get(pointer)
    if (named === true || (writes && named === false)) {
      throw error(place.loc, `${what}, which ${target.name} also accesses by name, and it writes to it`)
    }
  }
}
