import { type BuiltinFacts, builtinFacts } from './builtin-functions.ts'
import type {
  AddressOf,
  Evaluated,
  Expression,
  IrFunction,
  IrModule,
  ModuleVariable,
  Place,
  Statement,
  ViewPlace,
} from './ir.ts'

/**
 * Callbacks of `walk`. Each is called before the children of a node and returns false to skip them; any other
 * result is ignored.
 */
export interface Visitor {
  statement?(statement: Statement): unknown
  expression?(expression: Evaluated): unknown
  place?(place: Place, use: PlaceUse): unknown
  /** Called after the children of a statement or an expression, unless they were skipped. */
  leave?(node: Statement | Evaluated): void
}

/**
 * How a whole place is used; its bases are visited with the same use. `measure` reads only the length of an
 * array. With `address`, a user function may use the memory in any way.
 */
export type PlaceUse = NonNullable<BuiltinFacts['pointer']> | 'address'

/**
 * Visits everything under a function, statement, expression or all functions of a module, in order of
 * evaluation.
 */
export function walk(node: IrModule | IrFunction | Statement | Evaluated, visitor: Visitor): void {
  switch (node.kind) {
    case 'module':
      for (const f of node.functions) walkStatement(f.body, visitor)
      return
    case 'function':
      walkStatement(node.body, visitor)
      return
    default:
      if (isStatement(node)) walkStatement(node, visitor)
      else walkExpression(node, visitor)
  }
}

/**
 * Whether the test holds for any statement, expression or place under the node, including the node itself.
 */
export function some(
  node: IrModule | IrFunction | Statement | Evaluated,
  test: (part: Statement | Evaluated | Place) => boolean,
): boolean {
  let found = false
  const visit = (part: Statement | Evaluated | Place) => {
    found ||= test(part)
    return !found
  }
  walk(node, { statement: visit, expression: visit, place: visit })
  return found
}

const statementKinds: ReadonlySet<string> = new Set<Statement['kind']>([
  ...(['block', 'let', 'var', 'assign', 'compound-assign', 'evaluate', 'if', 'switch'] as const),
  ...(['loop', 'for', 'break', 'continue', 'return'] as const),
])

function isStatement(node: Statement | Evaluated): node is Statement {
  return statementKinds.has(node.kind)
}

/** Visits a statement and its children. */
function walkStatement(statement: Statement, visitor: Visitor): void {
  if (visitor.statement?.(statement) === false) return
  walkInsideStatement(statement, visitor)
  visitor.leave?.(statement)
}

function walkInsideStatement(statement: Statement, visitor: Visitor): void {
  const inside = (s: Statement | undefined) => s && walkStatement(s, visitor)
  const value = (e: Evaluated | undefined) => e && walkExpression(e, visitor)
  switch (statement.kind) {
    case 'block':
      for (const s of statement.statements) walkStatement(s, visitor)
      return
    case 'var':
      value(statement.initial)
      return
    case 'assign':
    case 'compound-assign':
      walkPlace(statement.target, statement.kind === 'assign' ? 'store' : 'load-store', visitor)
      value(statement.value)
      return
    case 'if':
      value(statement.condition)
      inside(statement.then)
      inside(statement.otherwise)
      return
    case 'switch':
      value(statement.selector)
      for (const clause of statement.clauses) inside(clause.body)
      return
    case 'loop':
      inside(statement.body)
      inside(statement.continuing)
      value(statement.breakIf)
      return
    case 'for':
      inside(statement.initial)
      value(statement.condition)
      inside(statement.body)
      inside(statement.update)
      return
    case 'let':
    case 'evaluate':
    case 'return':
      value(statement.value)
      return
    case 'break':
    case 'continue':
      return
  }
}

/** Visits an expression and its children. If it is an address, `use` is the use of the place. */
function walkExpression(expression: Evaluated, visitor: Visitor, use: PlaceUse = 'address'): void {
  if (visitor.expression?.(expression) === false) return
  if (expression.kind === 'address-of') walkPlace(expression.place, use, visitor)
  else walkInsideExpression(expression, visitor)
  visitor.leave?.(expression)
}

