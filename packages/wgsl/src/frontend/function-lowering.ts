import type {
  Block,
  BuiltinValue,
  Expression,
  IrFunction,
  LocalVariable,
  Location,
  Parameter,
  Place,
  Statement,
  Type,
} from '../ir.ts'
import { typeName } from '../types.ts'
import { checkBehaviours } from '../validity/behaviour.ts'
import type { AttributeNode, BlockNode, FunctionNode, Severity } from './ast.ts'
import { builtinValues } from './builtin-values.ts'
import { ExpressionLowering } from './expression-lowering.ts'
import type { Binding, ReferenceOperand } from './operand.ts'
import { type PointerBinding, throughParameter } from './pointer-binding.ts'
import type { Declarations, FunctionScope, Surroundings } from './scopes.ts'
import { stageOf } from './stages.ts'
import { lowerStatements } from './statements.ts'

/** Lowers one function. */
export class FunctionLowering extends ExpressionLowering implements FunctionScope {
  readonly declaration: FunctionNode
  surroundings: Surroundings
  readonly #bindings: readonly (PointerBinding | undefined)[]
  readonly #scopes: Map<string, Binding>[] = []
  readonly #builtins = new Set<string>()
  readonly #parameters: Parameter[] = []
  #statements: Statement[] = []
  #function: { -readonly [K in keyof IrFunction]: IrFunction[K] } | undefined

  constructor(
    module: Declarations,
    declaration: FunctionNode,
    bindings: readonly (PointerBinding | undefined)[],
  ) {
    super(module)
    this.declaration = declaration
    this.#bindings = bindings
    this.surroundings = {
      loops: 0,
      breakable: false,
      continuing: false,
      subgroupUniformity: declaration.subgroupUniformity ?? module.subgroupUniformity,
      loopScope: undefined,
      bypassed: undefined,
    }
  }

  override lookup(name: string): Binding | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const scope = this.#scopes[i]!
      const binding = scope.get(name)
      if (binding === undefined) continue
      const { bypassed } = this.surroundings
      if (bypassed?.names !== scope || !bypassed.hidden.has(name)) return binding
      return (at) => {
        throw this.error(
          at,
          `'${name}' is used in a continuing block, but a continue bypasses its declaration`,
        )
      }
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
  scoped<T>(run: (names: ReadonlyMap<string, Binding>) => T): T {
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

  /** Runs where a node sets the severity of the rule `subgroup_uniformity`, if it does. */
  filtered<T>(subgroupUniformity: Severity | undefined, run: () => T): T {
    return subgroupUniformity === undefined ? run() : this.within({ subgroupUniformity }, run)
  }

  override get subgroupUniformity(): Severity {
    return this.surroundings.subgroupUniformity
  }

  /** Notes a `continue` of the innermost loop. */
  noteContinue(): void {
    const { loopScope } = this.surroundings
    if (loopScope !== undefined) loopScope.visible ??= loopScope.names.size
  }

  /** The names that some `continue` of a loop bypassed. */
  bypassedBy({ names, visible }: NonNullable<Surroundings['loopScope']>): Surroundings['bypassed'] {
    return visible === undefined ? undefined : { names, hidden: new Set([...names.keys()].slice(visible)) }
  }

  /** Lowers a block with its own scope. */
  block(node: BlockNode): Block {
    const statements = this.collect(() =>
      this.scoped(() => this.filtered(node.subgroupUniformity, () => lowerStatements(this, node.statements))),
    )
    return { kind: 'block', statements, loc: this.loc(node.at) }
  }

  /** The declared return type. */
  get returnType(): Type | undefined {
    return this.module.signature(this.declaration).returnType
  }

  /**
   * The function with its parameters, so that it can be called; its body stays empty until `lowerBody`. That functions are not
   * lowered inside one another keeps a long chain of calls from using up the stack.
   */
  declareFunction(): IrFunction {
    const { name, at } = this.declaration
    const { returnType } = this.module.signature(this.declaration)
    this.#scopes.push(new Map())
    const loc = this.loc(at)
    if (stageOf(this.declaration) === undefined) this.#declareParameters()
    const body: Block = { kind: 'block', statements: [], loc }
    this.#function = { kind: 'function', id: -1, name, parameters: this.#parameters, returnType, body, loc }
    return this.#function
  }

  /** Lowers the body of the declared function. */
  lowerBody(): void {
    const made = this.#function!
    const stage = stageOf(this.declaration)
    const prologue = this.collect(() => {
      if (stage === 'compute') this.#entryPoint()
      else if (stage !== undefined) this.#renderStage()
    })
    const body = this.#body(this.declaration.body)
    made.id = this.module.newId()
    made.body = { ...body, statements: [...prologue, ...body.statements] }
    this.#scopes.pop()
    const { source } = this.module
    checkBehaviours(made, this.loc(this.declaration.body.end), (loc, text) => source.errorAt(loc, text))
  }

  #declareParameters(): void {
    const { declaration } = this
    const signature = this.module.signature(declaration)
    for (const attribute of declaration.attributes) {
      if (attribute.name !== 'must_use' || signature.returnType === undefined)
        throw this.error(attribute.at, `@${attribute.name} does not apply to this function`)
    }
    for (const attribute of declaration.returnAttributes)
      throw this.error(attribute.at, `@${attribute.name} applies to results of entry points only`)
    for (const [i, node] of declaration.parameters.entries()) {
      for (const attribute of node.attributes) {
        throw this.error(attribute.at, `@${attribute.name} applies to parameters of entry points only`)
      }
      this.#declareParameter(i, signature.parameters[i]!)
    }
  }

