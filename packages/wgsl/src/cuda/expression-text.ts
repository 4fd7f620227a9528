import type { Binary, BinaryOperator, CompoundAssign, Expression, Type } from '../ir.ts'
import { boolType, elementCount, i32Type, u32Type } from '../types.ts'
import { builtinText } from './builtin-text.ts'
import { callText } from './call-text.ts'
import {
  type CxxExpression,
  call,
  cast,
  member,
  operand,
  operation,
  primary,
  simple,
} from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'
import { elementAt, literalInteger, unsignedText } from './index-text.ts'
import { literalText } from './literals.ts'
import { componentName, loadText } from './place-text.ts'
import { isComposite, zeroText } from './type-text.ts'

/** An expression as C++. A new composite is in memory of its own, not in a C++ temporary. */
export function valueText(writer: FunctionWriter, e: Expression): CxxExpression {
  const text = initialText(writer, e)
  return isComposite(e.type) && !isPart(e) ? primary(writer.own(e.type, text.text)) : text
}

/** Whether the expression names an object or a part of one. */
function isPart({ kind }: Expression): boolean {
  return kind === 'value' || kind === 'constant' || kind === 'load' || kind === 'member' || kind === 'index'
}

/** The same as the initial value or the result of something that is itself in such memory. */
export function initialText(writer: FunctionWriter, e: Expression): CxxExpression {
  const { names, exitConditions } = writer.context
  const text = computedText(writer, e)
  return exitConditions.has(e) ? call(names.prelude('unknown'), [text]) : text
}

function computedText(writer: FunctionWriter, e: Expression): CxxExpression {
  const { names } = writer.context
  switch (e.kind) {
    case 'literal':
      return literalText(e.value, e.type, names)
    case 'zero':
      return (e.type.kind === 'scalar' ? simple : primary)(zeroText(e.type, names))
    case 'splat':
      return call(writer.type(e.type), [writer.value(e.value)])
    case 'construct':
      return constructText(writer, e.type, writer.values(e.args, initialText))
    case 'convert':
      return convertText(writer, e.value, e.type)
    case 'bitcast':
      return call(`${names.prelude('bitcast')}<${writer.type(e.type)}>`, [writer.value(e.value)])
    case 'value':
      return simple(names.of(e.value))
    case 'constant':
      return simple(names.of(e.constant))
    case 'load':
      return loadText(writer, e.place)
    case 'address-of':
      throw new TypeError('an address stands only as an argument')
    case 'member':
      return member(writer.value(e.base), names.member(e.member.name))
    case 'index':
      return indexValueText(writer, e.base, e.index, e)
    case 'swizzle':
      return swizzleText(writer, e.base, e.components, e.type)
    case 'unary':
      return unaryText(writer, e.operator, e.value, e.type)
    case 'binary': {
      const texts = writer.values([e.left, e.right], e.type === boolType ? comparedText : valueText)
      return operationText(writer, e, ...(texts as [CxxExpression, CxxExpression]))
    }
    case 'logical':
      return logicalText(writer, e.operator, e.left, e.right)
    case 'builtin-call':
      return builtinText(writer, e)
    case 'call':
      return callText(writer, e)
  }
}

/** A composite from the texts of its parts. */
function constructText(writer: FunctionWriter, type: Type, parts: readonly CxxExpression[]): CxxExpression {
  const name = writer.type(type)
  if (type.kind === 'matrix' && parts.length !== type.columns) {
    const column = writer.type({ kind: 'vector', size: type.rows, scalar: type.scalar })
    const columns = Array.from({ length: type.columns }, (_, c) =>
      call(column, parts.slice(c * type.rows, (c + 1) * type.rows)),
    )
    return call(name, columns)
  }
  if (type.kind !== 'array') return call(name, parts)
  const isSlot = type.element.kind === 'vector' && type.element.size === 3
  return primary(`${name}{{${parts.map(({ text }) => (isSlot ? `{${text}}` : text)).join(', ')}}}`)
}

