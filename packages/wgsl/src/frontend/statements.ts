import type {
  Block,
  CompoundAssign,
  Expression,
  Place,
  ScalarType,
  Statement,
  Switch,
  SwitchClause,
  Type,
  VectorType,
} from '../ir.ts'
import { i32Type, scalarType, typeName, u32Type } from '../types.ts'
import { operandsOf, withOperands } from '../walk.ts'
import { assignmentTarget, writable } from './assignment-target.ts'
import type {
  AssignNode,
  BlockNode,
  DeclarationNode,
  ExpressionNode,
  ForNode,
  IfNode,
  IncrementNode,
  LoopNode,
  StatementNode,
  SwitchNode,
  WhileNode,
} from './ast.ts'
import type { FunctionScope } from './function-scope.ts'
import { concreteOf, converts, isOverrideSized, scalarOf } from './numeric-types.ts'
import type { Operand, PointerOperand } from './operand.ts'
import { noteMatrices } from './subgroup-matrix.ts'
import { checkArrayLengths, enumerant, resolveAnyType, resolveType } from './type-resolution.ts'
import { isConstructible } from './type-structure.ts'

/** Lowers a block with its own scope. */
function lowerBlock(f: FunctionScope, node: BlockNode): Block {
  return f.scoped(() => lowerBlockInScope(f, node))
}

/** Lowers a block in the current scope. */
export function lowerBlockInScope(f: FunctionScope, node: BlockNode): Block {
  const statements = f.collect(() =>
    f.filtered(node.subgroupUniformity, () => lowerStatements(f, node.statements)),
  )
  return { kind: 'block', statements, loc: f.loc(node.at) }
}

function lowerStatements(f: FunctionScope, nodes: readonly StatementNode[]): void {
  for (const node of nodes) lowerStatement(f, node)
}

/** Lowers one statement, emitting it. */
function lowerStatement(f: FunctionScope, node: StatementNode): void {
  const severity = 'subgroupUniformity' in node && node.kind !== 'block' ? node.subgroupUniformity : undefined
  f.filtered(severity, () => lowerUnfiltered(f, node))
}

function lowerUnfiltered(f: FunctionScope, node: StatementNode): void {
  const loc = f.loc(node.at)
  switch (node.kind) {
    case 'block':
      f.emit(lowerBlock(f, node))
      return
    case 'let':
    case 'var':
    case 'const':
      lowerDeclaration(f, node)
      return
    case 'assign':
      lowerAssign(f, node)
      return
    case 'increment':
      lowerIncrement(f, node)
      return
    case 'call-statement':
      lowerCallStatement(f, node.call)
      return
    case 'if':
      lowerIf(f, node)
      return
    case 'switch':
      lowerSwitch(f, node)
      return
    case 'loop':
      lowerLoop(f, node)
      return
    case 'for':
      lowerFor(f, node)
      return
    case 'while':
      lowerWhile(f, node)
      return
    case 'break':
      if (!f.surroundings.breakable) throw f.error(node.at, "'break' is not in a loop or a switch")
      f.emit({ kind: 'break', loc })
      return
    case 'continue':
      if (f.surroundings.loops === 0) throw f.error(node.at, "'continue' is not in a loop")
      f.noteContinue()
      f.emit({ kind: 'continue', loc })
      return
    case 'discard':
      f.module.functions.noteStages(['fragment'], "'discard'", node.at)
      return
    case 'return':
      lowerReturn(f, node.value, node.at)
      return
    case 'const-assert':
      f.checkAssert(node.condition)
      return
  }
}

function lowerReturn(f: FunctionScope, valueNode: ExpressionNode | undefined, at: number): void {
  if (f.surroundings.continuing) throw f.error(at, "'return' is not allowed in a continuing block")
  const { returnType } = f
  const { name } = f.declaration
  let value: Expression | undefined
  if (valueNode !== undefined) {
    if (returnType === undefined) throw f.error(valueNode.at, `the function '${name}' returns nothing`)
    value = f.expressionAs(f.expression(valueNode), returnType, `the value returned by '${name}'`)
  } else if (returnType !== undefined) {
    throw f.error(at, `the function '${name}' must return ${typeName(returnType)}`)
  }
  f.emit({ kind: 'return', value, loc: f.loc(at) })
}

// -------------------------------------------------------------------------------------------------
// declarations

