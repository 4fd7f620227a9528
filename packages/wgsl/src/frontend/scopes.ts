import type {
  BinaryOperator,
  BuiltinCall,
  Call,
  Constant,
  Expression,
  IrFunction,
  Location,
  ModuleVariable,
  Place,
  ScalarType,
  StructType,
  Type,
  VectorType,
} from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { attempt, type SourceText } from '../source-text.ts'
import { boolType, i32Type, pointerType, scalarType, typeName, u32Type } from '../types.ts'
import type {
  ExpressionNode,
  FunctionNode,
  GlobalNode,
  ModuleDeclarationNode,
  Severity,
  StructNode,
} from './ast.ts'
import { binaryValue } from './constant-operators.ts'
import { ConstantError, convertValue, type Value, valueExpression, zeroValue } from './constant-value.ts'
import { maximumValueByteLength } from './limits.ts'
import { concreteOf, converts, scalarOf, withoutOverride } from './numeric-types.ts'
import {
  type Binding,
  type ConstantOperand,
  isConstExpression,
  type Operand,
  type ReferenceOperand,
  type RuntimeOperand,
  type ValueOperand,
} from './operand.ts'
import { binaryTypes } from './operators.ts'
import type { PointerBinding } from './pointer-binding.ts'
import type { Stage } from './stages.ts'
import { isConstructible } from './type-structure.ts'

/** Parameter and return types of a function. */
export interface Signature {
  readonly parameters: readonly Type[]
  readonly returnType: Type | undefined
  /** The error about the first parameter that is not supported. */
  readonly unsupported: Error | undefined
}

/**
 * The declarations of a module, as an interface for the code that lowers its parts. `ModuleScope` implements
 * the interface and documents its members. An interface is needed because `ModuleScope` imports that code, so
 * the code cannot import `ModuleScope`.
 */
export interface Declarations {
  readonly source: SourceText
  /** Lowers expressions of module scope. */
  readonly expressions: ExpressionScope
  lowerExpression(scope: ExpressionScope, node: ExpressionNode): Operand
  readonly functions: {
    instantiate(node: FunctionNode, bindings: readonly (PointerBinding | undefined)[], at: number): IrFunction
    noteStages(allowed: readonly Stage[], what: string, at: number): void
  }
  readonly isSymbolic: boolean
  readonly subgroupUniformity: Severity
  newId(): number
  readonly hasSubgroups: boolean
  isEnabled(extension: string): boolean
  lookup(name: string): Binding | undefined
  isTypeOrFunction(name: string): boolean
  declaration(name: string): ModuleDeclarationNode | undefined
  declaredType(name: string, at: number): Type | undefined
  structNode(type: StructType): StructNode
  signature(node: FunctionNode): Signature
  isOverrideSized(place: Place): boolean
  standIn(variable: ModuleVariable): ModuleVariable
  noteView(variable: ModuleVariable, end: number): void
  constantFor(value: Value, type: Type): Constant | undefined
  readonly countLiteral: (loc: Location) => void
  constantDeclaration(
    expressions: ExpressionScope,
    node: { name: string; type?: GlobalNode['type']; initial: GlobalNode['initial']; at: number },
  ): ConstantOperand
}

/** Lowers expressions at module scope; functions add their own scopes. */
export class ExpressionScope {
  readonly module: Declarations
  /**
   * Above zero in the part of a constant `&&` or `||` that is not evaluated, where errors in constants are
   * allowed.
   */
  #unevaluated = 0

  constructor(module: Declarations) {
    this.module = module
  }

  /** Looks up the name of a value, starting in the innermost scope. */
  lookup(name: string): Binding | undefined {
    return this.module.lookup(name)
  }

  /** Whether a scope inside the module scope declares the name. */
  isLocal(_name: string): boolean {
    return false
  }

  /** The severity of a violation of the rule `subgroup_uniformity` at this point. */
  get subgroupUniformity(): Severity {
    return 'error'
  }

  /** Returns an error at an offset. */
  error(at: number, text: string): Error {
    return this.module.source.error(at, text)
  }