function walkInsideExpression(expression: Exclude<Evaluated, AddressOf>, visitor: Visitor): void {
  switch (expression.kind) {
    case 'literal':
    case 'zero':
    case 'value':
    case 'constant':
      return
    case 'splat':
    case 'convert':
    case 'bitcast':
    case 'unary':
      walkExpression(expression.value, visitor)
      return
    case 'construct':
    case 'call':
      for (const argument of expression.args) walkExpression(argument, visitor)
      return
    case 'builtin-call':
      for (const argument of expression.args)
        walkExpression(argument, visitor, builtinFacts[expression.name].pointer)
      return
    case 'load':
      walkPlace(expression.place, 'load', visitor)
      return
    case 'member':
    case 'swizzle':
      walkExpression(expression.base, visitor)
      return
    case 'index':
      walkExpression(expression.base, visitor)
      walkExpression(expression.index, visitor)
      return
    case 'binary':
    case 'logical':
      walkExpression(expression.left, visitor)
      walkExpression(expression.right, visitor)
      return
  }
}

/** Visits a place, its bases with the same use, and its index expressions. */
function walkPlace(place: Place, use: PlaceUse, visitor: Visitor): void {
  if (visitor.place?.(place, use) === false) return
  if (place.kind === 'variable' || place.kind === 'deref') return
  walkPlace(place.base, use, visitor)
  for (const e of ownOperands(place)) walkExpression(e, visitor)
}

/** The expressions that a place evaluates, in order: indices, and the offsets and sizes of views. */
export function operandsOf(place: Place): readonly Expression[] {
  if (place.kind === 'variable' || place.kind === 'deref') return []
  return [...operandsOf(place.base), ...ownOperands(place)]
}

/** The place with its operands replaced; `replace` is called in the order of evaluation. */
export function withOperands(
  place: Place,
  replace: (operand: Expression, role: 'index' | 'offset' | 'size') => Expression,
): Place {
  if (place.kind === 'variable' || place.kind === 'deref') return place
  const base = withOperands(place.base, replace)
  if (place.kind === 'index-place') return { ...place, base, index: replace(place.index, 'index') }
  if (place.kind !== 'view-place') return { ...place, base } as Place
  const offset = replace(place.offset, 'offset')
  return { ...place, base, offset, size: place.size && replace(place.size, 'size') } as Place
}

/** The operands of a place without those of its base. */
function ownOperands(place: Place): readonly Expression[] {
  if (place.kind === 'index-place') return [place.index]
  if (place.kind !== 'view-place') return []
  return place.size === undefined ? [place.offset] : [place.offset, place.size]
}

/** The place whose address a built-in function receives. */
export function addressed(e: Expression): Place {
  if (e.kind !== 'address-of') throw new TypeError(`a pointer is ${e.kind}, not address-of`)
  return e.place
}

/** The variable or pointer parameter at the root of a place. */
export function rootOf(place: Place): Extract<Place, { kind: 'variable' | 'deref' }> {
  let p = place
  while (p.kind !== 'variable' && p.kind !== 'deref') p = p.base
  return p
}

/**
 * The module variable that contains a place; undefined for a place in a local variable or reached through a
 * pointer.
 */
export function moduleVariableOf(place: Place): ModuleVariable | undefined {
  const root = rootOf(place)
  return root.kind === 'variable' && root.variable.kind === 'module-variable' ? root.variable : undefined
}

/** Whether no invocation changes this memory while the kernel runs. */
export function isConstantMemory({ space, access }: ModuleVariable): boolean {
  return space === 'uniform' || (space === 'storage' && access === 'read')
}

/** The buffer view that contains a place, if any. */
export function viewOf(place: Place): ViewPlace | undefined {
  let p = place
  while (p.kind !== 'variable' && p.kind !== 'deref') {
    if (p.kind === 'view-place') return p
    p = p.base
  }
  return undefined
}
