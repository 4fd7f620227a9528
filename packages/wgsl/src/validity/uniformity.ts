import { builtinFacts } from '../builtin-functions.ts'
import type { BuiltinCall, For, IrFunction, IrModule, Location, Loop } from '../ir.ts'
import { containsSubgroupMatrix } from '../type-property.ts'
import { some } from '../walk.ts'
import { buildGraph } from './statement-uniformity.ts'
import type { CallSite, FunctionGraph, Node, UniformityScope } from './uniformity-graph.ts'

/**
 * A collective call that some invocations of its group may skip, or make with different values of an argument
 * that must be uniform.
 */
export interface Divergence {
  /** Undefined where a value with subgroup matrices is made. */
  readonly call: BuiltinCall | undefined
  /** The argument, counted from 0, that must be uniform; undefined if control flow must be. */
  readonly argument: number | undefined
  /** The location of the call or argument. */
  readonly loc: Location
  /** The reason: a clause that names the source of the divergence and the lines. */
  readonly reason: string
}

/** Why a node is not uniform: the value that varies, and what is between the two. */
interface Cause {
  readonly source: Node
  /** The branch closest to the source. */
  readonly branch: Node | undefined
  /** The call closest to the node that passes the difference to its function. */
  readonly call: CallSite | undefined
}

/**
 * Finds the collective calls of one scope that WGSL's uniformity analysis does not prove uniform, including
 * filtered ones: barriers at workgroup scope, subgroup and quad operations at subgroup scope. `functions`
 * lists callees before callers and includes all callees.
 */
function findDivergence(functions: readonly IrFunction[], scope: UniformityScope): Divergence[] {
  if (!functions.some((fn) => requires(fn, scope))) return []
  const { graphs, causes } = findCauses(functions, scope)
  const found: Divergence[] = []
  for (const { requirements } of graphs.values()) {
    for (const { call, argument, loc, node } of requirements) {
      const cause = causes.get(node)
      if (cause !== undefined) found.push({ call, argument, loc, reason: reasonOf(cause) })
    }
  }
  return found
}

/** The graphs of functions, and the cause for each of their nodes that is not uniform in the scope. */
function findCauses(functions: readonly IrFunction[], scope: UniformityScope) {
  const graphs = new Map<IrFunction, FunctionGraph>()
  for (const fn of functions)
    graphs.set(
      fn,
      buildGraph(fn, scope, (callee) => graphs.get(callee)!),
    )
  const causes = new Map<Node, Cause>()
  // Callers come first, so that the arguments of a function are known before it is visited.
  for (const graph of [...graphs.values()].reverse()) {
    spread(graph, causes)
    for (const site of graph.callSites) passOn(site, graphs.get(site.call.function)!, causes)
  }
  return { graphs, causes }
}

/**
 * The loops whose iterations the invocations of a subgroup execute together: each iteration starts in uniform
 * control flow.
 */
export function findUniformLoops(module: IrModule): ReadonlySet<For | Loop> {
  const { graphs, causes } = findCauses(module.functions, 'subgroup')
  const uniform = new Set<For | Loop>()
  for (const { loops } of graphs.values())
    for (const [loop, node] of loops) if (!causes.has(node)) uniform.add(loop)
  return uniform
}

/**
 * Checks functions against the uniformity rules. `error` creates the error to throw; `warn` records
 * violations that a `diagnostic` filter does not treat as errors.
 */
export function checkUniformity(
  functions: readonly IrFunction[],
  error: (loc: Location, text: string) => Error,
  warn: (severity: 'warning' | 'info', loc: Location, text: string) => void,
): void {
  for (const scope of ['workgroup', 'subgroup'] as const) {
    const found = findDivergence(functions, scope)
    const wrong = found.find(({ call }) => call?.filtered === undefined)
    if (wrong !== undefined) throw error(wrong.loc, textOf(wrong, scope))
    for (const divergence of found) {
      const filtered = divergence.call?.filtered
      if (filtered === 'warning' || filtered === 'info')
        warn(filtered, divergence.loc, textOf(divergence, scope))
    }
  }
}

