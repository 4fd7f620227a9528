import type {
  ArrayType,
  BinaryOperator,
  Block,
  Constant,
  Expression,
  IrFunction,
  Location,
  Place,
  Statement,
  StructType,
  Type,
} from '../ir.ts'
import type { SourceText } from '../source-text.ts'
import type {
  BlockNode,
  ExpressionNode,
  FunctionNode,
  GlobalNode,
  ModuleDeclarationNode,
  Severity,
  StructNode,
} from './ast.ts'
import type { Value } from './constant-value.ts'
import type { Binding, ConstantOperand, Operand, RuntimeOperand, ValueOperand } from './operand.ts'
import type { PointerBinding } from './pointer-binding.ts'
import type { Stage } from './stages.ts'

type Typed = Expression & { type: Type }

/** Parameter and return types of a function. */
export interface Signature {
  readonly parameters: readonly Type[]
  readonly returnType: Type | undefined
}

/** The declarations of a module, as the code that lowers its parts uses them; `ModuleScope` implements it and says what each member does. */
export interface Declarations {
  readonly source: SourceText
  /** Lowers expressions of module scope. */
  readonly expressions: ExpressionScope
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
  constantFor(
    declaration: { name: string; at: number },
    type: ArrayType | StructType,
    value: Expression,
  ): Constant
  constantDeclaration(
    expressions: ExpressionScope,
    node: { name: string; type?: GlobalNode['type']; initial: GlobalNode['initial']; at: number },
  ): ConstantOperand
}

/** Lowers expressions of the module or of a function; `ExpressionLowering` implements it and says what each member does. */
export interface ExpressionScope {
  readonly module: Declarations
  readonly subgroupUniformity: Severity
  lookup(name: string): Binding | undefined
  isLocal(name: string): boolean
  error(at: number, text: string): Error
  rejectValue(at: number, text: string, override: boolean): void
  loc(at: number): Location
  constantOperand(at: number, type: Type, value: Value | undefined, override: boolean): ConstantOperand
  runtime(expression: Typed, at: number): RuntimeOperand
  checkValueSize(type: Type, at: number): void
  fold(
    at: number,
    type: Type,
    operands: readonly ConstantOperand[],
    evaluate: (values: readonly Value[]) => Value,
  ): ConstantOperand
  value(operand: Operand): ValueOperand
  describe(operand: Operand): string
  convert(operand: Operand, type: Type, what: string): ValueOperand
  expressionOf(operand: Operand): Typed
  expressionAs(operand: Operand, type: Type, what: string): Typed
  expression(node: ExpressionNode): Operand
  constant(node: ExpressionNode, what: string, override?: boolean): ConstantOperand
  constantInteger(node: ExpressionNode, what: string): number
  integerOf(operand: ConstantOperand, what: string, abstractAs?: 'i32' | 'u32'): number | undefined
  checkAssert(condition: ExpressionNode): void
  condition(node: ExpressionNode, what: string): Expression
  binary(
    operator: BinaryOperator,
    left: ValueOperand,
    right: ValueOperand,
    at: number,
  ): ConstantOperand | RuntimeOperand
}

/** What surrounds a statement and decides which statements may stand there. */
export interface Surroundings {
  /** How many loops surround the statement, within the innermost continuing block. */
  loops: number
  /** Whether `break` leaves a loop or a switch. */
  breakable: boolean
  /** The severity of the rule `subgroup_uniformity` here. */
  subgroupUniformity: Severity
  /** Whether a continuing block surrounds the statement. */
  continuing: boolean
  /** The names of the innermost loop's body, when it is a `loop`; `visible` is how many the first `continue` saw. */
  loopScope: { readonly names: ReadonlyMap<string, Binding>; visible: number | undefined } | undefined
  /** Names that a continuing block must not use, since a `continue` may have bypassed their declarations. */
  bypassed: { readonly names: ReadonlyMap<string, Binding>; readonly hidden: ReadonlySet<string> } | undefined
}

/** Lowers statements of one function; `FunctionLowering` implements it and says what each member does. */
export interface FunctionScope extends ExpressionScope {
  readonly declaration: FunctionNode
  readonly returnType: Type | undefined
  readonly surroundings: Readonly<Surroundings>
  declare(name: string, at: number, binding: Binding): void
  declareLet(name: string, at: number, value: Typed): void
  declareVar(name: string, at: number, type: Type, initial: Expression | undefined): void
  emit(statement: Statement): void
  emitLet(name: string, at: number, value: Typed): Typed
  scoped<T>(run: (names: ReadonlyMap<string, Binding>) => T): T
  collect(run: () => void): Statement[]
  within<T>(surroundings: Partial<Surroundings>, run: () => T): T
  filtered<T>(subgroupUniformity: Severity | undefined, run: () => T): T
  block(node: BlockNode): Block
  noteContinue(): void
  bypassedBy(scope: NonNullable<Surroundings['loopScope']>): Surroundings['bypassed']
}
