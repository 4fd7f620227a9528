import type {
  BuiltinCall,
  Call,
  For,
  IrFunction,
  LocalVariable,
  Location,
  Loop,
  Parameter,
  Place,
} from '../ir.ts'
import { rootOf } from '../walk.ts'

/** The group of invocations that must agree. */
export type UniformityScope = 'workgroup' | 'subgroup'

/**
 * A point of control flow or a value in one function. It is uniform if everything that it uses is uniform and
 * it does not vary by itself.
 */
export interface Node {
  readonly uses: Node[]
  /**
   * A description of the value that differs between invocations, if this node is the origin of the
   * difference.
   */
  readonly varies?: string
  /** The construct whose condition this node is. */
  readonly branch?: string
  readonly loc?: Location
}

/**
 * A call whose point of control flow, or one of whose arguments (counted from 0), must be uniform; without a
 * call, a point where a value with subgroup matrices is made.
 */
export interface Requirement {
  readonly call: BuiltinCall | undefined
  readonly argument: number | undefined
  readonly loc: Location
  readonly node: Node
}

/** A call of a user function, with the nodes that its parameters receive. */
export interface CallSite {
  readonly call: Call
  readonly flow: Node
  readonly values: readonly Node[]
  /** The content of the memory that pointer arguments point to, before the call. */
  readonly contents: readonly (Node | undefined)[]
}

/** How an output of a function depends on its inputs. */
export interface Dependence {
  /** A node that makes the output vary for any inputs. */
  readonly varying: Node | undefined
  readonly values: readonly number[]
  readonly contents: readonly number[]
}

/** A function's graph, with the information that its callers and the analysis need. */
export interface FunctionGraph {
  readonly fn: IrFunction
  /** The start of control flow. */
  readonly start: Node
  readonly values: readonly Node[]
  readonly contents: readonly (Node | undefined)[]
  /** Nodes that vary by themselves. */
  readonly sources: readonly Node[]
  readonly requirements: readonly Requirement[]
  readonly callSites: readonly CallSite[]
  /** The node at the start of each loop's body. */
  readonly loops: ReadonlyMap<For | Loop, Node>
  readonly result: Dependence
  /** The dependence of the memory that pointer parameters point to when the function returns. */
  readonly outputs: readonly (Dependence | undefined)[]
}

/**
 * Memory that the graph of a function tracks: its variables, and the memory that its pointer parameters point
 * to.
 */
export type Memory = LocalVariable | Parameter

/** The values of memory at one point, layered over those of the surrounding construct. */
export class Values {
  readonly #outer: Values | undefined
  readonly #own = new Map<Memory, Node>()
  /** The memory whose value changed, in order; all layers share the list. */
  readonly log: Memory[]

  constructor(outer?: Values) {
    this.#outer = outer
    this.log = outer?.log ?? []
  }

  get(memory: Memory): Node | undefined {
    for (let values: Values | undefined = this; values !== undefined; values = values.#outer) {
      const node = values.#own.get(memory)
      if (node !== undefined) return node
    }
    return undefined
  }

  set(memory: Memory, node: Node): void {
    this.#own.set(memory, node)
    this.log.push(memory)
  }

  /** The memory that is set here, not in the surrounding construct. */
  get changed(): Iterable<Memory> {
    return this.#own.keys()
  }
}

/** The memory at the root of a place, if the function's graph tracks it. */
export function memoryOf(place: Place): Memory | undefined {
  const root = rootOf(place)
  if (root.kind === 'deref') return root.pointer
  return root.variable.kind === 'local-variable' ? root.variable : undefined
}

/** The memory that a place covers entirely, if any. */
export function wholeOf(place: Place): Memory | undefined {
  return place.kind === 'variable' || place.kind === 'deref' ? memoryOf(place) : undefined
}

/** Which of a function's inputs reach a node. */
export function dependenceOf(
  node: Node,
  values: readonly Node[],
  contents: readonly (Node | undefined)[],
): Dependence {
  const reached = new Set<Node>([node])
  let varying: Node | undefined
  for (const at of reached) {
    if (at.varies !== undefined) varying ??= at
    for (const used of at.uses) reached.add(used)
  }
  const among = (list: readonly (Node | undefined)[]) => [...list.keys()].filter((i) => reached.has(list[i]!))
  return { varying, values: among(values), contents: among(contents) }
}
