import type { CompoundAssign, Evaluated, Expression, Place, Statement, Switch } from '../ir.ts'
import { scalarType } from '../types.ts'
import { moduleVariableOf, operandsOf, viewOf } from '../walk.ts'
import { memoryCallText, plainCallText } from './builtin-text.ts'
import { callText } from './call-text.ts'
import { type CxxExpression, call, operand, simple } from './cxx-expression.ts'
import { infixOperand, operationText } from './expression-text.ts'
import { type FunctionWriter, isFixed } from './function-writer.ts'
import { literalText } from './literals.ts'
import { writeFor, writeLoop } from './loop-text.ts'
import { guarded, type PlaceText, placeText, targetText } from './place-text.ts'
import { settled } from './settled-place.ts'
import { hasPadding, isByReference } from './type-text.ts'

/** Writes a statement. */
export function writeStatement(writer: FunctionWriter, s: Statement): void {
  switch (s.kind) {
    case 'block':
      writer.line('{')
      writer.indented(() => writer.statements(s))
      writer.close()
      return
    case 'let':
    case 'var':
      writer.simple(declarationText(writer, s))
      return
    case 'assign':
      if (writer.context.asyncCopies.copies.has(s) && s.value.kind === 'load')
        writeAsyncCopy(writer, s.target, s.value.place)
      else writeAssign(writer, s.target, s.value)
      return
    case 'compound-assign':
      writeCompound(writer, s)
      return
    case 'evaluate':
      writeEvaluate(writer, s.value)
      return
    case 'if':
      writeIf(writer, s)
      return
    case 'switch':
      writeSwitch(writer, s)
      return
    case 'loop':
      writeLoop(writer, s)
      return
    case 'for':
      writeFor(writer, s)
      return
    case 'break':
      writer.line('break;')
      return
    case 'continue': {
      const label = writer.loopScopes.at(-1)?.label
      writer.line(label === undefined ? 'continue;' : `goto ${label};`)
      return
    }
    case 'return':
      if (writer.context.asyncCopies.returns.has(s)) writer.line(writer.asyncWait())
      writer.line(s.value === undefined ? 'return;' : `return ${resultText(writer, s.value)};`)
      return
  }
}

/**
 * The result of a function. A scalar result of a function that is not inlined is hidden from nvcc 13.0: where
 * nvcc can tell that a function returns one of its arguments, it leaves out calls of it that write memory.
 */
function resultText(writer: FunctionWriter, e: Expression): string {
  const text = writer.initial(e.type, e)
  const isHidden = writer.isCalled && !isByReference(e.type)
  return isHidden ? call(writer.context.names.prelude('unknown'), [text]).text : text
}

function writeEvaluate(writer: FunctionWriter, e: Evaluated): void {
  if (e.type !== undefined) {
    const value = writer.value(e)
    writer.simple(e.kind === 'call' || e.kind === 'builtin-call' ? value.text : `(void)${operand(value)}`)
    return
  }
  const memoryCall = e.kind === 'call' ? undefined : memoryCallText(writer, e)
  if (memoryCall === undefined)
    writer.simple((e.kind === 'call' ? callText(writer, e) : plainCallText(writer, e)).text)
  else {
    const { value, guards } = memoryCall
    writer.line(`${guards.length === 0 ? '' : `if (${guards.join(' && ')}) `}${value.text};`)
  }
}

function declarationText(writer: FunctionWriter, s: Extract<Statement, { kind: 'let' | 'var' }>): string {
  const { names } = writer.context
  const { type } = s.variable
  const text = writer.initial(type, s.kind === 'let' ? s.value : s.initial)
  const name = names.of(s.variable)
  if (writer.hoisted.has(s.variable.id)) return `${name} = ${text}`
  return writer.declaration(type, name, text, s.kind === 'let')
}

/** Stores a value in a place, under its guards. Stores to buffers leave padding as it is. */
function writeStore(writer: FunctionWriter, target: Place, place: PlaceText, value: CxxExpression): void {
  const { names } = writer.context
  if (place.component !== undefined) {
    writer.simple(call(names.prelude('set_component'), [place.value, place.component, value]).text)
    return
  }
  const inBuffer = moduleVariableOf(target)?.space === 'storage' || viewOf(target) !== undefined
  const store =
    inBuffer && hasPadding(target.type)
      ? call(names.prelude('store_padded'), [place.value, value]).text
      : `${operand(place.value)} = ${value.text}`
  if (place.guards.length === 0) writer.simple(store)
  else writer.line(`if (${place.guards.join(' && ')}) ${store};`)
}