function convertText(writer: FunctionWriter, value: Expression, type: Type): CxxExpression {
  const { names } = writer.context
  const written = writer.value(value)
  const from = value.type
  const { scalar } = type as Extract<Type, { kind: 'scalar' | 'vector' | 'matrix' }>
  const target = writer.type({ kind: 'scalar', scalar })
  if (type.kind === 'scalar' && from.kind === 'scalar') {
    const isPlain =
      scalar === 'i32' || scalar === 'u32' ? from.scalar !== 'f32' && from.scalar !== 'f16' : scalar === 'f32'
    if (isPlain) return cast(target, written)
    if (scalar === 'f16') return call(target, [written])
    if (from.scalar !== 'f16' && scalar === 'bool')
      return operation(`${operand(written)} != ${zeroText(from, names)}`)
  }
  return call(`${names.prelude('convert')}<${target}>`, [written])
}

function indexValueText(
  writer: FunctionWriter,
  base: Expression,
  index: Expression,
  e: Extract<Expression, { kind: 'index' }>,
): CxxExpression {
  const { names } = writer.context
  const [of, at] = writer.ordered([
    { expression: base, text: () => writer.value(base) },
    { expression: index, text: () => unsignedText(writer, index) },
  ]) as [CxxExpression, CxxExpression]
  const type = base.type
  if (type.kind === 'vector') return call(names.prelude('component'), [of, at])
  const known = literalInteger(index)
  const length = elementCount(type)!
  if (known !== undefined) return elementAt(writer, e, of, `${Math.min(known, length - 1)}u`)
  const isFree = writer.context.bounds === 'unchecked' || writer.context.ranges.isInside(e)
  const inside = isFree ? at.text : `${names.prelude('min')}(${at.text}, ${length - 1}u)`
  return elementAt(writer, e, of, inside)
}

function swizzleText(
  writer: FunctionWriter,
  base: Expression,
  components: readonly number[],
  type: Type,
): CxxExpression {
  let of = writer.value(base)
  if (components.length === 1) return member(of, componentName(components[0]!))
  if (of.form !== 'simple') of = simple(writer.temporary(base.type, of.text))
  return call(
    writer.type(type),
    components.map((c) => member(of, componentName(c))),
  )
}

function unaryText(
  writer: FunctionWriter,
  operator: '-' | '!' | '~',
  value: Expression,
  type: Type,
): CxxExpression {
  const { names } = writer.context
  const written = writer.value(value)
  if (operator === '~') return complementText(writer, written, type)
  if (type.kind === 'vector') names.prelude(`vector_operator_${operator === '-' ? 'neg' : 'logical_not'}`)
  else if (operator === '-' && type === i32Type) return call(names.prelude('neg'), [written])
  return operation(`${operator}${operand(written)}`)
}

/**
 * The complement of integers, which neither nvcc nor ptxas sees as one: nvcc 13.0 does not end where a minimum or
 * maximum has a complement and another minimum or maximum as operands, since LLVM 7 moves complements out of
 * them and back, and ptxas 13.0 makes errors with literals that nvcc does not know. Where `-1 - x` or `x ^ -1` says the
 * same, it is written for them too. Operands of comparisons, which nothing else can use, stay plain.
 */
function complementText(writer: FunctionWriter, written: CxxExpression, type: Type): CxxExpression {
  const { names } = writer.context
  if (type.kind !== 'vector') return call(names.prelude('bit_not'), [written])
  names.prelude('vector_operator_bit_not')
  return operation(`~${operand(written)}`)
}

/** An operand of a comparison, whose result is no minimum. */
function comparedText(writer: FunctionWriter, e: Expression): CxxExpression {
  if (e.kind !== 'unary' || e.operator !== '~') return writer.context.valueText(writer, e)
  return operation(`~${operand(writer.value(e.value))}`)
}

