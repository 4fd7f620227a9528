import type { Block, CompoundAssign, Expression, Place, Statement, Switch, SwizzleAssign } from '../ir.ts'
import { scalarType } from '../types.ts'
import { rootOf, viewOf } from '../walk.ts'
import { isSafeDivisor, operationText, valueText } from './expression-text.ts'
import { type FunctionWriter, isFixed, isSimple, unwrapped } from './function-writer.ts'
import { literalText } from './literals.ts'
import { writeFor, writeLoop, writeWhile } from './loop-text.ts'
import { componentName, type PlaceText, placeText } from './place-text.ts'
import { settled } from './settled-place.ts'
import { hasPadding, zeroText } from './type-text.ts'

/** Writes the statements of a block, without braces. */
export function writeStatements(writer: FunctionWriter, block: Block): void {
  for (const s of block.statements) writeStatement(writer, s)
}

/** Writes a block in braces after `head`. */
export function writeBraced(writer: FunctionWriter, head: string, block: Block): void {
  writer.line(`${head} {`)
  writer.indented(() => writeStatements(writer, block))
  writer.close()
}

/** Writes a statement. */
export function writeStatement(writer: FunctionWriter, s: Statement): void {
  writer.at(s.loc)
  switch (s.kind) {
    case 'block':
      writer.line('{')
      writer.indented(() => writeStatements(writer, s))
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
    case 'swizzle-assign':
      writeSwizzle(writer, s)
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
    case 'while':
      writeWhile(writer, s)
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
      if (writer.context.asyncCopies.returns.has(s)) writer.line('async_wait();')
      writer.line(s.value === undefined ? 'return;' : `return ${unwrapped(valueText(writer, s.value))};`)
      return
  }
}

function writeEvaluate(writer: FunctionWriter, e: Expression): void {
  const text = valueText(writer, e)
  // An atomic without result is a statement: it may stand under guards.
  if (e.kind === 'builtin-call' && e.type === undefined && e.name.startsWith('atomic'))
    writer.line(`${text};`)
  else writer.simple(e.kind === 'call' || e.kind === 'builtin-call' ? unwrapped(text) : `(void)${text}`)
}

function declarationText(writer: FunctionWriter, s: Extract<Statement, { kind: 'let' | 'var' }>): string {
  const { names } = writer.context
  const initial = s.kind === 'let' ? s.value : s.initial
  const text =
    initial === undefined ? zeroText(s.variable.type, names) : unwrapped(valueText(writer, initial))
  const name = names.of(s.variable)
  if (writer.hoisted.has(s.variable.id)) return `${name} = ${text}`
  return `${s.kind === 'let' ? 'const ' : ''}${writer.type(s.variable.type)} ${name} = ${text}`
}

/** Stores `text` in a place, under its guards. */
function writeStore(writer: FunctionWriter, target: Place, place: PlaceText, text: string): void {
  if (place.component !== undefined) {
    // C++'s `&` and `|` of bools give int, which the template would take for another type.
    const isBool = target.type.kind === 'scalar' && target.type.scalar === 'bool'
    const value = isBool ? `bool(${unwrapped(text)})` : unwrapped(text)
    writer.simple(`set_component(${place.text}, ${place.component}, ${value})`)
    return
  }
  const root = rootOf(target)
  const inBuffer =
    root.kind === 'variable' && root.variable.kind === 'module-variable' && root.variable.space === 'storage'
  const store =
    (inBuffer || viewOf(target) !== undefined) && hasPadding(target.type)
      ? `store_padded(${place.text}, ${unwrapped(text)})`
      : `${place.text} = ${unwrapped(text)}`
  if (place.guards.length === 0) writer.simple(store)
  else writer.line(`if (${place.guards.join(' && ')}) ${store};`)
}

function writeAssign(writer: FunctionWriter, target: Place, value: Expression): void {
  const { effects } = writer.context
  if (effects.writes(value)) {
    // Its indices are evaluated before the value, which could change them.
    const place = placeText(writer, settled(writer, target), 'store')
    const text = isFixed(value)
      ? valueText(writer, value)
      : writer.temporary(value.type!, valueText(writer, value))
    writeStore(writer, target, place, text)
    return
  }
  const place = placeText(writer, target, 'store')
  writeStore(writer, target, place, valueText(writer, value))
}

/** Neither place has conditions: there are none in workgroup memory, and loads are brought inside by `min`. */
function writeAsyncCopy(writer: FunctionWriter, target: Place, source: Place): void {
  const to = placeText(writer, target, 'store').text
  writer.line(`async_copy(${to}, ${placeText(writer, source, 'load').text});`)
}

/** The text of a value that is stored in a place; its effects take place whether or not the store does. */
function effectText(writer: FunctionWriter, value: Expression, place: PlaceText): string {
  const text = valueText(writer, value)
  return place.guards.length > 0 && writer.context.effects.writes(value)
    ? writer.temporary(value.type!, text)
    : text
}