function lowerDeclaration(f: FunctionScope, node: DeclarationNode): void {
  const { name, nameAt, kind } = node
  if (kind === 'const') {
    const constant = f.module.constantDeclaration(f, { ...node, at: nameAt })
    f.declare(name, nameAt, (at) => ({ ...constant, at }))
    return
  }
  // The initial value is lowered before the name exists: `let sign = sign(a)` calls the function.
  const initial = node.initial && f.expression(node.initial)
  const declared = node.type && (kind === 'let' ? resolveAnyType : resolveType)(f, node.type)
  if (declared !== undefined && isOverrideSized(declared)) {
    throw f.error(
      nameAt,
      `only workgroup variables may have a length that depends on an override, not '${name}'`,
    )
  }
  if (kind === 'let') lowerLet(f, node, declared, initial!)
  else lowerVar(f, node, declared, initial)
}

function lowerLet(
  f: FunctionScope,
  { name, nameAt }: DeclarationNode,
  declared: Type | undefined,
  initial: Operand,
): void {
  const value = f.value(initial)
  const type = declared ?? concreteOf(value.type)
  const converted = f.convert(value, type, `the value of '${name}'`)
  if (converted.kind === 'pointer') {
    const place = freeze(f, converted.place, name, nameAt)
    const pointer: PointerOperand = { ...converted, place }
    f.declare(name, nameAt, (at) => ({ ...pointer, at }))
    return
  }
  checkArrayLengths(f, type, nameAt)
  f.checkValueSize(type, nameAt)
  f.declareLet(name, nameAt, f.expressionOf(converted))
}

/** Evaluates the indices of a place now, so that it can be used later. */
function freeze(f: FunctionScope, place: Place, name: string, at: number): Place {
  return withOperands(place, (operand, role) => frozen(f, operand, `${name}_${role}`, at))
}

function frozen(f: FunctionScope, value: Expression, name: string, at: number): Expression {
  const fixed = value.kind === 'literal' || value.kind === 'value'
  return fixed ? value : f.emitLet(name, at, value)
}

function lowerVar(
  f: FunctionScope,
  node: DeclarationNode,
  declared: Type | undefined,
  initial: Operand | undefined,
): void {
  const { name, nameAt, templates } = node
  const [space] = templates ?? []
  if (space !== undefined && enumerant(f, space) !== 'function') {
    throw f.error(space.at, 'a variable of a function is in the function address space')
  }
  if (templates !== undefined && templates.length > 1) {
    throw f.error(templates[1]!.at, 'a variable in the function address space cannot have an access mode')
  }
  if (declared === undefined && initial === undefined)
    throw f.error(nameAt, `the variable '${name}' needs a type or a value`)
  const type = declared ?? concreteOf(f.value(initial!).type)
  if (!isConstructible(type))
    throw f.error(nameAt, `the variable '${name}' cannot be of type ${typeName(type)}`)
  noteMatrices(f, type, nameAt)
  checkArrayLengths(f, type, nameAt)
  f.checkValueSize(type, nameAt)
  const value = initial && f.expressionAs(initial, type, `the initial value of '${name}'`)
  f.declareVar(name, nameAt, type, value?.kind === 'zero' ? undefined : value)
}

// --------------------------------------------------------------------------------------------------
// assignment

function lowerAssign(f: FunctionScope, node: AssignNode): void {
  const { target: targetNode, operator, value: valueNode, at } = node
  const loc = f.loc(at)
  if (targetNode === undefined) {
    const operand = f.expression(valueNode)
    // No value is made of what a reference refers to, so its size is not limited.
    const value = operand.kind === 'reference' ? f.load(operand) : f.value(operand)
    if (value.kind !== 'pointer') checkArrayLengths(f, value.type, at)
    // For a pointer, the indices on its path are evaluated.
    const evaluated =
      value.kind === 'pointer' ? operandsOf(value.place) : value.kind === 'runtime' ? [value.expression] : []
    for (const expression of evaluated) f.emit({ kind: 'evaluate', value: expression, loc })
    return
  }
  const lowered = assignmentTarget(f, targetNode)
  const swizzle = lowered.kind === 'swizzle' ? lowered : undefined
  const [component, ...others] = swizzle?.components ?? []
  if (swizzle !== undefined && new Set(swizzle.components).size < swizzle.components.length)
    throw f.error(targetNode.at, 'a component is assigned twice')
  const target = lowered.kind === 'swizzle' ? lowered.target : writable(f, lowered, at)
  const type = swizzle?.type ?? target.type
  const place: Place =
    component === undefined
      ? target.place
      : others.length === 0
        ? { kind: 'component-place', base: target.place, component, type: type as ScalarType, loc }
        : freeze(f, target.place, 'target', at)
  const value = f.value(f.expression(valueNode))
  const op = operator === '=' ? undefined : (operator as CompoundAssign['operator'])
  let stored: Expression
  if (op === undefined) stored = f.expressionAs(value, type, 'the value assigned')
  else {
    const load: Expression = { kind: 'load', place, type: place.type, loc }
    const loaded: Expression =
      others.length === 0
        ? load
        : { kind: 'swizzle', base: load, components: swizzle!.components, type: type as VectorType, loc }
    const result = f.binary(op, f.runtime(loaded, at), value, at)
    if (result.type !== type) {
      throw f.error(at, `'${op}=' gives ${typeName(result.type)}, which ${typeName(type)} cannot hold`)
    }
    stored = (result as Extract<typeof result, { kind: 'runtime' }>).expression
  }
  if (others.length > 0) emitComponentStores(f, place, swizzle!.components, stored, at)
  else if (op !== undefined) {
    // The operator is applied when the statement runs; the IR contains only its right side.
    const { right } = stored as Extract<Expression, { kind: 'binary' }>
    f.emit({ kind: 'compound-assign', target: place, operator: op, value: right, loc })
  } else f.emit({ kind: 'assign', target: place, value: stored, loc })
}

