import type {
  ArrayType,
  Constant,
  Expression,
  IrFunction,
  Location,
  ModuleVariable,
  Override,
  ScalarType,
  StructType,
  Type,
} from '../ir.ts'
import { typeName } from '../types.ts'
import type {
  FunctionNode,
  GlobalNode,
  ModuleDeclarationNode,
  ModuleNode,
  Severity,
  StructNode,
} from './ast.ts'
import { isBuiltinFunction } from './calls.ts'
import { ConstantError, checkInteger, roundFloat, type Value } from './constant-value.ts'
import { ExpressionLowering } from './expression-lowering.ts'
import { FunctionLowering } from './function-lowering.ts'
import { concreteOf, makeStruct } from './numeric-types.ts'
import type { Binding, ConstantOperand, Operand } from './operand.ts'
import { OverrideError } from './override-error.ts'
import type { SourceText } from './source-text.ts'
import { plainTypes, typeGenerator } from './type-names.ts'
import { checkArrayLengths, checkExtent, overrideElement, resolveType } from './type-resolution.ts'
import { hasFixedFootprint, isConstructible } from './type-structure.ts'
import type { PointerBinding } from './user-calls.ts'
import { resolveVariable } from './variables.ts'

/** Parameter and return types of a function. */
export interface Signature {
  readonly parameters: readonly Type[]
  readonly returnType: Type | undefined
}

/** The scope of a module, resolving each declaration when it is first used. */
export class ModuleScope {
  readonly source: SourceText
  readonly expressions: ExpressionLowering
  /** Functions lowered so far, callees first. */
  readonly functions: IrFunction[] = []
  readonly constants: Constant[] = []
  /** Module variables that code names. */
  readonly usedVariables = new Set<ModuleVariable>()
  /** Set when an array's length turns out to depend on an override. */
  sawOverrideLength = false

  readonly #node: ModuleNode
  readonly #values: ReadonlyMap<string, number | boolean>
  readonly #enabled: ReadonlySet<string>
  readonly #declarations = new Map<string, ModuleDeclarationNode>()
  readonly #bindings = new Map<string, Binding>()
  readonly #types = new Map<string, { type: Type; override: boolean }>()
  readonly #structNodes = new Map<StructType, StructNode>()
  readonly #signatures = new Map<FunctionNode, Signature>()
  readonly #instances = new Map<string, IrFunction>()
  readonly #constants = new Map<string, Constant>()
  readonly #resolving = new Set<string>()
  /** Set while only the type of an expression counts: overrides without value then stand for any. */
  #typesOnly = false
  #nextId = 0

  /** `values` are the pipeline's constants by the key that WebGPU uses: the `@id`, or else the name. */
  constructor(source: SourceText, node: ModuleNode, values: ReadonlyMap<string, number | boolean>) {
    this.source = source
    this.#node = node
    this.#values = values
    this.#enabled = new Set(node.enables.map((e) => e.name))
    this.expressions = new ExpressionLowering(this)
    for (const declaration of node.declarations) {
      if (this.#declarations.has(declaration.name)) {
        throw source.error(declaration.at, `'${declaration.name}' is declared twice`)
      }
      this.#declarations.set(declaration.name, declaration)
    }
  }

  /** A number that nothing else in the module has. */
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

  /** The module's declaration of a name. */
  declaration(name: string): ModuleDeclarationNode | undefined {
    return this.#declarations.get(name)
  }

  /** Whether a name is one of a type or function, for better messages. */
  isTypeOrFunction(name: string): boolean {
    return (
      this.#declarations.has(name) ||
      plainTypes.has(name) ||
      typeGenerator(name) !== undefined ||
      isBuiltinFunction(name)
    )
  }

  #guard<T>(name: string, at: number, resolve: () => T): T {
    if (this.#resolving.has(name))
      throw this.source.error(at, `the declaration of '${name}' depends on itself`)
    this.#resolving.add(name)
    try {
      return resolve()
    } finally {
      this.#resolving.delete(name)
    }
  }

  // ------------------------------------------------------------------------------------------------- values

