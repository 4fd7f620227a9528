import type { BinaryOperator, Constant, Expression, ScalarType, Type, VectorType } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import { boolType, pointerType, scalarType, typeName } from '../types.ts'
import { isVectorElement, lowerIndex, lowerMember, pointee } from './access.ts'
import type { BinaryNode, ExpressionNode, LiteralNode, NameNode, Severity, UnaryNode } from './ast.ts'
import { lowerCall } from './calls.ts'
import { binaryValue, unaryValue } from './constant-operators.ts'
import {
  ConstantError,
  checkInteger,
  convertValue,
  type Value,
  valueExpression,
  zeroValue,
} from './constant-value.ts'
import { maximumValueByteLength } from './limits.ts'
import { parseNumber, roundLiteral } from './number-literal.ts'
import { concreteOf, converts, scalarOf } from './numeric-types.ts'
import {
  type Binding,
  type ConstantOperand,
  isConstExpression,
  type Operand,
  type RuntimeOperand,
  type ValueOperand,
} from './operand.ts'
import { binaryTypes, unaryType } from './operators.ts'
import type { Declarations, ExpressionScope } from './scopes.ts'
import { isConstructible } from './type-structure.ts'

/** Types and lowers expressions. Names are looked up in the module; functions add their scopes. */
export class ExpressionLowering implements ExpressionScope {
  readonly module: Declarations
  /** Above zero while in the part of a constant `&&` or `||` that is not evaluated: there, constants may have errors. */
  #unevaluated = 0

  constructor(module: Declarations) {
    this.module = module
  }

  /** What a name of a value stands for in the innermost scope. */
  lookup(name: string): Binding | undefined {
    return this.module.lookup(name)
  }

  /** Whether a scope inside the module declares the name. */
  isLocal(_name: string): boolean {
    return false
  }

  /** What a violation of the rule `subgroup_uniformity` is here. */
  get subgroupUniformity(): Severity {
    return 'error'
  }

  /** An error at an offset. */
  error(at: number, text: string): Error {
    return this.module.source.error(at, text)
  }

  /**
   * Rejects a value. With `override`, the value depends on overrides: then only a pipeline that reaches it is wrong, and where
   * overrides have no values nothing is.
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
    return { kind: 'constant', type, value, override, declaration: undefined, at }
  }

  /** A runtime operand. */
  runtime(expression: Expression & { type: Type }, at: number): RuntimeOperand {
    this.checkValueSize(expression.type, at)
    return { kind: 'runtime', type: expression.type, expression, at }
  }

  /** Values that exist while the shader runs must not exceed the limit. */
  checkValueSize(type: Type, at: number): void {
    const byteLength = sizeOf(type)
    if (byteLength > maximumValueByteLength) {
      const text = `a value of type ${typeName(type)} has ${byteLength} bytes, above the limit of ${maximumValueByteLength}`
      this.rejectValue(at, text, true)
    }
  }

