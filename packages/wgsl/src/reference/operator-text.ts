import type { ScalarKind, Type } from '../ir.ts'

/** Whether values of the type are JavaScript arrays. */
export const isComposite = (type: Type) => type.kind !== 'scalar' && type.kind !== 'atomic'

/** The kind of a type's scalars. */
export function scalarOf(type: Type): ScalarKind {
  if (type.kind === 'scalar' || type.kind === 'vector' || type.kind === 'matrix' || type.kind === 'atomic')
    return type.scalar
  throw new TypeError(`${type.kind} has no scalar`)
}

/** JavaScript of a unary operator. */
export function unaryText(operator: string, value: string, type: Type): string {
  const kind = scalarOf(type)
  const f =
    operator === '!'
      ? '(x) => !x'
      : operator === '~'
        ? kind === 'u32'
          ? '(x) => ~x >>> 0'
          : '(x) => ~x'
        : kind === 'i32'
          ? '(x) => -x | 0'
          : '(x) => -x'
  return isComposite(type) ? `R.map(${f}, ${value})` : `(${f})(${value})`
}

/** JavaScript of a binary operator. */
export function binaryText(
  operator: string,
  left: string,
  right: string,
  leftType: Type,
  rightType: Type,
): string {
  const kind = scalarOf(leftType)
  if (operator === '*' && (leftType.kind === 'matrix' || rightType.kind === 'matrix')) {
    const shape = `${leftType.kind[0]}${rightType.kind[0]}`
    if (shape === 'mv' || shape === 'vm' || shape === 'mm')
      return `R.multiply(${left}, ${right}, '${kind}', '${shape}')`
  }
  if (!isComposite(leftType) && !isComposite(rightType)) {
    const inline = inlineScalar(operator, kind, left, right)
    if (inline !== undefined) return inline
    return `R.binary['${operator} ${kind}'](${left}, ${right})`
  }
  return `R.map(R.binary['${operator} ${kind}'], ${left}, ${right})`
}

/** The common scalar operators without a call; undefined for the rest. */
export function inlineScalar(operator: string, kind: ScalarKind, a: string, b: string): string | undefined {
  if (kind === 'bool' || kind === 'f16') return undefined
  switch (operator) {
    // A NaN may be an object, which equals itself.
    case '==':
      return kind === 'f32' ? `(+${a} === +${b})` : `(${a} === ${b})`
    case '!=':
      return kind === 'f32' ? `(+${a} !== +${b})` : `(${a} !== ${b})`
    case '<':
    case '<=':
    case '>':
    case '>=':
      return `(${a} ${operator} ${b})`
  }
  if (kind === 'f32') return '+-*/%'.includes(operator) ? `Math.fround(${a} ${operator} ${b})` : undefined
  const wrap = (x: string) => (kind === 'i32' ? `(${x} | 0)` : `((${x}) >>> 0)`)
  switch (operator) {
    case '+':
    case '-':
      return wrap(`${a} ${operator} ${b}`)
    case '*':
      return wrap(`Math.imul(${a}, ${b})`)
    case '&':
    case '|':
    case '^':
      return wrap(`(${a}) ${operator} (${b})`)
    case '<<':
      return wrap(`(${a}) << ((${b}) & 31)`)
    case '>>':
      return kind === 'i32' ? `((${a}) >> ((${b}) & 31))` : `((${a}) >>> ((${b}) & 31))`
    default:
      return undefined
  }
}
