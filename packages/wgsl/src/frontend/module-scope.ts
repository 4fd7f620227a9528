import type {
  Constant,
  Location,
  ModuleVariable,
  Override,
  Place,
  PointerType,
  ScalarType,
  StructType,
  Type,
} from '../ir.ts'
import { attempt, type SourceText } from '../source-text.ts'
import { pointerType, typeName, u32Type } from '../types.ts'
import { WgslError } from '../wgsl-error.ts'
import type {
  FunctionNode,
  GlobalNode,
  ModuleDeclarationNode,
  ModuleNode,
  Severity,
  StructNode,
} from './ast.ts'
import { isBuiltinFunction } from './calls.ts'
import { declarationOf, declare } from './constant-declarations.ts'
import { ConstantError, checkInteger, roundFloat, type Value, valueExpression } from './constant-value.ts'
import { lowerExpression } from './expression-lowering.ts'
import { FunctionInstances } from './function-instances.ts'
import { maximumLiterals, maximumOverrides } from './limits.ts'
import { concreteOf, isOverrideSized } from './numeric-types.ts'
import type { Binding, ConstantOperand, Operand } from './operand.ts'
import { type Declarations, ExpressionScope, type Signature } from './scopes.ts'
import { stageOf } from './stages.ts'
import { resolveStruct } from './structures.ts'
import { plainTypes, typeGenerator } from './type-names.ts'
import { checkArrayLengths, resolveAnyType, resolveType } from './type-resolution.ts'
import { isConstructible } from './type-structure.ts'
import { resolveVariable } from './variables.ts'

/**
 * The scope of a module, which resolves each declaration at its first use. With values for overrides it
 * represents one pipeline: everything that depends on overrides is known, and invalid values are errors.
 * Without values it is symbolic and is used to check the whole module: expressions that depend on overrides
 * have a type but no value.
 */
export class ModuleScope implements Declarations {
  readonly source: SourceText
  readonly expressions: ExpressionScope
  readonly lowerExpression = lowerExpression
  readonly functions: FunctionInstances
  readonly constants: Constant[] = []
  readonly viewedBytes = new Map<ModuleVariable, number>()

  readonly #node: ModuleNode
  readonly #values: ReadonlyMap<string, number | boolean> | undefined
  readonly #isSymbolic: boolean
  readonly #enabled: ReadonlySet<string>
  readonly #declarations = new Map<string, ModuleDeclarationNode>()
  readonly #overrideSized = new Set<ModuleVariable>()
  readonly #standIns = new Map<PointerType, ModuleVariable>()
  readonly #bindings = new Map<string, Binding>()
  readonly #types = new Map<string, Type | Error>()
  readonly #structNodes = new Map<StructType, StructNode>()
  readonly #signatures = new Map<FunctionNode, Signature>()
  readonly #constants = new Map<Value, Map<Type, Constant>>()
  /**
   * Above zero while the default of an override is evaluated. An override that is not used need not have a
   * value.
   */
  #defaults = 0
  /**
   * Whether the default being evaluated mentions an override without a value, even in a part that is not
   * evaluated.
   */
  #mentionsValueless = false
  #nextId = 0
  #literals = 0

