import type { IrFunction, ModuleVariable } from '../ir.ts'
import type { FunctionNode } from './ast.ts'
import { FunctionLowering } from './function-lowering.ts'
import { maximumSpecialisedLength, specialisationLength } from './limits.ts'
import type { PointerBinding } from './pointer-binding.ts'
import type { Declarations } from './scopes.ts'
import { type Stage, stageOf } from './stages.ts'

/** The use of a feature that only some stages support. */
interface StageUse {
  readonly stages: readonly Stage[]
  /** What is used, as the subject of a sentence. */
  readonly what: string
  readonly at: number
}

/** A lowered function, with the information that is checked for each entry point that reaches it. */
export interface FunctionRecord {
  readonly lowered: IrFunction
  readonly node: FunctionNode
  /** The module variables that the function uses. */
  readonly variables: Set<ModuleVariable>
  /** The functions that the function calls, with the offset of the first call. */
  readonly callees: Map<FunctionRecord, number>
  /** The first use of a feature that only some stages support, for each such list of stages. */
  readonly stageUses: Map<string, StageUse>
}

/** The functions of a module, each lowered once for every binding of its pointer parameters. */
export class FunctionInstances {
  readonly #module: Declarations
  readonly #byKey = new Map<string, FunctionRecord>()
  #pending: { record: FunctionRecord; lowering: FunctionLowering }[] = []
  readonly #records: FunctionRecord[] = []
  /** The characters of all specialisations for pointer arguments (see `specialisationLength`). */
  #specialisedLength = 0
  /** The function whose body is being lowered. */
  #current: FunctionRecord | undefined

  constructor(module: Declarations) {
    this.#module = module
  }

  /**
   * A function, specialized for the bindings of its pointer parameters. Its body is lowered later, by
   * `lowerPending`.
   */
  instantiate(node: FunctionNode, bindings: readonly (PointerBinding | undefined)[], at: number): IrFunction {
    if (stageOf(node) !== undefined)
      throw this.#module.source.error(at, `the entry point '${node.name}' cannot be called`)
    const key = `${node.name}(${bindings.map((b) => b?.key ?? '').join(',')})`
    let record = this.#byKey.get(key)
    if (record === undefined) {
      // Each index on the path to a variable is a parameter.
      const indices = bindings.reduce((count, b) => count + (b?.indexTypes.length ?? 0), 0)
      if (bindings.some((b) => b !== undefined))
        this.#specialisedLength += specialisationLength * (1 + indices / 4) + node.body.end - node.at
      if (this.#specialisedLength > maximumSpecialisedLength) {
        const text = `functions that are specialised for their pointer arguments have more than ${maximumSpecialisedLength} characters`
        throw this.#module.source.error(at, text)
      }
      record = this.#declare(node, bindings)
      this.#byKey.set(key, record)
    }
    if (this.#current !== undefined && !this.#current.callees.has(record))
      this.#current.callees.set(record, at)
    return record.lowered
  }

  /** An entry point. Its body is lowered later, by `lowerPending`. */
  entryPoint(node: FunctionNode): FunctionRecord {
    return this.#declare(node, [])
  }

  #declare(node: FunctionNode, bindings: readonly (PointerBinding | undefined)[]): FunctionRecord {
    const lowering = new FunctionLowering(this.#module, node, bindings)
    const lowered = lowering.declareFunction()
    const record = {
      lowered,
      node,
      variables: new Set<ModuleVariable>(),
      callees: new Map(),
      stageUses: new Map(),
    }
    this.#records.push(record)
    this.#pending.push({ record, lowering })
    return record
  }

  /**
   * Lowers the bodies of all functions declared so far and of those that they call, each through `attempt`.
   */
  lowerPending(attempt: (lowerBody: () => void) => void = (lowerBody) => lowerBody()): void {
    while (this.#pending.length > 0) {
      const pending = this.#pending
      this.#pending = []
      for (const { record, lowering } of pending) {
        this.#current = record
        attempt(() => lowering.lowerBody())
      }
    }
    this.#current = undefined
  }

  /** Records that the current function uses a variable. */
  noteVariable(variable: ModuleVariable, at: number): void {
    this.#current?.variables.add(variable)
    const { space, access, name } = variable
    if (space === 'workgroup') this.noteStages(['compute'], `the workgroup variable '${name}'`, at)
    else if (space === 'storage' && access === 'read_write')
      this.noteStages(['compute', 'fragment'], `the read_write storage variable '${name}'`, at)
  }

  /** Records that the current function uses a feature that only the `allowed` stages support. */
  noteStages(stages: readonly Stage[], what: string, at: number): void {
    const key = stages.join()
    const uses = this.#current?.stageUses
    if (uses?.has(key) === false) uses.set(key, { stages, what, at })
  }

  /** All functions lowered so far, callees first. */
  inCallOrder(): FunctionRecord[] {
    const done = new Set<FunctionRecord>()
    const order: FunctionRecord[] = []
    for (const record of this.#records) {
      for (const reached of this.reachableFrom(record, done)) order.push(reached)
    }
    return order
  }

  /**
   * A function and all functions that it calls, callees first, without those in `done`. Throws if a function
   * calls itself.
   */
  reachableFrom(root: FunctionRecord, done = new Set<FunctionRecord>()): FunctionRecord[] {
    const order: FunctionRecord[] = []
    const open = new Set<FunctionRecord>()
    const stack = [{ record: root, callees: root.callees.entries() }]
    if (done.has(root)) return order
    open.add(root)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.callees.next()
      if (next.done) {
        stack.pop()
        open.delete(top.record)
        done.add(top.record)
        order.push(top.record)
        continue
      }
      const [callee, at] = next.value
      if (open.has(callee))
        throw this.#module.source.error(at, `the function '${callee.node.name}' calls itself`)
      if (done.has(callee)) continue
      open.add(callee)
      stack.push({ record: callee, callees: callee.callees.entries() })
    }
    return order
  }
}