function textOf({ call, argument, reason }: Divergence, scope: UniformityScope): string {
  const where = scope === 'workgroup' ? 'the workgroup' : 'the subgroup'
  const rule =
    call === undefined
      ? `subgroup matrices must be made in uniform control flow of ${where}`
      : argument === undefined
        ? `${call.name} must be called in uniform control flow of ${where}`
        : `argument ${argument + 1} of ${call.name} must be uniform in ${where}`
  return `${rule}, but ${reason}`
}

/**
 * The subgroup operations in divergent control flow. Only filtered operations can be there; the others were
 * checked when the module was lowered.
 */
export function findDivergentCalls(module: IrModule): ReadonlySet<BuiltinCall> {
  if (!some(module, (e) => e.kind === 'builtin-call' && e.filtered !== undefined)) return new Set()
  const found = findDivergence(module.functions, 'subgroup').filter((d) => d.argument === undefined)
  return new Set(found.flatMap((d) => d.call ?? []))
}

function requires(fn: IrFunction, scope: UniformityScope): boolean {
  return some(fn, (part) => {
    if (part.kind === 'builtin-call') return builtinFacts[part.name].together === scope
    const type = part.kind === 'var' ? part.variable.type : 'type' in part ? part.type : undefined
    return scope === 'subgroup' && type !== undefined && containsSubgroupMatrix(type)
  })
}

/**
 * Marks the nodes of a graph that are not uniform, with their causes, starting from the nodes that vary and
 * those that are already marked.
 */
function spread(graph: FunctionGraph, causes: Map<Node, Cause>): void {
  const users = usersIn(graph)
  const inputs = [graph.start, ...graph.values, ...graph.contents]
  const marked = inputs.filter((node) => node !== undefined && causes.has(node)) as Node[]
  for (const node of graph.sources) {
    causes.set(node, { source: node, branch: undefined, call: undefined })
    marked.push(node)
  }
  for (const node of marked) {
    const cause = causes.get(node)!
    for (const user of users.get(node) ?? []) {
      if (causes.has(user)) continue
      const branch = cause.branch ?? (user.branch === undefined ? undefined : user)
      causes.set(user, { ...cause, branch })
      marked.push(user)
    }
  }
}

/** Maps each node that requirements, calls or loops depend on to the nodes that use it. */
function usersIn({ requirements, callSites, loops }: FunctionGraph): Map<Node, Node[]> {
  const users = new Map<Node, Node[]>()
  const reached = new Set<Node>(loops.values())
  for (const { node } of requirements) reached.add(node)
  for (const { flow, values, contents } of callSites)
    for (const node of [flow, ...values, ...contents]) if (node !== undefined) reached.add(node)
  for (const node of reached) {
    for (const used of node.uses) {
      const list = users.get(used)
      if (list === undefined) users.set(used, [node])
      else list.push(node)
      reached.add(used)
    }
  }
  return users
}

/** Marks parameters of the callee whose arguments are not uniform at a call. */
function passOn(call: CallSite, callee: FunctionGraph, causes: Map<Node, Cause>): void {
  const pass = (from: Node | undefined, to: Node | undefined) => {
    const cause = from && causes.get(from)
    if (cause !== undefined && to !== undefined && !causes.has(to)) causes.set(to, { ...cause, call })
  }
  pass(call.flow, callee.start)
  for (const [i, value] of call.values.entries()) pass(value, callee.values[i])
  for (const [i, contents] of call.contents.entries()) pass(contents, callee.contents[i])
}

/** The clause that names the cause of a node. */
function reasonOf({ source, branch, call }: Cause): string {
  const called =
    call === undefined ? '' : `in the call of ${call.call.function.name} in line ${call.call.loc.line}, `
  const around = branch === undefined ? 'it' : `the ${branch.branch} in line ${branch.loc!.line}`
  return `${called}${around} depends on ${source.varies} (line ${source.loc!.line})`
}
