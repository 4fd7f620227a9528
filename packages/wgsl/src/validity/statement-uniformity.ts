import type { Block, For, If, IrFunction, Loop, Parameter, Place, Statement, Switch } from '../ir.ts'
import { operandsOf, walk } from '../walk.ts'
import { type Behaviour, findBehaviours } from './behaviour.ts'
import { ExpressionGraph } from './expression-uniformity.ts'
import {
  dependenceOf,
  type FunctionGraph,
  type Memory,
  memoryOf,
  type Node,
  type UniformityScope,
  Values,
  wholeOf,
} from './uniformity-graph.ts'

/** A loop or switch around a statement, with the values at the entries and exits of its parts. */
interface Construct {
  readonly kind: 'loop' | 'switch'
  /** Memory that is changed in the construct and outlives it. */
  readonly carried: readonly Memory[]
  readonly exits: ReadonlyMap<Memory, Node>
  /** Values at the start of an iteration. */
  readonly entries: ReadonlyMap<Memory, Node>
  /** Values that reach the continuing part through `continue`. */
  readonly continued: Map<Memory, Node>
  /** Memory that is changed in the construct, whether or not it outlives it. */
  readonly changing: ReadonlySet<Memory>
  /** The length of the log of values at the last exit, and at the last `continue`. */
  exited?: number
  skipped?: number
}

/**
 * Builds the graph of a function by the rules of WGSL, section "Uniformity". `graphOf` returns the graphs of
 * the functions that it calls.
 */
export function buildGraph(
  fn: IrFunction,
  scope: UniformityScope,
  graphOf: (fn: IrFunction) => FunctionGraph,
): FunctionGraph {
  return new StatementGraph(fn, scope, graphOf).build()
}

class StatementGraph extends ExpressionGraph {
  readonly #fn: IrFunction
  readonly #behaviour: (statement: Statement) => Behaviour
  readonly #start: Node = { uses: [] }
  readonly #result: Node = { uses: [] }
  readonly #outputs = new Map<Parameter, Node>()
  readonly #constructs: Construct[] = []
  readonly #loops = new Map<For | Loop, Node>()

  constructor(fn: IrFunction, scope: UniformityScope, graphOf: (fn: IrFunction) => FunctionGraph) {
    super(scope, graphOf)
    this.#fn = fn
    this.#behaviour = findBehaviours(fn)
  }

  build(): FunctionGraph {
    const fn = this.#fn
    const values = fn.parameters.map((p) => this.parameter(p))
    const contents = fn.parameters.map((p) => {
      if (p.type.kind !== 'pointer') return undefined
      const node: Node = { uses: [] }
      this.memory.set(p, node)
      this.#outputs.set(p, { uses: [] })
      return node
    })
    this.#block(fn.body, this.#start)
    this.#leave()
    const dependence = (node: Node) => dependenceOf(node, values, contents)
    return {
      fn,
      start: this.#start,
      values,
      contents,
      sources: this.sources,
      requirements: this.requirements,
      callSites: this.callSites,
      loops: this.#loops,
      result: dependence(this.#result),
      outputs: fn.parameters.map((p) => {
        const output = this.#outputs.get(p)
        return output && dependence(output)
      }),
    }
  }

  /** Adds statements in order and returns the control flow after them. Unreachable statements are skipped. */
  #block(block: Block, flow: Node): Node {
    let at = flow
    for (const statement of block.statements) {
      at = this.#statement(statement, at)
      if (!this.#behaviour(statement).next) break
    }
    return at
  }

  #statement(statement: Statement, flow: Node): Node {
    switch (statement.kind) {
      case 'block':
        return this.#block(statement, flow)
      case 'let':
        this.named.set(statement.variable, this.expression(statement.value, flow))
        return flow
      case 'var': {
        const { variable, initial, loc } = statement
        if (initial === undefined) this.made(variable.type, loc, flow)
        this.memory.set(variable, initial === undefined ? flow : this.expression(initial, flow))
        return flow
      }
      case 'assign':
      case 'compound-assign':
        this.#assign(statement, flow)
        return flow
      case 'evaluate':
        this.expression(statement.value, flow)
        return flow
      case 'if':
        return this.#if(statement, flow)
      case 'switch':
        return this.#switch(statement, flow)
      case 'loop':
        return this.#loop(statement, flow)
      case 'for':
        return this.#for(statement, flow)
      case 'break':
        this.#leaveConstruct(this.#constructs.at(-1)!)
        return flow
      case 'continue':
        this.#continue()
        return flow
      case 'return':
        if (statement.value !== undefined) this.#result.uses.push(this.expression(statement.value, flow))
        this.#leave()
        return flow
    }
  }