function writeCompound(writer: FunctionWriter, s: CompoundAssign): void {
  const { effects, ranges } = writer.context
  const target = effects.writes(s.value) || !repeatable(s.target) ? settled(writer, s.target) : s.target
  const place = placeText(writer, target, 'store')
  let left = place.component === undefined ? place.text : `component(${place.text}, ${place.component})`
  if (effects.writes(s.value)) {
    const type = s.target.type
    left = writer.temporary(
      type,
      place.guards.length === 0
        ? left
        : `${place.guards.join(' && ')} ? ${left} : ${zeroText(type, writer.context.names)}`,
    )
  }
  const right = effectText(writer, s.value, place)
  const text = operationText(
    writer,
    {
      operator: s.operator,
      left: s.target.type,
      right: s.value.type!,
      rightValue: s.value,
      isExact: ranges.isExact(s),
      isSafeDivisor: isSafeDivisor(writer, s.value),
    },
    left,
    right,
  )
  const infix = `(${left} ${s.operator} ${right})`
  if (
    text === infix &&
    place.guards.length === 0 &&
    place.component === undefined &&
    isPlain(s) &&
    left === place.text
  )
    writer.simple(`${place.text} ${s.operator}= ${unwrapped(right)}`)
  else writeStore(writer, s.target, place, text)
}

/** C++'s compound assignment does the same. */
function isPlain(s: CompoundAssign): boolean {
  return s.target.type.kind === 'scalar' && s.target.type.scalar !== 'f16' && s.target.type.scalar !== 'bool'
}

/** A place whose text may stand twice: no index in it does work. */
function repeatable(place: Place): boolean {
  switch (place.kind) {
    case 'variable':
    case 'deref':
      return true
    case 'index-place':
      return (isFixed(place.index) || place.index.kind === 'load') && repeatable(place.base)
    case 'view-place':
      return isFixed(place.offset) && (place.size === undefined || isFixed(place.size))
    default:
      return repeatable(place.base)
  }
}

function writeSwizzle(writer: FunctionWriter, s: SwizzleAssign): void {
  const target = settled(writer, s.target)
  if (target.type.kind !== 'vector') throw new TypeError('a swizzle names components of a vector')
  const part = {
    kind: 'vector' as const,
    size: s.components.length as 2 | 3 | 4,
    scalar: target.type.scalar,
  }
  const place = placeText(writer, target, 'store')
  let text: string
  if (s.operator === undefined) text = valueText(writer, s.value)
  else {
    const swizzled = `${writer.type(part)}(${s.components.map((c) => `${place.text}.${componentName(c)}`).join(', ')})`
    const left =
      place.guards.length > 0
        ? writer.temporary(
            part,
            `${place.guards.join(' && ')} ? ${swizzled} : ${zeroText(part, writer.context.names)}`,
          )
        : writer.temporary(part, swizzled)
    text = operationText(
      writer,
      {
        operator: s.operator,
        left: part,
        right: s.value.type!,
        rightValue: s.value,
        isExact: false,
        isSafeDivisor: false,
      },
      left,
      valueText(writer, s.value),
    )
  }
  const value = isSimple(text) && isFixed(s.value) ? text : writer.temporary(part, text)
  for (const [i, c] of s.components.entries()) {
    const store = `${place.text}.${componentName(c)} = ${value}.${componentName(i)};`
    writer.line(place.guards.length === 0 ? store : `if (${place.guards.join(' && ')}) ${store}`)
  }
}

function writeIf(writer: FunctionWriter, s: Extract<Statement, { kind: 'if' }>): void {
  if (s.condition.kind === 'literal') {
    const live = s.condition.value ? s.then : s.otherwise
    if (live !== undefined) writeStatement(writer, live)
    return
  }
  writer.line(`if (${unwrapped(valueText(writer, s.condition))}) {`)
  writer.indented(() => writeStatements(writer, s.then))
  let otherwise = s.otherwise
  while (otherwise !== undefined) {
    const only = otherwise.statements.length === 1 ? otherwise.statements[0]! : undefined
    if (only?.kind === 'if') {
      const { result, lines } = writer.capture(() => unwrapped(valueText(writer, only.condition)))
      if (lines.length === 0) {
        writer.at(only.loc)
        writer.close(`} else if (${result}) {`)
        writer.indented(() => writeStatements(writer, only.then))
        otherwise = only.otherwise
        continue
      }
    }
    writer.close('} else {')
    const block = otherwise
    writer.indented(() => writeStatements(writer, block))
    otherwise = undefined
  }
  const zeroed = writer.context.zeroInit.otherwise.get(s)
  if (zeroed !== undefined) {
    // Workgroup memory reads as zero where no thread writes it.
    writer.close('} else {')
    writer.indented(() => {
      for (const place of zeroed)
        writer.line(
          `${placeText(writer, place, 'store').text} = ${zeroText(place.type, writer.context.names)};`,
        )
    })
  }
  writer.close()
}

function writeSwitch(writer: FunctionWriter, s: Switch): void {
  const type = s.selector.type!
  const scalar = type.kind === 'scalar' ? type : scalarType('i32')
  writer.line(`switch (${unwrapped(valueText(writer, s.selector))}) {`)
  writer.indented(() => {
    for (const clause of s.clauses) {
      const heads = clause.selectors.map((v) => `case ${literalText(v, scalar)}:`)
      if (clause.isDefault) heads.push('default:')
      writer.at(clause.loc)
      writeBraced(writer, heads.join(' '), clause.body)
      writer.line('break;')
    }
  })
  writer.close()
}