  /**
   * `values` are the pipeline's constants by the key that WebGPU uses: the `@id`, or else the name. If
   * undefined, the scope is symbolic: no override has a value. With `isSymbolic`, overrides have their defaults.
   */
  constructor(
    source: SourceText,
    node: ModuleNode,
    values: ReadonlyMap<string, number | boolean> | undefined,
    isSymbolic = values === undefined,
  ) {
    this.source = source
    this.#node = node
    this.#values = values
    this.#isSymbolic = isSymbolic
    this.#enabled = new Set(node.enables.map((e) => e.name))
    this.expressions = new ExpressionScope(this)
    this.functions = new FunctionInstances(this)
    for (const declaration of node.declarations) {
      if (this.#declarations.has(declaration.name))
        throw source.error(declaration.at, `'${declaration.name}' is declared twice`)
      this.#declarations.set(declaration.name, declaration)
    }
  }

  /** Whether overrides may lack values at this point. */
  get isSymbolic(): boolean {
    return this.#isSymbolic || this.#defaults > 0
  }

  /** Returns an id that is unique in the module. */
  newId(): number {
    return this.#nextId++
  }

  /** The severity of the rule `subgroup_uniformity` in the module. */
  get subgroupUniformity(): Severity {
    return this.#node.subgroupUniformity ?? 'error'
  }

  /** Whether an `enable` directive names the extension. */
  isEnabled(extension: string): boolean {
    return this.#enabled.has(extension)
  }

  /**
   * Whether subgroup operations and the built-in values of subgroups are available; the subgroup matrix
   * extension also enables them.
   */
  get hasSubgroups(): boolean {
    return this.isEnabled('subgroups') || this.isEnabled('chromium_experimental_subgroup_matrix')
  }

  /** The module's declaration of a name. */
  declaration(name: string): ModuleDeclarationNode | undefined {
    return this.#declarations.get(name)
  }

  /** Whether a name is that of a type or function; used for better messages. */
  isTypeOrFunction(name: string): boolean {
    return (
      this.#declarations.has(name) ||
      plainTypes.has(name) ||
      typeGenerator(name) !== undefined ||
      isBuiltinFunction(name)
    )
  }

  // ------------------------------------------------------------------------------------------------- values

  /** The value that a name refers to. */
  lookup(name: string): Binding | undefined {
    const known = this.#bindings.get(name)
    if (known !== undefined) return known
    const node = this.#declarations.get(name)
    if (node === undefined || node.kind === 'function' || node.kind === 'struct' || node.kind === 'alias')
      return undefined
    const binding = this.#bind(node)
    this.#bindings.set(name, binding)
    return binding
  }

  #bind(node: GlobalNode): Binding {
    switch (node.kind) {
      case 'global-const': {
        const constant = this.constantDeclaration(this.expressions, node)
        return (at) => ({ ...constant, at })
      }
      case 'override': {
        const { name } = node
        const { type, value, default: fallback, mentionsValueless } = this.override(node)
        const hasDefault = node.initial === undefined || fallback !== undefined
        const isUsable = value !== undefined && hasDefault && !mentionsValueless
        const problem = isUsable || this.#isSymbolic ? undefined : this.#problemOf(node)
        return (at): Operand => {
          if (!isUsable) {
            this.#mentionsValueless = true
            if (!this.isSymbolic)
              throw (
                problem ??
                this.source.error(at, `the override '${name}' has no default and no value was given`)
              )
          }
          return { kind: 'constant', type, value, override: true, at }
        }
      }
      default: {
        const { variable, type } = resolveVariable(this, node)
        if (isOverrideSized(type)) this.#overrideSized.add(variable)
        const { space, access } = variable
        return (at): Operand => {
          this.functions.noteVariable(variable, at)
          const loc = this.source.locate(at)
          const place = { kind: 'variable', variable, type: variable.type, loc } as const
          return { kind: 'reference', type, place, space, access, at }
        }
      }
    }
  }

  /** Whether a place is a variable whose length depends on an override. */
  isOverrideSized(place: Place): boolean {
    return (
      place.kind === 'variable' &&
      place.variable.kind === 'module-variable' &&
      this.#overrideSized.has(place.variable)
    )
  }

