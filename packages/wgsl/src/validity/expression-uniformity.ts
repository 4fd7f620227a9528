import { builtinFacts } from '../builtin-functions.ts'
import type {
  BuiltinCall,
  BuiltinValue,
  Call,
  Evaluated,
  LetValue,
  Location,
  Parameter,
  Place,
  Type,
} from '../ir.ts'
import { containsSubgroupMatrix } from '../type-property.ts'
import { moduleVariableOf, operandsOf, rootOf } from '../walk.ts'
import {
  type CallSite,
  type Dependence,
  type FunctionGraph,
  memoryOf,
  type Node,
  type Requirement,
  type UniformityScope,
  Values,
  wholeOf,
} from './uniformity-graph.ts'

/** The built-in values that are the same for all invocations of a workgroup. */
const workgroupUniformValues: ReadonlySet<BuiltinValue> = new Set<BuiltinValue>([
  ...(['workgroup_id', 'num_workgroups', 'subgroup_size', 'num_subgroups'] as const),
])

/** Builds the nodes of expressions, and collects the function's calls and requirements. */
export class ExpressionGraph {
  readonly scope: UniformityScope
  readonly sources: Node[] = []
  readonly requirements: Requirement[] = []
  readonly callSites: CallSite[] = []
  /** The nodes of parameters and lets. */
  readonly named = new Map<Parameter | LetValue, Node>()
  /** The values of memory at the point that the graph has reached. */
  memory = new Values()
  readonly #graphOf: (fn: Call['function']) => FunctionGraph

  constructor(scope: UniformityScope, graphOf: (fn: Call['function']) => FunctionGraph) {
    this.scope = scope
    this.#graphOf = graphOf
  }

  /** A parameter's node. */
  parameter(parameter: Parameter): Node {
    const { builtin, isRenderInput, name, loc } = parameter
    let node: Node = { uses: [] }
    if (isRenderInput) node = this.varying(`the input '${name}'`, loc)
    else if (builtin !== undefined) {
      const isUniform =
        workgroupUniformValues.has(builtin) || (builtin === 'subgroup_id' && this.scope === 'subgroup')
      if (!isUniform)
        node = this.varying(`the built-in value ${builtin}${name === builtin ? '' : ` in '${name}'`}`, loc)
    }
    this.named.set(parameter, node)
    return node
  }

  varying(varies: string, loc: Location): Node {
    const node: Node = { uses: [], varies, loc }
    this.sources.push(node)
    return node
  }

  /** The node where the branches of a construct diverge. */
  branch(branch: string, loc: Location, condition: Node): Node {
    return { uses: [condition], branch, loc }
  }

  /** The node of an expression's value, evaluated at `flow`. */
  expression(e: Evaluated, flow: Node): Node {
    switch (e.kind) {
      case 'literal':
      case 'constant':
        return flow
      case 'zero':
        this.made(e.type, e.loc, flow)
        return flow
      case 'value': {
        return { uses: [flow, this.named.get(e.value)!] }
      }
      case 'splat':
      case 'convert':
      case 'bitcast':
      case 'unary':
        return this.expression(e.value, flow)
      case 'member':
      case 'swizzle':
        return this.expression(e.base, flow)
      case 'index':
        return { uses: [this.expression(e.base, flow), this.expression(e.index, flow)] }
      case 'binary':
        return { uses: [this.expression(e.left, flow), this.expression(e.right, flow)] }
      case 'logical': {
        const branch = this.branch(`'${e.operator}'`, e.loc, this.expression(e.left, flow))
        return this.#maybe(() => this.expression(e.right, branch))
      }
      case 'construct':
        this.made(e.type, e.loc, flow)
        return { uses: [flow, ...e.args.map((argument) => this.expression(argument, flow))] }
      case 'load':
        return this.#load(e.place, flow)
      case 'address-of':
        return this.#pointer(e.place, flow)
      case 'builtin-call':
        return this.#builtinCall(e, flow)
      case 'call':
        return this.#call(e, flow)
    }
  }

  /** The node of a part that may be skipped: memory that it changes may also keep its previous value. */
  #maybe(evaluate: () => Node): Node {
    const before = this.memory
    const after = new Values(before)
    this.memory = after
    const node = evaluate()
    this.memory = before
    for (const memory of after.changed)
      before.set(memory, { uses: [before.get(memory)!, after.get(memory)!] })
    return node
  }

  /** The node of the memory that a place refers to: its indices, and the pointer at its root. */
  #pointer(place: Place, flow: Node): Node {
    const root = rootOf(place)
    const uses = [flow, ...operandsOf(place).map((e) => this.expression(e, flow))]
    if (root.kind === 'deref') uses.push(this.named.get(root.pointer)!)
    return { uses }
  }

  #load(place: Place, flow: Node): Node {
    const pointer = this.#pointer(place, flow)
    const memory = memoryOf(place)
    if (memory !== undefined) return { uses: [pointer, this.memory.get(memory)!] }
    const { space, name, access } = moduleVariableOf(place)!
    if (access === 'read') return pointer
    const kind = space === 'storage' ? 'read_write storage' : space
    const isPointed = rootOf(place).parameter !== undefined
    const what = isPointed ? `${kind} memory behind a pointer` : `the ${kind} variable '${name}'`
    return this.varying(what, place.loc)
  }

  #builtinCall(e: BuiltinCall, flow: Node): Node {
    const { name, loc } = e
    const { together, uniformArguments = [], varies } = builtinFacts[name]
    const args = e.args.map((argument) => this.expression(argument, flow))
    if (together === this.scope) {
      this.#require(e, undefined, flow)
      for (const [i, argument] of args.entries())
        if (uniformArguments === 'all' || uniformArguments.includes(i)) this.#require(e, i, argument)
    }
    if (varies === 'never') return flow
    return varies === 'everywhere' || varies === `in the ${this.scope}`
      ? this.varying(`the result of ${name}`, loc)
      : { uses: [flow, ...args] }
  }

  #require(call: BuiltinCall, argument: number | undefined, node: Node): void {
    const { loc } = argument === undefined ? call : call.args[argument]!
    this.requirements.push({ call, argument, loc, node })
  }

  /** Notes that a value is made, which is a collective operation if it has subgroup matrices. */
  made(type: Type, loc: Location, node: Node): void {
    if (this.scope === 'subgroup' && containsSubgroupMatrix(type))
      this.requirements.push({ call: undefined, argument: undefined, loc, node })
  }

  #call(e: Call, flow: Node): Node {
    const callee = this.#graphOf(e.function)
    const values = e.args.map((argument) => this.expression(argument, flow))
    const contents = e.args.map((argument, i) => {
      const memory = argument.kind === 'address-of' ? memoryOf(argument.place) : undefined
      return memory && { uses: [values[i]!, this.memory.get(memory)!] }
    })
    this.callSites.push({ call: e, flow, values, contents })
    const dependent = ({ varying, values: v, contents: c }: Dependence): Node => {
      const uses = [flow, ...v.map((i) => values[i]!), ...c.map((i) => contents[i]!)]
      if (varying !== undefined) uses.push(this.varying(varying.varies!, varying.loc!))
      return { uses }
    }
    for (const [i, argument] of e.args.entries()) {
      const output = callee.outputs[i]
      if (argument.kind !== 'address-of' || output === undefined) continue
      const memory = memoryOf(argument.place)!
      const node = dependent(output)
      // A store to a part leaves the rest unchanged.
      if (memory !== wholeOf(argument.place)) node.uses.push(this.memory.get(memory)!)
      this.memory.set(memory, node)
    }
    return dependent(callee.result)
  }
}
