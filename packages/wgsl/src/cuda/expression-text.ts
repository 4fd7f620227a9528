import type { Binary, BinaryOperator, Expression, Type } from '../ir.ts'
import { elementCount, u32Type } from '../types.ts'
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
import { literalInteger, unsignedText } from './index-text.ts'
import { literalText } from './literals.ts'
import { componentName, loadText } from './place-text.ts'
import { zeroText } from './type-text.ts'

/** An expression as C++. */
export function valueText(writer: FunctionWriter, e: Expression): CxxExpression {
  const { names } = writer.context
  switch (e.kind) {
    case 'literal':
      return literalText(e.value, e.type, names)
    case 'zero':
      return (e.type.kind === 'scalar' ? simple : primary)(zeroText(e.type, names))
    case 'splat':
      return call(writer.type(e.type), [writer.value(e.value)])
    case 'construct':
      return constructText(writer, e.type, writer.values(e.args))
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
      const [left, right] = writer.values([e.left, e.right]) as [CxxExpression, CxxExpression]
      return binaryText(writer, e, left, right)
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
  if (type.kind === 'vector' && parts.length === 1) return parts[0]!
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
  const from = value.type!
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
  const type = base.type!
  const known = literalInteger(index)
  if (type.kind === 'vector')
    return known !== undefined
      ? member(of, componentName(Math.min(known, type.size - 1)))
      : call(names.prelude('component'), [of, at])
  const length = elementCount(type)!
  if (known !== undefined) return primary(`${operand(of)}[${Math.min(known, length - 1)}u]`)
  const isFree = writer.context.bounds === 'unchecked' || writer.context.ranges.isInside(e)
  return primary(
    `${operand(of)}[${isFree ? at.text : `${names.prelude('min')}(${at.text}, ${length - 1}u)`}]`,
  )
}

function swizzleText(
  writer: FunctionWriter,
  base: Expression,
  components: readonly number[],
  type: Type,
): CxxExpression {
  let of = writer.value(base)
  if (components.length === 1) return member(of, componentName(components[0]!))
  if (of.form !== 'simple') of = simple(writer.temporary(base.type!, of.text))
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
  const { names, ranges } = writer.context
  const written = writer.value(value)
  if (type.kind === 'vector')
    names.prelude(
      `vector_operator_${operator === '-' ? 'neg' : operator === '~' ? 'bit_not' : 'logical_not'}`,
    )
  else if (operator === '-' && type.kind === 'scalar' && type.scalar === 'i32') {
    const range = ranges.interval(value)
    if (range === undefined || range.low <= -2147483648) return call(names.prelude('neg'), [written])
  }
  return operation(`${operator}${operand(written)}`)
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
  writer.lines.push(...lines)
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

/** A binary operation; a compound assignment is one too. */
export interface Operation {
  readonly operator: BinaryOperator
  readonly left: Type
  readonly right: Type
  readonly rightValue: Expression
  /** Whether the exact result always fits, so that i32 arithmetic cannot wrap around. */
  readonly isExact: boolean
  /** Whether the right operand is never 0 or -1. */
  readonly isSafeDivisor: boolean
}

function binaryText(
  writer: FunctionWriter,
  e: Binary,
  left: CxxExpression,
  right: CxxExpression,
): CxxExpression {
  return operationText(
    writer,
    {
      operator: e.operator,
      left: e.left.type!,
      right: e.right.type!,
      rightValue: e.right,
      isExact: writer.context.ranges.isExact(e),
      isSafeDivisor: isSafeDivisor(writer, e.right),
    },
    left,
    right,
  )
}

/** Whether the divisor is never 0 or -1. */
export function isSafeDivisor(writer: FunctionWriter, divisor: Expression): boolean {
  const range = writer.context.ranges.interval(divisor)
  return range !== undefined && (range.low > 0 || range.high < -1)
}

/** A binary operation on operands that are written. */
export function operationText(
  writer: FunctionWriter,
  o: Operation,
  left: CxxExpression,
  right: CxxExpression,
): CxxExpression {
  const second = infixOperand(writer, o, right)
  return second === undefined
    ? call(writer.context.names.prelude(operatorFunctions[o.operator]), [left, right])
    : operation(`${operand(left)} ${o.operator} ${operand(second)}`)
}

/** The right operand where C++'s own operator does the same; undefined where a function of the prelude does. */
export function infixOperand(
  writer: FunctionWriter,
  o: Operation,
  right: CxxExpression,
): CxxExpression | undefined {
  const { operator } = o
  if (o.left.kind === 'matrix' || o.right.kind === 'matrix') return right
  if (o.left.kind === 'vector' || o.right.kind === 'vector') {
    writer.context.names.prelude(`vector_operator_${operatorFunctions[operator]}`)
    return right
  }
  const scalar = o.left.kind === 'scalar' ? o.left.scalar : 'u32'
  switch (operator) {
    case '+':
    case '-':
    case '*':
      return scalar === 'i32' && !o.isExact ? undefined : right
    case '/':
    case '%':
      return (scalar === 'i32' || scalar === 'u32') && o.isSafeDivisor ? right : undefined
    case '<<':
    case '>>':
      if (operator === '<<' && scalar === 'i32' && !o.isExact) return undefined
      if (o.rightValue.kind === 'literal') return simple(`${Number(o.rightValue.value) & 31}`)
      return isBelow32(writer, o.rightValue) ? right : operation(`${operand(right)} & 31u`)
    default:
      return right
  }
}

function isBelow32(writer: FunctionWriter, e: Expression): boolean {
  const range = e.type === u32Type ? writer.context.ranges.interval(e) : undefined
  return range !== undefined && range.low >= 0 && range.high <= 31
}