/**
 * Stores into distinct components of a vector, whose place is frozen. Stores the whole vector if all
 * components are written.
 */
function emitComponentStores(
  f: FunctionScope,
  target: Place,
  components: readonly number[],
  value: Expression,
  at: number,
): void {
  const loc = f.loc(at)
  const vector = target.type as VectorType
  if (components.length === vector.size) {
    const order = components.map((_, component) => components.indexOf(component))
    f.emit({
      kind: 'assign',
      target,
      value: { kind: 'swizzle', base: value, components: order, type: vector, loc },
      loc,
    })
    return
  }
  const base = frozen(f, value, 'components', at)
  const type = scalarType(vector.scalar)
  for (const [i, component] of components.entries())
    f.emit({
      kind: 'assign',
      target: { kind: 'component-place', base: target, component, type, loc },
      value: { kind: 'swizzle', base, components: [i], type, loc },
      loc,
    })
}

function lowerIncrement(f: FunctionScope, { operator, target: targetNode, at }: IncrementNode): void {
  const target = writable(f, f.expression(targetNode), at)
  const { type } = target
  if (type !== i32Type && type !== u32Type) {
    throw f.error(at, `'${operator}${operator}' applies to i32 and u32, not to ${typeName(type)}`)
  }
  const loc = f.loc(at)
  f.emit({
    kind: 'compound-assign',
    target: target.place,
    operator,
    value: { kind: 'literal', value: 1, type, loc },
    loc,
  })
}

const statementBuiltins = /^(atomic|subgroupMatrixStore$|storageBarrier$|workgroupBarrier$|textureBarrier$)/

function lowerCallStatement(f: FunctionScope, call: Extract<ExpressionNode, { kind: 'call' }>): void {
  const operand = f.expression(call)
  const { name } = call.callee
  const declared = f.module.declaration(name)
  const mayBeUnused =
    declared === undefined
      ? statementBuiltins.test(name)
      : declared.kind === 'function' && declared.attributes.every((a) => a.name !== 'must_use')
  if (!mayBeUnused || (operand.kind !== 'runtime' && operand.kind !== 'nothing'))
    throw f.error(call.at, `the result of '${name}' must be used`)
  f.emit({ kind: 'evaluate', value: operand.expression, loc: f.loc(call.at) })
}

// ------------------------------------------------------------------------------------------------ control
// flow

function lowerIf(f: FunctionScope, node: IfNode): void {
  const condition = f.condition(node.condition, 'the condition of if')
  const then = lowerBlock(f, node.then)
  let otherwise: Block | undefined
  if (node.otherwise?.kind === 'block') otherwise = lowerBlock(f, node.otherwise)
  else if (node.otherwise !== undefined) {
    const inner = node.otherwise
    const statements = f.collect(() => lowerIf(f, inner))
    otherwise = { kind: 'block', statements, loc: f.loc(inner.at) }
  }
  f.emit({ kind: 'if', condition, then, otherwise, loc: f.loc(node.at) })
}

