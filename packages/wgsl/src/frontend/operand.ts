import type { Access, AddressSpace, BuiltinCall, Call, Expression, Place, PointerType, Type } from '../ir.ts'
import type { Value } from './constant-value.ts'

/** A const-expression or, with `override`, an override-expression; its type may be abstract. */
export interface ConstantOperand {
  readonly kind: 'constant'
  readonly type: Type
  /** Undefined if it depends on an override without a value (see `ModuleScope`). */
  readonly value: Value | undefined
  readonly override: boolean
  readonly at: number
}

/** A value that is computed at runtime; its type is concrete. */
export interface RuntimeOperand {
  readonly kind: 'runtime'
  readonly type: Type
  readonly expression: Expression
  readonly at: number
}

/** A reference to memory; `type` is the type stored there. */
export interface ReferenceOperand {
  readonly kind: 'reference'
  readonly type: Type
  readonly place: Place
  readonly space: AddressSpace
  readonly access: Access
  readonly at: number
}

/** A pointer; the place that it points to is always known. */
export interface PointerOperand {
  readonly kind: 'pointer'
  readonly type: PointerType
  readonly place: Place
  readonly at: number
}

/** The call of a function that returns nothing. */
export interface NothingOperand {
  readonly kind: 'nothing'
  readonly expression: BuiltinCall<undefined> | Call<undefined>
  readonly at: number
}

/** The result of lowering an expression of the source. */
export type Operand = ConstantOperand | RuntimeOperand | ReferenceOperand | PointerOperand | NothingOperand

/** An operand that has a value. */
export type ValueOperand = ConstantOperand | RuntimeOperand | PointerOperand

/** Whether an operand is a const-expression. */
export function isConstExpression(operand: Operand): boolean {
  return operand.kind === 'constant' && !operand.override
}

/** Creates the operand that a name refers to, at the position of the use. */
export type Binding = (at: number) => Operand
