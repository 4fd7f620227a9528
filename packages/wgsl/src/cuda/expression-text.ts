import type { Binary, BinaryOperator, Expression, Type } from '../ir.ts'
import { u32Type } from '../types.ts'
import { builtinText } from './builtin-text.ts'
import { callText } from './call-text.ts'
import { type FunctionWriter, isFixed, isSimple, unwrapped } from './function-writer.ts'
import { literalText } from './literals.ts'
import { componentName, loadText, unsignedText } from './place-text.ts'
import { typeText, zeroText } from './type-text.ts'

/** The value of an integer literal that can be an index. */
export function literalInteger(e: Expression): number | undefined {
  return e.kind === 'literal' && typeof e.value === 'number' && e.value >= 0 ? e.value : undefined
}

/** An expression as C++; binary and unary operations come in parentheses. */
export function valueText(writer: FunctionWriter, e: Expression): string {
  const { names } = writer.context
  switch (e.kind) {
    case 'literal':
      return literalText(e.value, e.type)
    case 'zero':
      return zeroText(e.type, names)
    case 'splat':
      return `${writer.type(e.type)}(${unwrapped(valueText(writer, e.value))})`
    case 'construct':
      return constructText(writer, e.type, valueTexts(writer, e.args))
    case 'convert':
      return convertText(writer, e.value, e.type)
    case 'bitcast':
      return `bitcast<${writer.type(e.type)}>(${unwrapped(valueText(writer, e.value))})`
    case 'value':
      return names.of(e.value)
    case 'constant':
      return names.of(e.constant)
    case 'load':
      return loadText(writer, e.place)
    case 'address-of':
      throw new TypeError('an address stands only as an argument')
    case 'member':
      return `${valueText(writer, e.base)}.${names.member(e.member.name)}`
    case 'index':
      return indexValueText(writer, e.base, e.index, e)
    case 'swizzle':
      return swizzleText(writer, e.base, e.components, e.type)
    case 'unary':
      return unaryText(writer, e.operator, e.value, e.type)
    case 'binary': {
      const [left, right] = valueTexts(writer, [e.left, e.right]) as [string, string]
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

/** Operands in WGSL's order: those that C++ might evaluate at a moment when they have another value go into temporaries. */
export function valueTexts(writer: FunctionWriter, expressions: readonly Expression[]): string[] {
  return orderedTexts(
    writer,
    expressions.map((e) => ({ expression: e, text: () => valueText(writer, e) })),
  )
}

/** As `valueTexts`, for operands with their own way of being written. */
export function orderedTexts(
  writer: FunctionWriter,
  operands: readonly { expression: Expression; text: () => string }[],
): string[] {
  const { effects } = writer.context
  const last = operands.findLastIndex((o) => effects.writes(o.expression))
  const restIsFixed = operands.slice(last + 1).every((o) => !effects.reads(o.expression))
  return operands.map(({ expression, text }, i) => {
    const written = text()
    if (i > last || isFixed(expression) || expression.kind === 'address-of') return written
    const quiet = !effects.reads(expression) && !effects.writes(expression)
    if (quiet || (i === last && restIsFixed) || expression.type === undefined) return written
    return writer.temporary(expression.type, written)
  })
}

/** A composite from the texts of its parts. */
export function constructText(writer: FunctionWriter, type: Type, parts: readonly string[]): string {
  const args = parts.map(unwrapped)
  switch (type.kind) {
    case 'vector':
      return parts.length === 1 ? parts[0]! : `${writer.type(type)}(${args.join(', ')})`
    case 'matrix': {
      if (args.length === type.columns) return `${writer.type(type)}(${args.join(', ')})`
      const column = writer.type({ kind: 'vector', size: type.rows, scalar: type.scalar })
      const columns = Array.from(
        { length: type.columns },
        (_, c) => `${column}(${args.slice(c * type.rows, (c + 1) * type.rows).join(', ')})`,
      )
      return `${writer.type(type)}(${columns.join(', ')})`
    }
    case 'array': {
      const isSlot = type.element.kind === 'vector' && type.element.size === 3
      return `${writer.type(type)}{{${args.map((a) => (isSlot ? `{${a}}` : a)).join(', ')}}}`
    }
    default:
      return `${writer.type(type)}(${args.join(', ')})`
  }
}

function convertText(writer: FunctionWriter, value: Expression, type: Type): string {
  const text = valueText(writer, value)
  const from = value.type!
  if (type.kind === 'scalar' && from.kind === 'scalar') {
    const target = typeText(type, writer.context.names)
    const plain =
      type.scalar === 'f32' ||
      (type.scalar !== 'bool' && type.scalar !== 'f16' && (from.scalar === 'i32' || from.scalar === 'u32')) ||
      (type.scalar !== 'bool' && type.scalar !== 'f16' && from.scalar === 'bool')
    if (plain) return `(${target})${isSimple(text) || text.startsWith('(') ? text : `(${text})`}`
    if (type.scalar === 'f16') return `f16(${unwrapped(text)})`
    if (type.scalar === 'bool' && from.scalar !== 'f16')
      return `(${text} != ${zeroText(from, writer.context.names)})`
    return `convert<${target}>(${unwrapped(text)})`
  }
  const scalar = (type as Extract<Type, { kind: 'vector' | 'matrix' }>).scalar
  return `convert<${typeText({ kind: 'scalar', scalar }, writer.context.names)}>(${unwrapped(text)})`
}

function indexValueText(
  writer: FunctionWriter,
  base: Expression,
  index: Expression,
  e: Extract<Expression, { kind: 'index' }>,
): string {
  const [baseText, indexText] = orderedTexts(writer, [
    { expression: base, text: () => valueText(writer, base) },
    { expression: index, text: () => unsignedText(writer, index) },
  ]) as [string, string]
  const type = base.type!
  const known = literalInteger(index)
  if (type.kind === 'vector')
    return known !== undefined
      ? `${baseText}.${componentName(Math.min(known, type.size - 1))}`
      : `component(${unwrapped(baseText)}, ${indexText})`
  const length = type.kind === 'matrix' ? type.columns : (type as Extract<Type, { kind: 'array' }>).length!
  if (known !== undefined) return `${baseText}[${Math.min(known, length - 1)}u]`
  const free = writer.context.bounds === 'unchecked' || writer.context.ranges.isInside(e)
  return free ? `${baseText}[${indexText}]` : `${baseText}[min(${indexText}, ${length - 1}u)]`
}

function swizzleText(
  writer: FunctionWriter,
  base: Expression,
  components: readonly number[],
  type: Type,
): string {
  let text = valueText(writer, base)
  if (components.length === 1) return `${text}.${componentName(components[0]!)}`
  if (!isSimple(text)) text = writer.temporary(base.type!, text)
  return `${writer.type(type)}(${components.map((c) => `${text}.${componentName(c)}`).join(', ')})`
}

function unaryText(writer: FunctionWriter, operator: '-' | '!' | '~', value: Expression, type: Type): string {
  const text = valueText(writer, value)
  if (type.kind === 'vector') {
    writer.mark(operator === '-' ? 'neg' : operator === '~' ? 'bit_not' : 'logical_not')
    return `(${operator}${text})`
  }
  const isI32 = type.kind === 'scalar' && type.scalar === 'i32'
  if (operator === '-' && isI32) {
    const range = writer.context.ranges.interval(value)
    if (range === undefined || range.low <= -2147483648) return `neg(${unwrapped(text)})`
  }
  return `(${operator}${text})`
}

function logicalText(
  writer: FunctionWriter,
  operator: '&&' | '||',
  left: Expression,
  right: Expression,
): string {
  const leftText = valueText(writer, left)
  const { result: rightText, lines } = writer.capture(() => {
    writer.depth++
    const text = valueText(writer, right)
    writer.depth--
    return text
  })
  if (lines.length === 0) return `(${leftText} ${operator} ${rightText})`
  const name = writer.temporaryName()
  writer.line(`bool ${name} = ${unwrapped(leftText)};`)
  writer.line(`if (${operator === '&&' ? name : `!${name}`}) {`)
  writer.lines.push(...lines)
  writer.indented(() => writer.line(`${name} = ${unwrapped(rightText)};`))
  writer.close()
  return name
}

const vectorOperators: Record<BinaryOperator, string> = {
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

/** What `binaryText` needs of a binary operation; a compound assignment is one too. */
export interface Operation {
  readonly operator: BinaryOperator
  readonly left: Type
  readonly right: Type
  /** The right operand, when it is known to be a constant. */
  readonly rightValue: Expression | undefined
  /** The exact result fits: i32 arithmetic cannot wrap around. */
  readonly isExact: boolean
  /** The right operand is never zero (nor -1). */
  readonly isSafeDivisor: boolean
}

function binaryText(writer: FunctionWriter, e: Binary, left: string, right: string): string {
  const { ranges } = writer.context
  return operationText(
    writer,
    {
      operator: e.operator,
      left: e.left.type!,
      right: e.right.type!,
      rightValue: e.right,
      isExact: ranges.isExact(e),
      isSafeDivisor: isSafeDivisor(writer, e.right),
    },
    left,
    right,
  )
}

/** The divisor is neither 0 nor -1. */
export function isSafeDivisor(writer: FunctionWriter, divisor: Expression): boolean {
  const range = writer.context.ranges.interval(divisor)
  return range !== undefined && (range.low > 0 || range.high < -1)
}

/** A binary operation on texts. */
export function operationText(writer: FunctionWriter, o: Operation, left: string, right: string): string {
  const { operator } = o
  const call = (name: string) => `${name}(${unwrapped(left)}, ${unwrapped(right)})`
  const infix = `(${left} ${operator} ${right})`
  if (o.left.kind === 'matrix' || o.right.kind === 'matrix') return infix
  if (o.left.kind === 'vector' || o.right.kind === 'vector') {
    writer.mark(vectorOperators[operator])
    return infix
  }
  const scalar = o.left.kind === 'scalar' ? o.left.scalar : 'u32'
  switch (operator) {
    case '+':
    case '-':
    case '*':
      return scalar === 'i32' && !o.isExact ? call(vectorOperators[operator]) : infix
    case '/':
    case '%': {
      const isInteger = scalar === 'i32' || scalar === 'u32'
      return isInteger && o.isSafeDivisor ? infix : call(vectorOperators[operator])
    }
    case '<<':
    case '>>': {
      const amount =
        o.rightValue?.kind === 'literal'
          ? `${Number(o.rightValue.value) & 31}`
          : isBelow32(writer, o.rightValue)
            ? right
            : `(${right} & 31u)`
      if (operator === '<<' && scalar === 'i32' && !o.isExact) return call('shl')
      return `(${left} ${operator} ${amount})`
    }
    default:
      return infix
  }
}

function isBelow32(writer: FunctionWriter, e: Expression | undefined): boolean {
  const range = e?.type === u32Type ? writer.context.ranges.interval(e) : undefined
  return range !== undefined && range.low >= 0 && range.high <= 31
}