  /**
   * The variable that functions are lowered for if a pointer to the given one is passed. While the module is
   * checked, all variables of a type share one, since only the type matters there.
   */
  standIn(variable: ModuleVariable): ModuleVariable {
    if (this.#values !== undefined || this.#overrideSized.has(variable)) return variable
    const type = pointerType(variable.space, variable.type, variable.access)
    const shared = this.#standIns.get(type) ?? variable
    this.#standIns.set(type, shared)
    return shared
  }

  /** Notes that a view of a variable ends at a byte. */
  noteView(variable: ModuleVariable, end: number): void {
    this.viewedBytes.set(variable, Math.max(this.viewedBytes.get(variable) ?? 0, end))
  }

  /** The value of a const-declaration, in the scope of `expressions`. */
  constantDeclaration(
    expressions: ExpressionScope,
    node: { name: string; type?: GlobalNode['type']; initial: GlobalNode['initial']; at: number },
  ): ConstantOperand {
    const { name, at } = node
    let operand = expressions.constant(node.initial!, `the value of '${name}'`)
    if (node.type !== undefined) {
      const type = resolveType(expressions, node.type)
      if (!isConstructible(type))
        throw this.source.error(node.type.at, `a const cannot be of type ${typeName(type)}`)
      operand = expressions.convert(operand, type, `the value of '${name}'`) as ConstantOperand
    }
    checkArrayLengths(expressions, operand.type, at)
    declare(operand.value, { name, at })
    return operand
  }

  /** Counts a literal of a constant that is written out. */
  readonly countLiteral = (loc: Location): void => {
    if (++this.#literals > maximumLiterals)
      throw this.source.errorAt(
        loc,
        `constants that are written out have more than ${maximumLiterals} numbers`,
      )
  }

  /**
   * The constant for a composite value that a declaration has, in one concrete type. Constants that have the same
   * list as their value are one.
   */
  constantFor(value: Value, type: Type): Constant | undefined {
    const declaration = declarationOf(value)
    if (declaration === undefined || (type.kind !== 'array' && type.kind !== 'struct')) return undefined
    const known = this.#constants.get(value) ?? new Map<Type, Constant>()
    this.#constants.set(value, known)
    let constant = known.get(type)
    if (constant === undefined) {
      const loc = this.source.locate(declaration.at)
      const name = declaration.name.replaceAll('.', '_')
      const expression = valueExpression(value, type, loc, this.countLiteral)
      constant = { kind: 'constant-declaration', id: this.newId(), name, type, value: expression, loc }
      known.set(type, constant)
      if (expression.kind !== 'zero') this.constants.push(constant)
    }
    return constant
  }

  /**
   * An override with its value. Code may use an override only if it and all overrides that its default
   * mentions have values, and its default has one, even if the pipeline sets a value in place of the default.
   * `mentionsValueless` is true if one of the mentioned overrides has none.
   */
  override(node: GlobalNode): {
    id: number | undefined
    type: ScalarType
    default: Value | undefined
    value: Value | undefined
    mentionsValueless: boolean
  } {
    const { name, attributes } = node
    const idNode = attributes.find((a) => a.name === 'id')
    const id = idNode && this.expressions.constantInteger(idNode.args[0]!, 'the @id')
    if (id !== undefined && (id < 0 || id > 65535))
      throw this.source.error(idNode!.at, `the @id ${id} must be between 0 and 65535`)
    const { value: fallback, type, mentionsValueless } = this.#default(node)
    const given = this.#values?.get(id === undefined ? name : String(id))
    return {
      id,
      type,
      default: fallback,
      value:
        this.#values === undefined
          ? undefined
          : given === undefined
            ? fallback
            : this.#givenValue(node, type, given),
      mentionsValueless,
    }
  }

  /**
   * The type of an override, the value of its default, and whether the default mentions an override without a
   * value.
   */
  #default({ name, at, type: typeNode, initial }: GlobalNode): {
    type: ScalarType
    value: Value | undefined
    mentionsValueless: boolean
  } {
    const outer = this.#mentionsValueless
    this.#mentionsValueless = false
    this.#defaults++
    try {
      const operand = initial && this.expressions.constant(initial, `the default of '${name}'`, true)
      const type = typeNode ? resolveType(this.expressions, typeNode) : operand && concreteOf(operand.type)
      if (type === undefined) throw this.source.error(at, `the override '${name}' needs a type or a default`)
      if (type.kind !== 'scalar')
        throw this.source.error(at, `an override is a scalar, not ${typeName(type)}`)
      const value =
        operand && (this.expressions.convert(operand, type, `the default of '${name}'`) as ConstantOperand)
      return { type, value: value?.value, mentionsValueless: this.#mentionsValueless }
    } finally {
      this.#mentionsValueless = outer
      this.#defaults--
    }
  }

  /**
   * The error in the default of an override, or in an override that it mentions. It is thrown when the
   * override is used. It is determined once per override, so that a long chain of overrides does not cause
   * deep recursion.
   */
  #problemOf({ name, initial, type }: GlobalNode): WgslError | undefined {
    const outer = this.#defaults
    this.#defaults = 0
    try {
      const operand = initial && this.expressions.constant(initial, `the default of '${name}'`, true)
      if (operand !== undefined && type !== undefined)
        this.expressions.convert(operand, resolveType(this.expressions, type), `the default of '${name}'`)
      return undefined
    } catch (error) {
      if (error instanceof WgslError) return error
      throw error
    } finally {
      this.#defaults = outer
    }
  }

  #givenValue({ name, at }: GlobalNode, type: ScalarType, given: number | boolean): Value {
    try {
      const number = Number(given)
      if (!Number.isFinite(number)) throw new ConstantError(`the value ${number} is not finite`)
      if (type.scalar === 'bool') return Boolean(given)
      if (type.scalar === 'f32' || type.scalar === 'f16') return roundFloat(number, type.scalar)
      // The fraction is truncated, but the number itself must be in range.
      for (const whole of [Math.floor(number), Math.ceil(number)]) checkInteger(BigInt(whole), type.scalar)
      return checkInteger(BigInt(Math.trunc(number)), type.scalar)
    } catch (error) {
      if (!(error instanceof ConstantError)) throw error
      throw this.source.error(at, `the value given to the override '${name}': ${error.message}`)
    }
  }