  /**
   * Rejects a value. With `override`, the value depends on overrides: it is then an error only in a pipeline
   * that evaluates it, and never if overrides have no values.
   */
  rejectValue(at: number, text: string, override: boolean): void {
    if (this.#unevaluated > 0 || (override && this.module.isSymbolic)) return
    throw this.error(at, text)
  }

  /** The location of an offset. */
  loc(at: number) {
    return this.module.source.locate(at)
  }

  // ---------------------------------------------------------------------------------------------- operands

  /** A constant operand. */
  constantOperand(at: number, type: Type, value: Value | undefined, override: boolean): ConstantOperand {
    return { kind: 'constant', type, value, override, at }
  }

  /** A runtime operand. */
  runtime(expression: Expression, at: number): RuntimeOperand {
    this.checkValueSize(expression.type, at)
    return { kind: 'runtime', type: expression.type, expression, at }
  }

  /** The operand for the result of a call. */
  called(call: BuiltinCall | Call, at: number): Operand {
    return call.type === undefined
      ? { kind: 'nothing', expression: call as BuiltinCall<undefined> | Call<undefined>, at }
      : this.runtime(call as BuiltinCall<Type> | Call<Type>, at)
  }

  /** Checks that a runtime value does not exceed the size limit. */
  checkValueSize(type: Type, at: number): void {
    const byteLength = sizeOf(type)
    if (byteLength > maximumValueByteLength) {
      const text = `a value of type ${typeName(type)} has ${byteLength} bytes, above the limit of ${maximumValueByteLength}`
      this.rejectValue(at, text, true)
    }
  }

  /**
   * Evaluates an operation on constants and adds the position to its errors. The result is unknown if a value
   * is unknown.
   */
  fold<const Operands extends readonly ConstantOperand[]>(
    at: number,
    type: Type,
    operands: Operands,
    evaluate: (values: { readonly [I in keyof Operands]: Value }) => Value,
  ): ConstantOperand {
    let override = false
    const values: Value[] = []
    for (const operand of operands) {
      override ||= operand.override
      if (operand.value !== undefined) values.push(operand.value)
    }
    if (values.length < operands.length) return this.constantOperand(at, type, undefined, true)
    try {
      return this.constantOperand(at, type, evaluate(values as { [I in keyof Operands]: Value }), override)
    } catch (error) {
      if (!(error instanceof ConstantError)) throw error
      this.rejectValue(at, error.message, override)
      return this.constantOperand(at, type, override ? undefined : zeroValue(type), override)
    }
  }

  /** Applies the load rule: a reference becomes the value it holds. */
  value(operand: Operand): ValueOperand {
    switch (operand.kind) {
      case 'nothing':
        throw this.error(operand.at, 'the function returns no value, so its call cannot be used as one')
      case 'reference': {
        const loaded = this.load(operand)
        this.checkValueSize(loaded.type, loaded.at)
        return loaded
      }
      default:
        return operand
    }
  }

  /** The load of a reference, of any size. */
  load({ type, place, access, at }: ReferenceOperand): RuntimeOperand {
    if (access === 'write') throw this.error(at, 'a write-only variable cannot be read')
    if (!isConstructible(type)) throw this.error(at, `a value of type ${typeName(type)} cannot be loaded`)
    return { kind: 'runtime', type, expression: { kind: 'load', place, type, loc: this.loc(at) }, at }
  }

  /** The name of an operand's type, or words for an operand that has none. */
  describe(operand: Operand): string {
    return operand.kind === 'nothing' ? 'nothing' : typeName(operand.type)
  }

  /**
   * Converts a value to a type automatically; `what` starts the sentence of the error, such as "the initial
   * value".
   */
  convert(operand: Operand, type: Type, what: string): ValueOperand {
    const value = this.value(operand)
    if (value.type === type) return value
    if (value.kind !== 'constant' || !converts(value.type, type))
      throw this.error(operand.at, `${what} is of type ${typeName(value.type)}, not ${typeName(type)}`)
    return this.fold(value.at, type, [value], ([known]) => convertValue(known, value.type, type))
  }

  /** The IR of a value; abstract values get their default type. */
  expressionOf(operand: Operand): Expression {
    const value = this.value(operand)
    switch (value.kind) {
      case 'runtime':
        return value.expression
      case 'pointer': {
        const { space, store, access } = value.type
        const type = pointerType(space, withoutOverride(store), access)
        return { kind: 'address-of', place: value.place, type, loc: this.loc(value.at) }
      }
      case 'constant': {
        const type = concreteOf(value.type)
        if (type !== value.type) return this.expressionOf(this.convert(value, type, 'the constant'))
        this.checkValueSize(type, value.at)
        const loc = this.loc(value.at)
        // Code in which a value is unknown or too large never runs, so any expression of the type will do.
        if (value.value === undefined || sizeOf(type) > maximumValueByteLength)
          return { kind: 'zero', type, loc }
        const named = (part: Value, of: Type) => this.#named(part, of, loc)
        // Only functions refer to constants inside of others.
        const inside = this === this.module.expressions ? undefined : named
        const { countLiteral } = this.module
        return named(value.value, type) ?? valueExpression(value.value, type, loc, countLiteral, inside)
      }
    }
  }

  /** The reference to the constant for a composite value that a declaration has. */
  #named(value: Value, type: Type, loc: Location): Expression | undefined {
    const constant = this.module.constantFor(value, type)
    if (constant?.value.kind === 'zero') return { kind: 'zero', type, loc }
    return constant && { kind: 'constant', constant, type, loc }
  }

  /** The IR of a value converted to a type. */
  expressionAs(operand: Operand, type: Type, what: string): Expression {
    return this.expressionOf(this.convert(operand, type, what))
  }

  // ------------------------------------------------------------------------------------------- expressions