  /** Evaluates an operation on constants, and places its errors. What depends on an unknown value is unknown. */
  fold(
    at: number,
    type: Type,
    operands: readonly ConstantOperand[],
    evaluate: (values: readonly Value[]) => Value,
  ): ConstantOperand {
    let override = false
    const values: Value[] = []
    for (const operand of operands) {
      override ||= operand.override
      if (operand.value !== undefined) values.push(operand.value)
    }
    if (values.length < operands.length) return this.constantOperand(at, type, undefined, true)
    try {
      return this.constantOperand(at, type, evaluate(values), override)
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
        const { type, place, access, at } = operand
        if (access === 'write') throw this.error(at, 'a write-only variable cannot be read')
        if (!isConstructible(type)) throw this.error(at, `a value of type ${typeName(type)} cannot be loaded`)
        return this.runtime({ kind: 'load', place, type, loc: this.loc(at) }, at)
      }
      default:
        return operand
    }
  }

  /** The name of an operand's type, or words for an operand that has none. */
  describe(operand: Operand): string {
    return operand.kind === 'nothing' ? 'nothing' : typeName(operand.type)
  }

  /** Converts a value to a type automatically; `what` starts the sentence of the error, such as "the initial value". */
  convert(operand: Operand, type: Type, what: string): ValueOperand {
    const value = this.value(operand)
    if (value.type === type) return value
    if (value.kind !== 'constant' || !converts(value.type, type)) {
      throw this.error(operand.at, `${what} is of type ${typeName(value.type)}, not ${typeName(type)}`)
    }
    const converted = this.fold(value.at, type, [value], ([known]) => convertValue(known!, value.type, type))
    return { ...converted, declaration: value.declaration }
  }

  /** The IR of a value; abstract ones take their default type. */
  expressionOf(operand: Operand): Expression & { type: Type } {
    const value = this.value(operand)
    switch (value.kind) {
      case 'runtime':
        return value.expression as Expression & { type: Type }
      case 'pointer':
        return { kind: 'address-of', place: value.place, type: value.type, loc: this.loc(value.at) }
      case 'constant': {
        const type = concreteOf(value.type)
        if (type !== value.type) return this.expressionOf(this.convert(value, type, 'the constant'))
        this.checkValueSize(type, value.at)
        const loc = this.loc(value.at)
        // Code in which a value is unknown never runs, so any expression of the type will do.
        if (value.value === undefined) return { kind: 'zero', type, loc }
        const expression = valueExpression(value.value, type, loc) as Expression & { type: Type }
        if (value.declaration === undefined || expression.kind === 'zero') return expression
        if (type.kind !== 'array' && type.kind !== 'struct') return expression
        const constant: Constant = this.module.constantFor(value.declaration, type, expression)
        return { kind: 'constant', constant, type, loc: expression.loc }
      }
    }
  }

  /** The IR of a value converted to a type. */
  expressionAs(operand: Operand, type: Type, what: string): Expression & { type: Type } {
    return this.expressionOf(this.convert(operand, type, what))
  }

  // ------------------------------------------------------------------------------------------- expressions

  /** Lowers an expression; the result may be a reference. */
  expression(node: ExpressionNode): Operand {
    switch (node.kind) {
      case 'literal':
        return this.#literal(node)
      case 'name':
        return this.#name(node)
      case 'call':
        return lowerCall(this, node)
      case 'unary':
        return this.#unary(node)
      case 'binary':
        return this.#binary(node)
      case 'index':
        return lowerIndex(this, node)
      case 'member':
        return lowerMember(this, node)
    }
  }

  /** A const-expression; with `override`, an override-expression is good too. */
  constant(node: ExpressionNode, what: string, override = false): ConstantOperand {
    const operand = this.expression(node)
    if (operand.kind !== 'constant') throw this.error(node.at, `${what} must be a constant`)
    if (operand.override && !override) {
      throw this.error(node.at, `${what} must be a const-expression, but depends on an override`)
    }
    return operand
  }

  /** A const-expression that is an integer, as a number; an abstract one must fit into i32. */
  constantInteger(node: ExpressionNode, what: string): number {
    return this.integerOf(this.constant(node, what), what)!
  }

  /** The number that a constant integer is; undefined for an unknown one. An abstract one must fit into `abstractAs`. */
  integerOf(operand: ConstantOperand, what: string, abstractAs: 'i32' | 'u32' = 'i32'): number | undefined {
    const kind = operand.type.kind === 'scalar' ? scalarOf(operand.type) : undefined
    if (kind !== 'abstract-int' && kind !== 'i32' && kind !== 'u32') {
      throw this.error(operand.at, `${what} is of type ${typeName(operand.type)}, not an integer`)
    }
    const type = kind === 'abstract-int' ? scalarType(abstractAs) : operand.type
    const { value } = this.convert(operand, type, what) as ConstantOperand
    return value === undefined ? undefined : Number(value)
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

  #literal({ text, at }: LiteralNode): Operand {
    if (text === 'true' || text === 'false') return this.constantOperand(at, boolType, text === 'true', false)
    const [type, value] = parseNumber(text)
    if (scalarOf(type) === 'f16' && !this.module.isEnabled('f16')) {
      throw this.error(at, `the literal ${text} needs 'enable f16;'`)
    }
    try {
      const kind = scalarOf(type)!
      const exact = typeof value === 'bigint' ? checkInteger(value, kind) : roundLiteral(text, value, kind)
      return this.constantOperand(at, type, exact, false)
    } catch (error) {
      throw error instanceof ConstantError ? this.error(at, error.message) : error
    }
  }

  #name({ name, templates, at }: NameNode): Operand {
    const binding = this.lookup(name)
    if (binding === undefined) {
      if (this.module.isTypeOrFunction(name)) throw this.error(at, `'${name}' is not a value`)
      throw this.error(at, `'${name}' is not declared`)
    }
    if (templates !== undefined) throw this.error(at, `'${name}' has no template arguments`)
    return binding(at)
  }

  #unary({ operator, value: inner, at }: UnaryNode): Operand {
    const operand = this.expression(inner)
    if (operator === '&') {
      if (operand.kind !== 'reference') throw this.error(at, 'the address of a value cannot be taken')
      if (operand.place.kind === 'component-place' || isVectorElement(operand.place)) {
        throw this.error(at, 'the address of a vector component cannot be taken')
      }
      const { place, space, access } = operand
      return { kind: 'pointer', type: pointerType(space, operand.type, access), place, at }
    }
    const value = this.value(operand)
    if (operator === '*') {
      if (value.kind !== 'pointer')
        throw this.error(at, `'*' applies to pointers, not to ${typeName(value.type)}`)
      return pointee(value.type, value.place, at)
    }
    const type = unaryType(operator, value.type)
    if (type === undefined) throw this.error(at, `'${operator}' does not apply to ${typeName(value.type)}`)
    if (value.kind === 'constant') {
      return this.fold(at, type, [value], ([known]) => unaryValue(operator, known!, type))
    }
    const expression = this.expressionOf(value)
    return this.runtime(
      { kind: 'unary', operator, value: expression, type: type as ScalarType, loc: this.loc(at) },
      at,
    )
  }

  #binary({ operator, left: leftNode, right: rightNode, at }: BinaryNode): Operand {
    const left = this.value(this.expression(leftNode))
    if (operator === '&&' || operator === '||') return this.#logical(operator, left, rightNode, at)
    const right = this.value(this.expression(rightNode))
    return this.binary(operator as BinaryOperator, left, right, at)
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
    // Only const-expressions have abstract types: an operation on overrides has a concrete one.
    const isConst = isConstExpression(left) && isConstExpression(right)
    const a = this.convert(left, isConst ? types.left : concreteOf(types.left), 'the left operand')
    const b = this.convert(right, types.right, 'the right operand')
    if (a.kind === 'constant' && b.kind === 'constant') {
      // Wrong whatever value the override has.
      if (a.override && !b.override) this.#checkRight(operator, a.type, b, at)
      const type = isConst ? types.result : concreteOf(types.result)
      return this.fold(at, type, [a, b], ([x, y]) => binaryValue(operator, x!, a.type, y!, b.type))
    }
    if (b.kind === 'constant') this.#checkRight(operator, a.type, b, at)
    const type = concreteOf(types.result) as ScalarType | VectorType
    const [l, r] = [this.expressionOf(a), this.expressionOf(b)]
    return this.runtime({ kind: 'binary', operator, left: l, right: r, type, loc: this.loc(at) }, at)
  }

  /** A constant right operand must not be zero for an integer division and below 32 for a shift. */
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

  #logical(operator: '&&' | '||', left: ValueOperand, rightNode: ExpressionNode, at: number): Operand {
    const a = this.convert(left, boolType, `the left operand of '${operator}'`)
    const decided = a.kind === 'constant' && a.value === (operator === '||')
    if (decided) this.#unevaluated++
    const right = this.expression(rightNode)
    const b = this.convert(right, boolType, `the right operand of '${operator}'`)
    if (decided) this.#unevaluated--
    if (a.kind === 'constant' && b.kind === 'constant') {
      const value = decided || a.value === undefined ? a.value : b.value
      return this.constantOperand(at, boolType, value, a.override || b.override)
    }
    const [l, r] = [this.expressionOf(a), this.expressionOf(b)]
    return this.runtime(
      { kind: 'logical', operator, left: l, right: r, type: boolType, loc: this.loc(at) },
      at,
    )
  }
}