function writeAssign(writer: FunctionWriter, target: Place, value: Expression): void {
  // The value may be a copy of a view that overlaps the target.
  const mayOverlap = viewOf(target) !== undefined && !['scalar', 'vector'].includes(target.type.kind)
  if (mayOverlap || writer.context.effects.writes(value)) {
    // The indices of the target are evaluated before the value, which could change them.
    const place = targetText(writer, settled(writer, target))
    const written = writer.value(value)
    const kept = simple(writer.temporary(value.type, written.text))
    if (mayOverlap) writer.line(writer.context.names.prelude('MEMORY_CHANGES'))
    writeStore(writer, target, place, kept)
    return
  }
  const place = targetText(writer, target)
  writeStore(writer, target, place, writer.value(value))
}

/** Neither place has guards: workgroup memory needs none, and `min` clamps the indices of loads. */
function writeAsyncCopy(writer: FunctionWriter, target: Place, source: Place): void {
  const to = targetText(writer, target).value
  const copy = call(writer.context.names.prelude('async_copy'), [to, placeText(writer, source).value])
  writer.line(`${copy.text};`)
}

function writeCompound(writer: FunctionWriter, s: CompoundAssign): void {
  const { effects, names } = writer.context
  const type = s.target.type
  const writes = effects.writes(s.value)
  const mayRepeat = !writes && repeatable(s.target)
  const place = targetText(writer, mayRepeat ? s.target : settled(writer, s.target))
  const { value: lvalue, component } = place
  let left = component === undefined ? lvalue : call(names.prelude('component'), [lvalue, component])
  // The effects of the value take place even if the store does not.
  if (writes) left = simple(writer.temporary(type, guarded(place.guards, left, type, writer).text))
  let right = writer.value(s.value)
  if (writes && place.guards.length > 0) right = simple(writer.temporary(s.value.type, right.text))
  if (left === lvalue && place.guards.length === 0 && isPlain(s) && infixOperand(writer, s, right) === right)
    writer.simple(`${operand(lvalue)} ${s.operator}= ${right.text}`)
  else writeStore(writer, s.target, place, operationText(writer, s, left, right))
}

/** Whether C++'s compound assignment has the same meaning. */
function isPlain(s: CompoundAssign): boolean {
  return s.target.type.kind === 'scalar' && s.target.type.scalar !== 'f16' && s.target.type.scalar !== 'bool'
}

/** Whether the text of the place may be repeated, because no index in it repeats work. */
function repeatable(place: Place): boolean {
  return operandsOf(place).every((e) => isFixed(e) || e.kind === 'load')
}

function writeIf(writer: FunctionWriter, s: Extract<Statement, { kind: 'if' }>): void {
  if (s.condition.kind === 'literal') {
    const live = s.condition.value ? s.then : s.otherwise
    if (live !== undefined) writer.statement(live)
    return
  }
  writer.line(`if (${writer.value(s.condition).text}) {`)
  writer.indented(() => writer.statements(s.then))
  let otherwise = s.otherwise
  while (otherwise !== undefined) {
    const only = otherwise.statements.length === 1 ? otherwise.statements[0]! : undefined
    if (only?.kind === 'if') {
      const { result, lines } = writer.capture(() => writer.value(only.condition))
      if (lines.length === 0) {
        writer.at(only.loc)
        writer.close(`} else if (${result.text}) {`)
        writer.indented(() => writer.statements(only.then))
        otherwise = only.otherwise
        continue
      }
    }
    writer.close('} else {')
    const block = otherwise
    writer.indented(() => writer.statements(block))
    otherwise = undefined
  }
  writer.close()
}

function writeSwitch(writer: FunctionWriter, s: Switch): void {
  const type = s.selector.type
  const scalar = type.kind === 'scalar' ? type : scalarType('i32')
  writer.line(`switch (${writer.value(s.selector).text}) {`)
  writer.indented(() => {
    for (const clause of s.clauses) {
      const heads = clause.selectors.map((v) => `case ${literalText(v, scalar, writer.context.names).text}:`)
      if (clause.isDefault) heads.push('default:')
      writer.at(clause.loc)
      writer.braced(heads.join(' '), clause.body)
      writer.line('break;')
    }
  })
  writer.close()
}