  /** All overrides of the module. */
  overrides(): Override[] {
    const nodes = this.#node.declarations.filter((d): d is GlobalNode => d.kind === 'override')
    const tooMany = nodes[maximumOverrides]
    if (tooMany !== undefined)
      throw this.source.error(tooMany.at, `the module has more than ${maximumOverrides} overrides`)
    const keys = new Set<string>()
    const overrides = nodes.map((node) => {
      const loc: Location = this.source.locate(node.at)
      const { id, type, value, default: fallback } = this.override(node)
      const key = id === undefined ? node.name : String(id)
      if (keys.has(key)) throw this.source.error(node.at, `two overrides have the @id ${key}`)
      keys.add(key)
      return {
        name: node.name,
        id,
        type,
        default: fallback as number | boolean | undefined,
        value: value as number | boolean | undefined,
        loc,
      }
    })
    for (const key of this.#values?.keys() ?? []) {
      if (!keys.has(key)) throw this.source.error(0, `no override of the module has the name or @id '${key}'`)
    }
    return overrides
  }

  // -------------------------------------------------------------------------------------------------- types

  /** The type that the module declares under a name. */
  declaredType(name: string, at: number): Type | undefined {
    const known = this.#types.get(name)
    if (known instanceof Error) throw known
    if (known !== undefined) return known
    const node = this.#declarations.get(name)
    if (node === undefined) return undefined
    if (node.kind !== 'alias' && node.kind !== 'struct')
      throw this.source.error(at, `'${name}' is not a type`)
    const type = attempt(() =>
      node.kind === 'alias'
        ? resolveAnyType(this.expressions, node.type)
        : resolveStruct(this.expressions, node),
    )
    this.#types.set(name, type)
    if (type instanceof Error) throw type
    if (node.kind === 'struct') this.#structNodes.set(type as StructType, node)
    return type
  }

  /** The declaration of a structure. */
  structNode(type: StructType): StructNode {
    return this.#structNodes.get(type)!
  }

  // ---------------------------------------------------------------------------------------------- functions

  /** The types of a function's parameters and result. */
  signature(node: FunctionNode): Signature {
    let signature = this.#signatures.get(node)
    if (signature === undefined) {
      // The parameters of entry points cannot be textures either; those of other functions end the check last.
      const resolve = stageOf(node) === undefined ? resolveAnyType : resolveType
      let unsupported: Error | undefined
      const parameters = node.parameters.map(({ name, type: typeNode }) => {
        const resolved = attempt(() => resolve(this.expressions, typeNode))
        if (resolved instanceof Error) unsupported ??= resolved
        const type = resolved instanceof Error ? u32Type : resolved
        if (type.kind !== 'pointer' && !isConstructible(type))
          throw this.source.error(typeNode.at, `the parameter '${name}' cannot be of type ${typeName(type)}`)
        if (type.kind !== 'pointer') checkArrayLengths(this.expressions, type, typeNode.at)
        return type
      })
      const returnType = node.returnType && resolveType(this.expressions, node.returnType)
      if (returnType !== undefined && !isConstructible(returnType))
        throw this.source.error(node.returnType!.at, `a function cannot return ${typeName(returnType)}`)
      if (returnType !== undefined) checkArrayLengths(this.expressions, returnType, node.returnType!.at)
      signature = { parameters, returnType, unsupported }
      this.#signatures.set(node, signature)
    }
    if (signature.unsupported !== undefined) throw signature.unsupported
    return signature
  }

  /** The declarations in the order of the source. */
  get declarations(): readonly ModuleDeclarationNode[] {
    return this.#node.declarations
  }

  /** Checks the const_asserts of the module. */
  checkAsserts(): void {
    for (const { condition } of this.#node.asserts) this.expressions.checkAssert(condition)
  }
}