  /** Lowers an expression; the result may be a reference. */
  expression(node: ExpressionNode): Operand {
    return this.module.lowerExpression(this, node)
  }

  /** A const-expression; `override` also allows an override-expression. */
  constant(node: ExpressionNode, what: string, override = false): ConstantOperand {
    const operand = attempt(() => this.expression(node))
    if (operand instanceof Error || operand.kind !== 'constant')
      throw this.error(node.at, `${what} must be a constant`)
    if (operand.override && !override)
      throw this.error(node.at, `${what} must be a const-expression, but depends on an override`)
    return operand
  }

  /** A const-expression that is an integer, as a number; an abstract one must fit into i32. */
  constantInteger(node: ExpressionNode, what: string): number {
    return this.integerOf(this.constant(node, what), what)!
  }

  /**
   * The value of a constant integer as a number; undefined if it is unknown. An abstract integer must fit
   * into `abstractAs`.
   */
  integerOf(operand: ConstantOperand, what: string, abstractAs: 'i32' | 'u32' = 'i32'): number | undefined {
    const kind = operand.type.kind === 'scalar' ? scalarOf(operand.type) : undefined
    if (kind !== 'abstract-int' && kind !== 'i32' && kind !== 'u32')
      throw this.error(operand.at, `${what} is of type ${typeName(operand.type)}, not an integer`)
    const type = kind === 'abstract-int' ? scalarType(abstractAs) : operand.type
    const { value } = this.convert(operand, type, what) as ConstantOperand
    return value === undefined ? undefined : Number(value)
  }

  /** An i32 or u32 that need not be constant. */
  integer(operand: ValueOperand, what: string): ValueOperand {
    const type = operand.type === u32Type ? u32Type : i32Type
    if (!converts(operand.type, type))
      throw this.error(operand.at, `${what} is of type ${typeName(operand.type)}, not i32 or u32`)
    return this.convert(operand, type, what)
  }

  /** Checks a const_assert. */
  checkAssert(condition: ExpressionNode): void {
    const { value } = this.constant(condition, 'the condition of const_assert')
    if (typeof value !== 'boolean')
      throw this.error(condition.at, 'the condition of const_assert is not a bool')
    if (!value) throw this.error(condition.at, 'the const_assert fails')
  }

  /** A condition. */
  condition(node: ExpressionNode, what: string): Expression {
    return this.expressionAs(this.expression(node), boolType, what)
  }

  /** A binary operator on values. */
  binary(
    operator: BinaryOperator,
    left: ValueOperand,
    right: ValueOperand,
    at: number,
  ): ConstantOperand | RuntimeOperand {
    const types = binaryTypes(operator, left.type, right.type)
    if (types === undefined) {
      throw this.error(
        at,
        `'${operator}' does not apply to ${typeName(left.type)} and ${typeName(right.type)}`,
      )
    }
    // Only const-expressions have abstract types; an operation on overrides has a concrete type.
    const isConst = isConstExpression(left) && isConstExpression(right)
    const a = this.convert(left, isConst ? types.left : concreteOf(types.left), 'the left operand')
    const b = this.convert(right, types.right, 'the right operand')
    if (a.kind === 'constant' && b.kind === 'constant') {
      // This is an error for any value of the override.
      if (a.override && !b.override) this.#checkRight(operator, a.type, b, at)
      const type = isConst ? types.result : concreteOf(types.result)
      return this.fold(at, type, [a, b], ([x, y]) => binaryValue(operator, x, a.type, y, b.type))
    }
    if (b.kind === 'constant') this.#checkRight(operator, a.type, b, at)
    const type = concreteOf(types.result) as ScalarType | VectorType
    const [l, r] = [this.expressionOf(a), this.expressionOf(b)]
    return this.runtime({ kind: 'binary', operator, left: l, right: r, type, loc: this.loc(at) }, at)
  }

  /**
   * Checks a constant right operand: it must not be zero for an integer division, and must be below 32 for a
   * shift.
   */
  #checkRight(operator: BinaryOperator, left: Type, right: ConstantOperand, at: number): void {
    if (right.value === undefined) return
    const values = (Array.isArray(right.value) ? right.value : [right.value]) as number[]
    const kind = scalarOf(left)
    if ((operator === '/' || operator === '%') && (kind === 'i32' || kind === 'u32') && values.includes(0)) {
      this.rejectValue(at, `an integer is divided by the constant 0 with '${operator}'`, right.override)
    }
    const amount = values.find((v) => v >= 32)
    if ((operator === '<<' || operator === '>>') && amount !== undefined) {
      this.rejectValue(at, `the shift amount ${amount} must be less than 32`, right.override)
    }
  }

  /** Runs the lowering of the part of a constant `&&` or `||` that is not evaluated. */
  unevaluated<T>(run: () => T): T {
    this.#unevaluated++
    try {
      return run()
    } finally {
      this.#unevaluated--
    }
  }
}
