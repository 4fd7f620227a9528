import type { ScalarKind, Type } from '../ir.ts'
import { productShape } from '../values/operators.ts'

/** Whether values of the type are JavaScript arrays. */
export const isComposite = (type: Type) => type.kind !== 'scalar' && type.kind !== 'atomic'

/** JavaScript of a deep copy of the value of `text`. */
export function copyText(text: string, type: Type): string {
  return type.kind === 'vector' ? `${text}.slice()` : isComposite(type) ? `R.clone(${text})` : text
}

/** The kind of a type's scalars. */
export function scalarOf(type: Type): ScalarKind {
  if (type.kind === 'scalar' || type.kind === 'vector' || type.kind === 'matrix' || type.kind === 'atomic')
    return type.scalar
  throw new TypeError(`${type.kind} has no scalar`)
}

/** Assigns a name to a function that a module creates once, given the function as an expression. */
export type NameFunction = (text: string) => string

/**
 * The text of a component-wise function with operands named `a`, `b` and so on; vector operands are used by
 * component.
 */
function byComponent(types: readonly Type[], f: (...components: string[]) => string): string {
  const names = types.map((_, i) => String.fromCharCode(97 + i))
  const vector = types.find((type) => type.kind === 'vector')
  const components = (i: number) =>
    names.map((name, k) => (types[k]!.kind === 'vector' ? `${name}[${i}]` : name))
  const result =
    vector?.kind === 'vector'
      ? `[${Array.from({ length: vector.size }, (_, i) => f(...components(i))).join(', ')}]`
      : f(...names)
  return `(${names.join(', ')}) => ${result}`
}

/** JavaScript of a unary operator. */
export function unaryText(name: NameFunction, operator: string, value: string, type: Type): string {
  const kind = scalarOf(type)
  const f = (x: string) => {
    if (operator === '!') return `(!(${x}))`
    if (operator === '~') return kind === 'u32' ? `(~(${x}) >>> 0)` : `(~(${x}))`
    return kind === 'i32' ? `(-(${x}) | 0)` : `(-(${x}))`
  }
  return mapText(name, type, f, value)
}

/** JavaScript of a function that applies to each scalar of a value. */
function mapText(name: NameFunction, type: Type, f: (x: string) => string, value: string): string {
  if (!isComposite(type)) return f(value)
  if (type.kind === 'vector') return `${name(byComponent([type], f))}(${value})`
  return `R.map(${name(`(x) => ${f('x')}`)}, ${value})`
}

/** JavaScript of a binary operator. */
export function binaryText(
  name: NameFunction,
  operator: string,
  left: string,
  right: string,
  leftType: Type,
  rightType: Type,
): string {
  const kind = scalarOf(leftType)
  const shape = operator === '*' ? productShape(leftType, rightType) : undefined
  if (shape !== undefined) return `R.multiply(${left}, ${right}, '${kind}', '${shape}')`
  const scalar = (a: string, b: string) =>
    inlineScalar(operator, kind, a, b) ?? `${name(`R.binary['${operator} ${kind}']`)}(${a}, ${b})`
  if (!isComposite(leftType) && !isComposite(rightType)) return scalar(left, right)
  if (leftType.kind === 'matrix' || rightType.kind === 'matrix')
    return `R.map(${name(`R.binary['${operator} ${kind}']`)}, ${left}, ${right})`
  return `${name(byComponent([leftType, rightType], scalar))}(${left}, ${right})`
}

/** JavaScript of a conversion to a scalar kind. */
export function convertText(name: NameFunction, value: string, from: Type, to: ScalarKind): string {
  const kind = scalarOf(from)
  const integer = kind === 'i32' || kind === 'u32'
  const scalar = (x: string) => {
    if (to === 'f32' && integer) return `Math.fround(${x})`
    if (to === 'i32' && integer) return `(${x} | 0)`
    if (to === 'u32' && integer) return `(${x} >>> 0)`
    return `R.convert(${x}, '${kind}', '${to}')`
  }
  return mapText(name, from, scalar, value)
}

/** JavaScript of a built-in function that applies by component. */
export function componentText(
  name: NameFunction,
  builtin: string,
  kind: ScalarKind,
  values: readonly string[],
  types: readonly Type[],
): string {
  const scalar = (...x: string[]) =>
    inlineBuiltin(builtin, kind, x) ?? `${name(`R.component['${builtin} ${kind}']`)}(${x.join(', ')})`
  return `${name(byComponent(types, scalar))}(${values.join(', ')})`
}

/**
 * The common built-in functions on operands that are names and so may be repeated; undefined for the rest.
 */
function inlineBuiltin(builtin: string, kind: ScalarKind, x: readonly string[]): string | undefined {
  if (builtin === 'select') return `(${x[2]} ? ${x[1]} : ${x[0]})`
  if (kind === 'f16') return undefined
  if (builtin === 'min' || builtin === 'max') return `Math.${builtin}(${x.join(', ')})`
  if (builtin === 'clamp') return `Math.min(Math.max(${x[0]}, ${x[1]}), ${x[2]})`
  return undefined
}

/** The common scalar operators without a call; undefined for the rest. */
export function inlineScalar(operator: string, kind: ScalarKind, a: string, b: string): string | undefined {
  if (kind === 'bool' || kind === 'f16') return undefined
  switch (operator) {
    // A NaN may be an object, which would equal itself.
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
  // Few brackets: JavaScript's parser overflows its stack at chains of 500 operators that nest in three each.
  const wrap = (x: string) => `(${x} ${kind === 'i32' ? '|' : '>>>'} 0)`
  switch (operator) {
    case '+':
    case '-':
      return wrap(`${a} ${operator} ${b}`)
    case '*':
      return wrap(`Math.imul(${a}, ${b})`)
    case '&':
    case '|':
    case '^':
      return kind === 'i32' ? `(${a} ${operator} ${b})` : wrap(`(${a} ${operator} ${b})`)
    case '<<':
      return wrap(`${a} << (${b} & 31)`)
    case '>>':
      return `(${a} ${kind === 'i32' ? '>>' : '>>>'} (${b} & 31))`
    default:
      return undefined
  }
}