  /**
   * The function returns here: its caller sees the current content of the memory that its pointers point to.
   */
  #leave(): void {
    for (const [parameter, output] of this.#outputs) output.uses.push(this.memory.get(parameter)!)
  }

  #assign(statement: Extract<Statement, { kind: 'assign' | 'compound-assign' }>, flow: Node): void {
    const { target, value } = statement
    const memory = memoryOf(target)
    const uses = operandsOf(target).map((e) => this.expression(e, flow))
    if (memory !== undefined && statement.kind === 'compound-assign') uses.push(this.memory.get(memory)!)
    uses.push(this.expression(value, flow))
    if (memory === undefined) return
    // A store to a part leaves the rest unchanged.
    if (memory !== wholeOf(target)) uses.push(this.memory.get(memory)!)
    if (memory.kind === 'parameter') uses.push(this.named.get(memory)!)
    this.memory.set(memory, { uses })
  }

  /**
   * Runs a part with its own values of memory on top of the current ones; returns the flow after it and its
   * values.
   */
  #part(run: () => Node): { flow: Node; values: Values } {
    const outer = this.memory
    const values = new Values(outer)
    this.memory = values
    const flow = run()
    this.memory = outer
    for (const memory of values.changed) outer.log.push(memory)
    return { flow, values }
  }

  #if(statement: If, flow: Node): Node {
    const branch = this.branch('if', statement.loc, this.expression(statement.condition, flow))
    const { otherwise } = statement
    const parts = [
      { ...this.#part(() => this.#block(statement.then, branch)), ...this.#behaviour(statement.then) },
      ...(otherwise
        ? [{ ...this.#part(() => this.#block(otherwise, branch)), ...this.#behaviour(otherwise) }]
        : [{ flow: undefined, values: new Values(this.memory), next: true }]),
    ]
    const changed = new Set(parts.flatMap((part) => [...part.values.changed]))
    const merged = [...changed].map((memory): [Memory, Node] => {
      const sources = parts.filter((part) => part.next).map((part) => part.values.get(memory))
      return [memory, { uses: sources.filter((node) => node !== undefined) }]
    })
    for (const [memory, node] of merged) this.memory.set(memory, node)
    if (endsNormally(this.#behaviour(statement))) return flow
    return { uses: parts.map((part) => part.flow).filter((node) => node !== undefined) }
  }

  #switch(statement: Switch, flow: Node): Node {
    const branch = this.branch('switch', statement.loc, this.expression(statement.selector, flow))
    const construct = this.#construct('switch', statement)
    const ends: Node[] = []
    this.#constructs.push(construct)
    for (const { body } of statement.clauses) {
      const end = this.#part(() => {
        const after = this.#block(body, branch)
        if (this.#behaviour(body).next) this.#leaveConstruct(construct)
        return after
      })
      ends.push(end.flow)
    }
    this.#constructs.pop()
    for (const [memory, node] of construct.exits) this.memory.set(memory, node)
    return endsNormally(this.#behaviour(statement)) ? flow : { uses: ends }
  }

  /**
   * Sets up a loop or switch. An iteration of a loop starts with the values before the loop or after the
   * previous iteration.
   */
  #construct(kind: Construct['kind'], statement: Statement): Construct {
    const changing = changedIn(statement)
    const carried = [...changing].filter((memory) => this.memory.get(memory) !== undefined)
    const entries = new Map<Memory, Node>()
    if (kind === 'loop') {
      for (const memory of carried) {
        const node: Node = { uses: [this.memory.get(memory)!] }
        entries.set(memory, node)
        this.memory.set(memory, node)
      }
    }
    const exits = new Map(carried.map((memory): [Memory, Node] => [memory, { uses: [] }]))
    return { kind, carried, exits, entries, continued: new Map(), changing }
  }

  #leaveConstruct(construct: Construct): void {
    const { exits, exited } = construct
    for (const memory of this.#changedSince(exited, exits.keys()))
      exits.get(memory)?.uses.push(this.memory.get(memory)!)
    construct.exited = this.memory.log.length
  }

  /** The memory whose value changed since the log had a length, or `all` if it had none. */
  #changedSince(length: number | undefined, all: Iterable<Memory>): Iterable<Memory> {
    if (length === undefined) return all
    const { log } = this.memory
    const changed = new Set<Memory>()
    for (let i = length; i < log.length; i++) changed.add(log[i]!)
    return changed
  }

  #nextIteration({ entries }: Construct): void {
    for (const [memory, node] of entries) {
      const now = this.memory.get(memory)!
      if (now !== node) node.uses.push(now)
    }
  }

  #continue(): void {
    const construct = this.#constructs.findLast((c) => c.kind === 'loop')!
    const { continued, changing, skipped } = construct
    for (const memory of this.#changedSince(skipped, changing)) {
      const now = this.memory.get(memory)
      if (now === undefined) continue
      const known = continued.get(memory)
      if (known === undefined) continued.set(memory, { uses: [now] })
      else known.uses.push(now)
    }
    construct.skipped = this.memory.log.length
  }

  /** Sets the values at the start of a continuing part: those at the body's end and at each `continue`. */
  #startContinuing({ continued }: Construct, bodyEnds: boolean): void {
    for (const [memory, node] of continued) {
      const now = this.memory.get(memory)
      if (bodyEnds && now !== undefined) node.uses.push(now)
      this.memory.set(memory, node)
    }
  }

  /** Sets the values after a construct: those at its exits. */
  #endConstruct(construct: Construct): void {
    this.#constructs.pop()
    for (const [memory, node] of construct.exits) this.memory.set(memory, node)
  }

  #loop(statement: Loop, flow: Node): Node {
    const { body, continuing, breakIf } = statement
    const construct = this.#construct('loop', statement)
    const iteration: Node = { uses: [flow] }
    this.#loops.set(statement, iteration)
    const { next, continue: continues } = this.#behaviour(body)
    this.#constructs.push(construct)
    const end = this.#part(() => {
      let at = this.#block(body, iteration)
      if (!next && !continues) return at
      this.#startContinuing(construct, next)
      if (continuing !== undefined) at = this.#block(continuing, at)
      if (breakIf !== undefined) {
        at = this.branch('break if', breakIf.loc, this.expression(breakIf, at))
        this.#leaveConstruct(construct)
      }
      this.#nextIteration(construct)
      return at
    })
    if (next || continues) iteration.uses.push(end.flow)
    this.#endConstruct(construct)
    return this.#behaviour(statement).return ? end.flow : flow
  }

  #for(statement: For, flow: Node): Node {
    const { keyword, initial, condition, update, body, loc } = statement
    const before = initial === undefined ? flow : this.#statement(initial, flow)
    const construct = this.#construct('loop', { ...statement, initial: undefined })
    const iteration: Node = { uses: [before] }
    const behaviour = this.#behaviour(body)
    this.#constructs.push(construct)
    const end = this.#part(() => {
      let at = iteration
      if (condition !== undefined) {
        at = this.branch(keyword, loc, this.expression(condition, iteration))
        this.#leaveConstruct(construct)
      }
      this.#loops.set(statement, at)
      at = this.#block(body, at)
      if (!behaviour.next && !behaviour.continue) return at
      this.#startContinuing(construct, behaviour.next)
      if (update !== undefined) at = this.#statement(update, at)
      this.#nextIteration(construct)
      return at
    })
    // Dawn distinguishes `for` and `while` here.
    const repeats = keyword === 'while' || behaviour.next || behaviour.continue
    if (repeats) iteration.uses.push(end.flow)
    this.#endConstruct(construct)
    if (!behaviour.return) return flow
    return repeats ? iteration : end.flow
  }
}

/** Whether a statement can end only by continuing with the next one. */
function endsNormally(behaviour: Behaviour): boolean {
  return behaviour.next && !behaviour.break && !behaviour.continue && !behaviour.return
}

/** The memory that a statement can change. */
function changedIn(statement: Statement): ReadonlySet<Memory> {
  const changed = new Set<Memory>()
  const note = (place: Place) => {
    const memory = memoryOf(place)
    if (memory !== undefined) changed.add(memory)
  }
  walk(statement, {
    statement(s) {
      if (s.kind === 'assign' || s.kind === 'compound-assign') note(s.target)
    },
    expression(e) {
      if (e.kind === 'call')
        for (const argument of e.args) if (argument.kind === 'address-of') note(argument.place)
    },
  })
  return changed
}