/** The complement of a value of one type as another, a vector of such values. */
function complementOf(writer: FunctionWriter, from: Type, written: CxxExpression, type: Type): CxxExpression {
  const complement = complementText(writer, written, from)
  return from.kind === type.kind ? complement : call(writer.type(type), [complement])
}

/** Whether all bits of all components are known to be set. */
function isAllOnes(e: Expression): boolean {
  if (e.kind === 'splat') return isAllOnes(e.value)
  if (e.kind === 'construct') return e.type.kind === 'vector' && e.args.every(isAllOnes)
  if (e.kind !== 'literal' || (e.type !== i32Type && e.type !== u32Type)) return false
  return e.value === -1 || e.value === 0xffff_ffff
}

function logicalText(
  writer: FunctionWriter,
  operator: '&&' | '||',
  left: Expression,
  right: Expression,
): CxxExpression {
  const first = writer.value(left)
  const { result: second, lines } = writer.capture(() => {
    writer.depth++
    const written = writer.value(right)
    writer.depth--
    return written
  })
  if (lines.length === 0) return operation(`${operand(first)} ${operator} ${operand(second)}`)
  const name = writer.temporaryName()
  writer.line(`bool ${name} = ${first.text};`)
  writer.line(`if (${operator === '&&' ? name : `!${name}`}) {`)
  for (const line of lines) writer.lines.push(line)
  writer.indented(() => writer.line(`${name} = ${second.text};`))
  writer.close()
  return simple(name)
}

const operatorFunctions: Record<BinaryOperator, string> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'rem',
  '&': 'bit_and',
  '|': 'bit_or',
  '^': 'bit_xor',
  '<<': 'shl',
  '>>': 'shr',
  '==': 'equal',
  '!=': 'not_equal',
  '<': 'less',
  '<=': 'less_equal',
  '>': 'greater',
  '>=': 'greater_equal',
}

/** A binary operation, or that of a compound assignment, on operands that are already written. */
export function operationText(
  writer: FunctionWriter,
  e: Binary | CompoundAssign,
  left: CxxExpression,
  right: CxxExpression,
): CxxExpression {
  if ((e.operator === '^' || e.operator === '-') && e.kind === 'binary' && isAllOnes(e.left))
    return complementOf(writer, e.right.type, right, e.type)
  if (e.operator === '^' && isAllOnes(rightOf(e))) {
    const { type } = e.kind === 'binary' ? e.left : e.target
    return complementOf(writer, type, left, e.kind === 'binary' ? e.type : type)
  }
  const second = infixOperand(writer, e, right)
  if (second === undefined)
    return call(writer.context.names.prelude(operatorFunctions[e.operator]), [left, right])
  const result = operation(`${operand(left)} ${e.operator} ${operand(second)}`)
  // C++'s `&` and `|` on bools return int.
  const isOfBools = (e.operator === '&' || e.operator === '|') && rightOf(e).type === boolType
  return isOfBools ? call('bool', [result]) : result
}

function rightOf(e: Binary | CompoundAssign): Expression {
  return e.kind === 'binary' ? e.right : e.value
}

/** The right operand if C++'s own operator has the same effect; undefined if a prelude function is needed. */
export function infixOperand(
  writer: FunctionWriter,
  e: Binary | CompoundAssign,
  right: CxxExpression,
): CxxExpression | undefined {
  const { names } = writer.context
  const { operator } = e
  const type = e.kind === 'binary' ? e.left.type : e.target.type
  const rightValue = rightOf(e)
  if (type.kind === 'matrix' || rightValue.type.kind === 'matrix') return right
  if (type.kind === 'vector' || rightValue.type.kind === 'vector') {
    names.prelude(`vector_operator_${operatorFunctions[operator]}`)
    return right
  }
  const isI32 = type === i32Type
  switch (operator) {
    case '+':
    case '-':
    case '*':
      return isI32 ? undefined : right
    case '/':
    case '%':
      return undefined
    case '<<':
    case '>>':
      if (operator === '<<' && isI32) return undefined
      return operation(`${operand(right)} & 31u`)
    default:
      return right
  }
}
