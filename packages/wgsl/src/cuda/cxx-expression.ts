/** A C++ expression. */
export interface CxxExpression {
  /** Without enclosing parentheses. */
  readonly text: string
  readonly form: CxxForm
}

/**
 * How an expression can be used in another one. `simple`, a name with members or an integer, may be repeated
 * without repeating work; `primary` needs no parentheses; `operation` needs them.
 */
export type CxxForm = 'simple' | 'primary' | 'operation'

export function simple(text: string): CxxExpression {
  return { text, form: 'simple' }
}

export function primary(text: string): CxxExpression {
  return { text, form: 'primary' }
}

export function operation(text: string): CxxExpression {
  return { text, form: 'operation' }
}

/** The expression as an operand. */
export function operand({ text, form }: CxxExpression): string {
  return form === 'operation' ? `(${text})` : text
}

export function call(name: string, args: readonly (CxxExpression | string)[]): CxxExpression {
  return primary(`${name}(${args.map((a) => (typeof a === 'string' ? a : a.text)).join(', ')})`)
}

export function member(base: CxxExpression, name: string): CxxExpression {
  return { text: `${operand(base)}.${name}`, form: base.form === 'simple' ? 'simple' : 'primary' }
}

export function cast(type: string, { text, form }: CxxExpression): CxxExpression {
  return primary(`(${type})${form === 'simple' ? text : `(${text})`}`)
}
