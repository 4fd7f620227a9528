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

/** The memory that a function accesses. */
interface Accesses {
  /** The position among all functions, after those of its callees. */
  readonly index: number
  /** Memory accessed through pointer parameters, by position, and whether it is written. */
  readonly pointed: Map<Root, boolean>
  readonly callees: Set<Accesses>
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
  const passed = new Map<ModuleVariable, Map<PointerArgument, Accesses>>()
  for (const fn of functions) {
    const accesses: Accesses = { index: known.size, pointed: new Map(), callees: new Set() }
    known.set(fn, accesses)
    walk(fn, {
      place(place, use) {
        if (use !== 'address' && use !== 'measure') note(named, accesses, sourceRoot(place), use !== 'load')
      },
      expression(e) {
        if (e.kind !== 'call') return
        const callee = known.get(e.function)!
        calls.push(e)
        accesses.callees.add(callee)
        for (const pointer of e.pointers) {
          const root = sourceRoot(pointer.root)
          const writes = callee.pointed.get(pointer.position)
          if (writes !== undefined) note(named, accesses, root, writes)
          if (typeof root === 'number' || root.kind === 'local-variable') continue
          const pointers = passed.get(root) ?? new Map<PointerArgument, Accesses>()
          passed.set(root, pointers.set(pointer, callee))
        }
      },
    })
  }
  // One variable at a time: the functions that each function reaches may be too many to list them all.
  const byName = new Map<PointerArgument, boolean | undefined>()
  for (const [variable, pointers] of passed) {
    const found = reaching(named.get(variable) ?? new Map(), [...pointers.values()])
    for (const [pointer, callee] of pointers) byName.set(pointer, found.get(callee))
  }
  for (const call of calls) checkCall(call, known.get(call.function)!, byName, error)
}

/**
 * Which of some functions, and of those that they call, directly or through others, access a variable by name or
 * call one that does, and whether one of these writes it.
 */
function reaching(named: ReadonlyMap<Accesses, boolean>, functions: readonly Accesses[]) {
  const found = new Map<Accesses, boolean>()
  const last = functions.reduce((index, accesses) => Math.max(index, accesses.index), 0)
  if (![...named.keys()].some(({ index }) => index <= last)) return found
  const reached = new Set(functions)
  for (const { callees } of reached) for (const callee of callees) reached.add(callee)
  for (const accesses of [...reached].sort((a, b) => a.index - b.index)) {
    const ways = [named.get(accesses), ...Array.from(accesses.callees, (callee) => found.get(callee))]
    if (ways.includes(true) || ways.includes(false)) found.set(accesses, ways.includes(true))
  }
  return found
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
  byName: ReadonlyMap<PointerArgument, boolean | undefined>,
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