  #newParameter(name: string, type: Type, builtin: BuiltinValue | undefined, loc: Location): Parameter {
    const parameter: Parameter = { kind: 'parameter', id: this.module.newId(), name, type, builtin, loc }
    this.#parameters.push(parameter)
    return parameter
  }

  #declareParameter(position: number, type: Type): void {
    const { name, at } = this.declaration.parameters[position]!
    const binding = this.#bindings[position]
    const make = (made: string, type: Type) => this.#newParameter(made, type, undefined, this.loc(at))
    if (type.kind !== 'pointer') {
      const parameter = make(name, type)
      this.declare(name, at, (use) => {
        const expression: Expression = { kind: 'value', value: parameter, type, loc: this.loc(use) }
        return { kind: 'runtime', type, expression, at: use }
      })
    } else if (binding !== undefined) {
      const indices = binding.indexTypes.map((t, i) => make(`${name}_index${i === 0 ? '' : i}`, t))
      const place = throughParameter(binding.place(indices), position)
      this.declare(name, at, (use) => ({ kind: 'pointer', type, place, at: use }))
    } else {
      const pointer = make(name, type)
      this.declare(name, at, (use) => {
        const place: Place = {
          kind: 'deref',
          pointer,
          parameter: position,
          type: type.store,
          loc: this.loc(use),
        }
        return { kind: 'pointer', type, place, at: use }
      })
    }
  }

  /** The body shares its scope with the parameters. */
  #body(node: BlockNode): Block {
    const statements = this.collect(() =>
      this.filtered(node.subgroupUniformity, () => lowerStatements(this, node.statements)),
    )
    return { kind: 'block', statements, loc: this.loc(node.at) }
  }

  /** Each built-in value becomes a parameter; structures are built from them. */
  #entryPoint(): void {
    const { attributes, returnType } = this.declaration
    const mustUse = attributes.find((a) => a.name === 'must_use')
    if (mustUse !== undefined) throw this.error(mustUse.at, '@must_use does not apply to an entry point')
    if (returnType !== undefined) throw this.error(returnType.at, 'a compute entry point returns nothing')
    for (const node of this.declaration.parameters) this.#entryParameter(node)
  }

  /** Entry points of vertex and fragment shaders are lowered only to be checked. */
  #renderStage(): void {
    const signature = this.module.signature(this.declaration)
    for (const [i, type] of signature.parameters.entries()) this.#declareParameter(i, type)
  }

  #entryParameter(node: FunctionNode['parameters'][number]): void {
    const { name, at, attributes } = node
    const type = this.module.signature(this.declaration).parameters[
      this.declaration.parameters.indexOf(node)
    ]!
    const loc = this.loc(at)
    const make = (
      made: string,
      type: Type,
      list: readonly AttributeNode[],
      where: number,
    ): Expression & { type: Type } => {
      const builtin = this.#builtin(made, type, list, where)
      return { kind: 'value', value: this.#newParameter(made, type, builtin, loc), type, loc }
    }
    if (type.kind !== 'struct') {
      const value = make(name, type, attributes, at)
      this.declare(name, at, (use) => ({
        kind: 'runtime',
        type,
        expression: { ...value, loc: this.loc(use) },
        at: use,
      }))
      return
    }
    const structNode = this.module.structNode(type)
    const args = type.members.map((m) =>
      make(m.name, m.type, structNode.members[m.index]!.attributes, structNode.members[m.index]!.at),
    )
    this.declareLet(name, at, { kind: 'construct', args, type, loc })
  }

  #builtin(name: string, type: Type, attributes: readonly AttributeNode[], at: number): BuiltinValue {
    const attribute = attributes.find((a) => a.name === 'builtin')
    const other = attributes.find((a) => !['builtin', 'align', 'size'].includes(a.name))
    if (other !== undefined) throw this.error(other.at, `@${other.name} does not apply to compute shaders`)
    const value = attribute?.args[0]
    if (value?.kind !== 'name') throw this.error(at, `the entry point's parameter '${name}' needs @builtin`)
    const wanted = builtinValues.get(value.name)
    if (!wanted?.places.includes('compute input'))
      throw this.error(value.at, `'${value.name}' is not a built-in value of compute shaders`)
    if (this.#builtins.has(value.name))
      throw this.error(at, `the built-in value ${value.name} is taken twice`)
    this.#builtins.add(value.name)
    if (wanted.type !== type)
      throw this.error(
        at,
        `the built-in value ${value.name} is of type ${typeName(wanted.type)}, not ${typeName(type)}`,
      )
    if (/subgroup/.test(value.name) && !this.module.hasSubgroups) {
      throw this.error(value.at, `the built-in value ${value.name} needs 'enable subgroups;'`)
    }
    return value.name as BuiltinValue
  }

  /** Emits a let and declares its name. */
  declareLet(name: string, at: number, value: Expression & { type: Type }): void {
    const expression = this.emitLet(name, at, value)
    this.declare(name, at, (use) => ({
      kind: 'runtime',
      type: value.type,
      expression: { ...expression, loc: this.loc(use) },
      at: use,
    }))
  }

  /** Emits a let and gives the expression that reads it. */
  emitLet(name: string, at: number, value: Expression & { type: Type }): Expression & { type: Type } {
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
