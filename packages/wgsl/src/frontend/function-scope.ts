import type { Expression, LocalVariable, Statement, Type } from '../ir.ts'
import type { FunctionNode, Severity } from './ast.ts'
import type { Binding, ReferenceOperand } from './operand.ts'
import { type Declarations, ExpressionScope } from './scopes.ts'

/** The surroundings of a statement, which decide which statements are allowed. */
export interface Surroundings {
  /** The number of loops around the statement, within the innermost continuing block. */
  loops: number
  /** Whether `break` leaves a loop or a switch. */
  breakable: boolean
  /** The severity of the rule `subgroup_uniformity` at the statement. */
  subgroupUniformity: Severity
  /** Whether a continuing block surrounds the statement. */
  continuing: boolean
  /**
   * The names of the innermost loop's body, if it is a `loop`; `visible` is the number of names in scope at
   * the first `continue`.
   */
  loopScope: { readonly names: Map<string, Binding>; visible: number | undefined } | undefined
}

/** The scope of a function body: its names, and the statements that are emitted. */
export class FunctionScope extends ExpressionScope {
  readonly declaration: FunctionNode
  surroundings: Surroundings
  readonly #scopes: Map<string, Binding>[] = [new Map()]
  #statements: Statement[] = []

  constructor(module: Declarations, declaration: FunctionNode) {
    super(module)
    this.declaration = declaration
    this.surroundings = {
      loops: 0,
      breakable: false,
      continuing: false,
      subgroupUniformity: declaration.subgroupUniformity ?? module.subgroupUniformity,
      loopScope: undefined,
    }
  }

  override lookup(name: string): Binding | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const binding = this.#scopes[i]!.get(name)
      if (binding !== undefined) return binding
    }
    return super.lookup(name)
  }

  override isLocal(name: string): boolean {
    return this.#scopes.some((scope) => scope.has(name))
  }

  /** Declares a name in the innermost scope. */
  declare(name: string, at: number, binding: Binding): void {
    const scope = this.#scopes.at(-1)!
    if (scope.has(name)) throw this.error(at, `'${name}' is declared twice in this scope`)
    scope.set(name, binding)
  }

  /** Appends a statement to the block being lowered. */
  emit(statement: Statement): void {
    this.#statements.push(statement)
  }

  /** Runs with a new scope of names. */
  scoped<T>(run: (names: Map<string, Binding>) => T): T {
    const names = new Map<string, Binding>()
    this.#scopes.push(names)
    const result = run(names)
    this.#scopes.pop()
    return result
  }

  /** Collects the statements that `run` emits. */
  collect(run: () => void): Statement[] {
    const outer = this.#statements
    const collected: Statement[] = []
    this.#statements = collected
    run()
    this.#statements = outer
    return collected
  }

  /** Runs with other surroundings. */
  within<T>(surroundings: Partial<Surroundings>, run: () => T): T {
    const outer = this.surroundings
    this.surroundings = { ...outer, ...surroundings }
    const result = run()
    this.surroundings = outer
    return result
  }

  /** Runs with the severity of the rule `subgroup_uniformity` that a node sets, if any. */
  filtered<T>(subgroupUniformity: Severity | undefined, run: () => T): T {
    return subgroupUniformity === undefined ? run() : this.within({ subgroupUniformity }, run)
  }

  override get subgroupUniformity(): Severity {
    return this.surroundings.subgroupUniformity
  }

  /** Records a `continue` of the innermost loop. */
  noteContinue(): void {
    const { loopScope } = this.surroundings
    if (loopScope !== undefined) loopScope.visible ??= loopScope.names.size
  }

  /**
   * Makes the names of a loop's body that some `continue` bypasses unusable. Only the continuing block of the
   * loop comes after this.
   */
  hideBypassed({ names, visible }: NonNullable<Surroundings['loopScope']>): void {
    if (visible === undefined) return
    for (const name of [...names.keys()].slice(visible))
      names.set(name, (at) => {
        throw this.error(
          at,
          `'${name}' is used in a continuing block, but a continue bypasses its declaration`,
        )
      })
  }

  /** The declared return type. */
  get returnType(): Type | undefined {
    return this.module.signature(this.declaration).returnType
  }

  /** Emits a let and declares its name. */
  declareLet(name: string, at: number, value: Expression): void {
    const expression = this.emitLet(name, at, value)
    this.declare(name, at, (use) => ({
      kind: 'runtime',
      type: value.type,
      expression: { ...expression, loc: this.loc(use) },
      at: use,
    }))
  }

  /** Emits a let and returns the expression that reads it. */
  emitLet(name: string, at: number, value: Expression): Expression {
    const loc = this.loc(at)
    const { type } = value
    const variable = { kind: 'let-value' as const, id: this.module.newId(), name, type, loc }
    this.emit({ kind: 'let', variable, value, loc })
    return { kind: 'value', value: variable, type, loc }
  }

  /** Emits a var and declares its name. */
  declareVar(name: string, at: number, type: Type, initial: Expression | undefined): void {
    const loc = this.loc(at)
    const variable: LocalVariable = { kind: 'local-variable', id: this.module.newId(), name, type, loc }
    this.emit({ kind: 'var', variable, initial, loc })
    this.declare(name, at, (use): ReferenceOperand => {
      const place = { kind: 'variable' as const, variable, type, loc: this.loc(use) }
      return { kind: 'reference', type, place, space: 'function', access: 'read_write', at: use }
    })
  }
}
