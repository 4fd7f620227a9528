import type { Access, AddressSpace, Expression, Place, PointerType, Type } from '../ir.ts'
import type { Value } from './constant-value.ts'

/** A const-expression or, with `override`, an override-expression; its type may be abstract. */
export interface ConstantOperand {
  readonly kind: 'constant'
  readonly type: Type
  /** undefined where it depends on an override that has no value (see `ModuleScope`). */
  readonly value: Value | undefined
  readonly override: boolean
  /** The const-declaration it names, if it is the whole of one. */
  readonly declaration: { readonly name: string; readonly at: number } | undefined
  readonly at: number
}

/** A value known when the shader runs; its type is concrete. */
export interface RuntimeOperand {
  readonly kind: 'runtime'
  readonly type: Type
  readonly expression: Expression
  readonly at: number
}

/** Memory; `type` is what is stored there. */
export interface ReferenceOperand {
  readonly kind: 'reference'
  readonly type: Type
  readonly place: Place
  readonly space: AddressSpace
  readonly access: Access
  readonly at: number
}

/** A pointer; what it points to is always known as a place. */
export interface PointerOperand {
  readonly kind: 'pointer'
  readonly type: PointerType
  readonly place: Place
  readonly at: number
}

/** The call of a function that returns nothing. */
export interface NothingOperand {
  readonly kind: 'nothing'
  readonly expression: Expression
  readonly at: number
}

/** What an expression of the source turned out to be. */
export type Operand = ConstantOperand | RuntimeOperand | ReferenceOperand | PointerOperand | NothingOperand

/** An operand that has a value. */
export type ValueOperand = ConstantOperand | RuntimeOperand | PointerOperand

/** Whether an operand is a const-expression. */
export function isConstExpression(operand: Operand): boolean {
  return operand.kind === 'constant' && !operand.override
}

/** Makes the operand that a name stands for, placed where the name is used. */
export type Binding = (at: number) => Operand