  /** The value that a name stands for. */
  lookup(name: string): Binding | undefined {
    const known = this.#bindings.get(name)
    if (known !== undefined) return known
    const node = this.#declarations.get(name)
    if (node === undefined || node.kind === 'function' || node.kind === 'struct' || node.kind === 'alias')
      return undefined
    const binding = this.#guard(name, node.at, () => this.#bind(node))
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
        const { type, value } = this.override(node)
        return (at): Operand => {
          if (value === undefined) {
            const loc = this.source.locate(at)
            if (this.#typesOnly) return { kind: 'runtime', type, expression: { kind: 'zero', type, loc }, at }
            throw new OverrideError('', {
              cause: this.source.error(
                at,
                `the override '${node.name}' has no default and is given no value`,
              ),
            })
          }
          return { kind: 'constant', type, value, override: true, declaration: undefined, at }
        }
      }
      default: {
        const variable = resolveVariable(this, node)
        const { type, space, access } = variable
        return (at): Operand => {
          this.usedVariables.add(variable)
          const loc = this.source.locate(at)
          return {
            kind: 'reference',
            type,
            place: { kind: 'variable', variable, type, loc },
            space,
            access,
            at,
          }
        }
      }
    }
  }

  /** The value of a const-declaration, in the scope of `expressions`. */
  constantDeclaration(
    expressions: ExpressionLowering,
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
    return { ...operand, declaration: { name, at } }
  }

  /** The named constant of a declaration, in one concrete type. */
  constantFor(
    declaration: { name: string; at: number },
    type: ArrayType | StructType,
    value: Expression,
  ): Constant {
    const key = `${declaration.at}:${typeName(type)}`
    let constant = this.#constants.get(key)
    if (constant === undefined) {
      const loc = this.source.locate(declaration.at)
      constant = { kind: 'constant-declaration', id: this.newId(), name: declaration.name, type, value, loc }
      this.#constants.set(key, constant)
      this.constants.push(constant)
    }
    return constant
  }

  /** An override with the value that it takes. */
  override(node: GlobalNode): {
    id: number | undefined
    type: ScalarType
    default: Value | undefined
    value: Value | undefined
  } {
    const { name, at, attributes, initial } = node
    const idNode = attributes.find((a) => a.name === 'id')
    const id = idNode && this.expressions.constantInteger(idNode.args[0]!, 'the @id')
    if (id !== undefined && (id < 0 || id > 65535))
      throw this.source.error(idNode!.at, `the @id ${id} is not in 0 to 65535`)
    let operand: ConstantOperand | undefined
    let inferred: Type | undefined
    try {
      operand = initial && this.expressions.constant(initial, `the default of '${name}'`, true)
      inferred = operand && concreteOf(operand.type)
    } catch (error) {
      if (!(error instanceof OverrideError)) throw error
      this.#typesOnly = true
      try {
        inferred = concreteOf(this.expressions.value(this.expressions.expression(initial!)).type)
      } finally {
        this.#typesOnly = false
      }
    }
    const declared = node.type && resolveType(this.expressions, node.type)
    const type = declared ?? inferred
    if (type === undefined) throw this.source.error(at, `the override '${name}' needs a type or a default`)
    if (type.kind !== 'scalar') throw this.source.error(at, `an override is a scalar, not ${typeName(type)}`)
    const fallback =
      operand &&
      (this.expressions.convert(operand, type, `the default of '${name}'`) as ConstantOperand).value
    const given = this.#values.get(id === undefined ? name : String(id))
    return {
      id,
      type,
      default: fallback,
      value: given === undefined ? fallback : this.#givenValue(node, type, given),
    }
  }

  #givenValue({ name, at }: GlobalNode, type: ScalarType, given: number | boolean): Value {
    try {
      if (type.scalar === 'bool') return Boolean(given)
      const number = Number(given)
      if (type.scalar === 'f32' || type.scalar === 'f16') return roundFloat(number, type.scalar)
      if (!Number.isFinite(number)) throw new ConstantError(`the value ${number} is not finite`)
      // A fraction is cut off, but the number itself must lie in the range.
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
    for (const key of this.#values.keys()) {
      if (!keys.has(key)) throw this.source.error(0, `no override of the module has the name or @id '${key}'`)
    }
    return overrides
  }

  // -------------------------------------------------------------------------------------------------- types

  /** The type that the module declares under a name. */
  declaredType(name: string, at: number): Type | undefined {
    const known = this.#types.get(name)
    if (known !== undefined) {
      this.sawOverrideLength ||= known.override
      return known.type
    }
    const node = this.#declarations.get(name)
    if (node === undefined) return undefined
    if (node.kind !== 'alias' && node.kind !== 'struct')
      throw this.source.error(at, `'${name}' is not a type`)
    const outer = this.sawOverrideLength
    this.sawOverrideLength = false
    const type = this.#guard(name, node.at, () =>
      node.kind === 'alias' ? resolveType(this.expressions, node.type) : this.#struct(node),
    )
    this.#types.set(name, { type, override: this.sawOverrideLength })
    this.sawOverrideLength ||= outer
    return type
  }

  #struct(node: StructNode): StructType {
    const names = new Set<string>()
    const members = node.members.map(({ name, type: typeNode, attributes, at }, i) => {
      if (names.has(name))
        throw this.source.error(at, `the structure '${node.name}' has two members '${name}'`)
      names.add(name)
      this.sawOverrideLength = false
      const type = resolveType(this.expressions, typeNode)
      if (this.sawOverrideLength) throw this.source.error(typeNode.at, overrideElement)
      if (type.kind === 'pointer' || type.kind === 'buffer')
        throw this.source.error(typeNode.at, `a structure cannot hold ${type.kind}s`)
      if (!hasFixedFootprint(type) && (type.kind !== 'array' || i < node.members.length - 1)) {
        throw this.source.error(
          typeNode.at,
          'a runtime-sized array may only be the last member of a structure',
        )
      }
      const attribute = (wanted: string) => {
        const found = attributes.find((a) => a.name === wanted)
        return found && this.expressions.constantInteger(found.args[0]!, `the @${wanted}`)
      }
      const size = attribute('size')
      const align = attribute('align')
      this.#checkLayout(typeNode.at, type, size, align)
      return { name, type, size, align }
    })
    const type = makeStruct(node.name, members, false)
    checkExtent(this.expressions, type, node.at)
    this.#structNodes.set(type, node)
    return type
  }

  /** The declaration of a structure. */
  structNode(type: StructType): StructNode {
    return this.#structNodes.get(type)!
  }

  #checkLayout(at: number, type: Type, size: number | undefined, align: number | undefined): void {
    const plain = makeStruct('', [{ name: '', type }], true).members[0]!
    if (size !== undefined && !hasFixedFootprint(type)) {
      throw this.source.error(at, '@size does not apply to a runtime-sized array')
    }
    if (size !== undefined && size < plain.size) {
      throw this.source.error(at, `@size(${size}) is below the ${plain.size} bytes of ${typeName(type)}`)
    }
    if (align !== undefined && (align < 1 || (align & (align - 1)) !== 0 || align % plain.align !== 0)) {
      throw this.source.error(at, `@align(${align}) is not a power of two that ${plain.align} divides`)
    }
  }

  // ---------------------------------------------------------------------------------------------- functions

  /** The types of a function's parameters and result. */
  signature(node: FunctionNode): Signature {
    let signature = this.#signatures.get(node)
    if (signature === undefined) {
      const parameters = node.parameters.map(({ name, type: typeNode }) => {
        const type = resolveType(this.expressions, typeNode)
        if (type.kind !== 'pointer' && !isConstructible(type)) {
          throw this.source.error(typeNode.at, `the parameter '${name}' cannot be of type ${typeName(type)}`)
        }
        if (type.kind !== 'pointer') checkArrayLengths(this.expressions, type, typeNode.at)
        return type
      })
      const returnType = node.returnType && resolveType(this.expressions, node.returnType)
      if (returnType !== undefined && !isConstructible(returnType)) {
        throw this.source.error(node.returnType!.at, `a function cannot return ${typeName(returnType)}`)
      }
      if (returnType !== undefined) checkArrayLengths(this.expressions, returnType, node.returnType!.at)
      signature = { parameters, returnType }
      this.#signatures.set(node, signature)
    }
    return signature
  }

  /** A function, specialised for the bindings of its pointer parameters; lowered when it is first wanted. */
  instantiate(node: FunctionNode, bindings: readonly (PointerBinding | undefined)[], at: number): IrFunction {
    const stage = node.attributes.find(
      (a) => a.name === 'compute' || a.name === 'vertex' || a.name === 'fragment',
    )
    if (stage !== undefined) throw this.source.error(at, `the entry point '${node.name}' cannot be called`)
    const key = `${node.name}(${bindings.map((b) => b?.key ?? '').join(',')})`
    let instance = this.#instances.get(key)
    if (instance === undefined) {
      const name = `fn ${node.name}`
      if (this.#resolving.has(name)) throw this.source.error(at, `the function '${node.name}' calls itself`)
      this.#resolving.add(name)
      try {
        instance = new FunctionLowering(this, node, bindings).lower()
      } finally {
        this.#resolving.delete(name)
      }
      this.#instances.set(key, instance)
      this.functions.push(instance)
    }
    return instance
  }

  /** The declarations in the order of the source. */
  get declarations(): readonly ModuleDeclarationNode[] {
    return this.#node.declarations
  }

  /** Checks the const_asserts of the module; with `override`, those too that depend on overrides. */
  checkAsserts(): void {
    for (const { condition } of this.#node.asserts) checkAssert(this.expressions, condition)
  }
}

/** Checks one const_assert. */
export function checkAssert(
  expressions: ExpressionLowering,
  condition: Parameters<ExpressionLowering['constant']>[0],
): void {
  const operand = expressions.constant(condition, 'the condition of const_assert')
  if (typeof operand.value !== 'boolean')
    throw expressions.error(condition.at, 'the condition of const_assert is not a bool')
  if (!operand.value) throw expressions.error(condition.at, 'the const_assert fails')
}