function lowerSwitch(f: FunctionScope, node: SwitchNode): void {
  const { selector, type } = switchSelector(f, node)
  const seen = new Set<number>()
  let hasDefault = false
  const clauses = node.clauses.map((clause): SwitchClause => {
    const selectors: number[] = []
    let isDefault = false
    for (const item of clause.selectors) {
      if (item === 'default') {
        if (hasDefault) throw f.error(clause.at, 'the switch has two default clauses')
        hasDefault = true
        isDefault = true
        continue
      }
      const operand = f.convert(f.constant(item, 'a case selector'), type, 'the case selector')
      const value = Number((operand as Extract<typeof operand, { kind: 'constant' }>).value)
      if (seen.has(value)) throw f.error(item.at, `the switch has two cases ${value}`)
      seen.add(value)
      selectors.push(value)
    }
    const body = f.within({ breakable: true }, () =>
      f.filtered(node.clausesSubgroupUniformity, () => lowerBlock(f, clause.body)),
    )
    return { selectors, isDefault, body, loc: f.loc(clause.at) }
  })
  if (!hasDefault) throw f.error(node.at, 'the switch has no default clause')
  const statement: Switch = { kind: 'switch', selector, clauses, loc: f.loc(node.at) }
  f.emit(statement)
}

function switchSelector(f: FunctionScope, node: SwitchNode): { selector: Expression; type: Type } {
  const operand = f.value(f.expression(node.selector))
  let { type } = operand
  if (scalarOf(type) === 'abstract-int' && type.kind === 'scalar') {
    const cases = node.clauses.flatMap((c) => c.selectors).filter((s) => s !== 'default')
    const types = cases.map((item) => f.constant(item as ExpressionNode, 'a case selector').type)
    type = types.includes(u32Type) ? u32Type : i32Type
  }
  if ((type !== i32Type && type !== u32Type) || !converts(operand.type, type)) {
    throw f.error(node.selector.at, `a switch needs i32 or u32, not ${typeName(operand.type)}`)
  }
  return { selector: f.expressionAs(operand, type, 'the selector'), type }
}

function lowerLoop(f: FunctionScope, node: LoopNode): void {
  const loc = f.loc(node.at)
  const inside = { loops: f.surroundings.loops + 1, breakable: true }
  let continuing: Block | undefined
  let breakIf: Expression | undefined
  const body = f.scoped((names) => {
    const loopScope = { names, visible: undefined }
    const lowered = f.within({ ...inside, loopScope }, () => lowerBlockInScope(f, node.body))
    if (node.continuing === undefined) return lowered
    const part = node.continuing
    const severity = part.body.subgroupUniformity ?? node.body.subgroupUniformity
    f.hideBypassed(loopScope)
    f.within({ loops: 0, breakable: false, continuing: true }, () =>
      f.scoped(() => {
        const statements = f.collect(() => {
          f.filtered(severity, () => {
            lowerStatements(f, part.body.statements)
            if (part.breakIf !== undefined) breakIf = f.condition(part.breakIf, 'the condition of break if')
          })
        })
        continuing = { kind: 'block', statements, loc: f.loc(part.at) }
      }),
    )
    return lowered
  })
  f.emit({ kind: 'loop', body, continuing, breakIf, loc })
}

function loopBody(f: FunctionScope, body: BlockNode): Block {
  const inside = { loops: f.surroundings.loops + 1, breakable: true, loopScope: undefined }
  return f.within(inside, () => lowerBlock(f, body))
}

function lowerFor(f: FunctionScope, node: ForNode): void {
  const loc = f.loc(node.at)
  f.scoped(() => {
    const collected = (part: StatementNode | undefined) =>
      f.collect(() => {
        if (part !== undefined) lowerStatement(f, part)
      })
    const before = collected(node.initial)
    const condition = node.condition && f.condition(node.condition, 'the condition of for')
    const updates = collected(node.update)
    const body = loopBody(f, node.body)
    const initial = before.pop()
    const update: Statement | undefined =
      updates.length > 1 ? { kind: 'block', statements: updates, loc: f.loc(node.update!.at) } : updates[0]
    const loop: Statement = { kind: 'for', keyword: 'for', initial, condition, update, body, loc }
    f.emit(before.length === 0 ? loop : { kind: 'block', statements: [...before, loop], loc })
  })
}

function lowerWhile(f: FunctionScope, node: WhileNode): void {
  const condition = f.condition(node.condition, 'the condition of while')
  const parts = { initial: undefined, condition, update: undefined, body: loopBody(f, node.body) }
  f.emit({ kind: 'for', keyword: 'while', ...parts, loc: f.loc(node.at) })
}
