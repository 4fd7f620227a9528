import type { SourceText } from '../source-text.ts'
import type { WgslError } from '../wgsl-error.ts'
import type { AttributeNode, ExpressionNode, NameNode, Severity } from './ast.ts'
import { type Token, templateClose, templateOpen, tokenize } from './lexer.ts'
import { maximumExpressionDepth, maximumNesting, maximumStatementNesting } from './limits.ts'

/** WGSL's keywords and reserved words, which declarations must not use as names. */
const keywords = new Set(
  `alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
  loop override requires return struct switch true var while
  NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
  co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr
  constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern
  external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline
  instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil
  noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset
  partition pass patch pixelfragment precise precision premerge priv protected pub public readonly ref regardless register
  reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std
  subroutine super target template this thread_local throw trait try type typedef typeid typename typeof union unless unorm
  unsafe unsized use using varying virtual volatile wgsl where with writeonly yield`.split(/\s+/),
)

const relational = new Set(['==', '!=', '<', '<=', '>', '>='])
const bitwise = new Set(['&', '|', '^'])

const diagnosticRules = new Set(['derivative_uniformity', 'subgroup_uniformity'])

/** The attributes of the language, by the minimum and maximum number of arguments. */
const attributesByCount: readonly (readonly [names: string, low: number, high: number])[] = [
  ['compute vertex fragment must_use invariant', 0, 0],
  ['align binding group id size subgroup_size location blend_src', 1, 1],
  ['builtin interpolate', 1, 2],
  ['workgroup_size', 1, 3],
  ['diagnostic', 2, 2],
]
const attributeArguments = new Map(
  attributesByCount.flatMap(([names, low, high]) =>
    names.split(' ').map((name) => [name, [low, high]] as const),
  ),
)

/** The attributes whose arguments are names from fixed lists. */
export const namingAttributes = new Set(['builtin', 'interpolate'])

/** The token stream and the grammar of expressions, types and attributes. */
export class ExpressionParser {
  readonly source: SourceText
  /** The unknown rules of `diagnostic` filters, without those of other tools (`tool.rule`). */
  readonly unknownRules: { readonly rule: string; readonly at: number }[] = []
  readonly #tokens: Token[]
  /** The depths of expressions; a single name or literal has depth 0. */
  readonly #depths = new WeakMap<ExpressionNode, number>()
  #position = 0
  #nesting = 0
  #statementNesting = 0

  constructor(source: SourceText) {
    this.source = source
    this.#tokens = tokenize(source)
  }

  /** The next token. */
  get peek(): Token {
    return this.#tokens[this.#position]!
  }

  /** Whether the next token has this text. */
  is(text: string): boolean {
    return this.#tokens[this.#position]!.text === text
  }

  /** Consumes the next token. */
  next(): Token {
    const token = this.#tokens[this.#position]!
    if (token.kind !== 'end') this.#position++
    return token
  }

  /** Consumes the next token if it has this text. */
  accept(text: string): boolean {
    if (this.peek.text !== text || this.peek.kind === 'end') return false
    this.#position++
    return true
  }

  /** Consumes the next token, which must have this text. */
  expect(text: string): Token {
    if (this.peek.text !== text) throw this.unexpected(`'${shown(text)}'`)
    return this.next()
  }

  /** Returns an error at the next token. */
  unexpected(wanted: string): WgslError {
    const { kind, text, at } = this.peek
    return this.source.error(
      at,
      `found ${kind === 'end' ? text : `'${shown(text)}'`} where ${wanted} is expected`,
    )
  }

  /** Parses the content of two brackets, within the nesting limit. */
  bracketed<T>(open: string, close: string, parse: () => T): T {
    this.expect(open)
    const result = this.#nested(parse)
    this.expect(close)
    return result
  }

  #nested<T>(parse: () => T): T {
    if (++this.#nesting > maximumNesting) {
      throw this.source.error(
        this.peek.at,
        `brackets and unary operators nest deeper than ${maximumNesting} levels`,
      )
    }
    const result = parse()
    this.#nesting--
    return result
  }

  /** Parses a statement, or a block that belongs to one, within the nesting limit. */
  nestedStatement<T>(parse: () => T): T {
    if (++this.#statementNesting > maximumStatementNesting) {
      throw this.source.error(this.peek.at, `statements nest deeper than ${maximumStatementNesting} levels`)
    }
    const result = parse()
    this.#statementNesting--
    return result
  }

  /** Parses items between brackets, separated by commas; a trailing comma is allowed. */
  list<T>(open: string, close: string, item: () => T): T[] {
    return this.bracketed(open, close, () => {
      const items: T[] = []
      while (!this.is(close)) {
        items.push(item())
        if (!this.accept(',')) break
      }
      return items
    })
  }

  /** Consumes `++` or `--` if one comes next, and returns which. */
  acceptIncrement(): '+' | '-' | undefined {
    if (this.accept('++')) return '+'
    const next = this.#tokens[this.#position + 1]
    if (!this.is('-') || next?.text !== '-' || next.at !== this.peek.at + 1) return undefined
    this.#position += 2
    return '-'
  }

  /** Any word, keywords included. */
  word(wanted: string): string {
    if (this.peek.kind !== 'word') throw this.unexpected(wanted)
    return this.next().text
  }

  /** A name that is neither a keyword nor reserved. */
  identifier(): string {
    const { kind, text, at } = this.peek
    if (kind !== 'word') throw this.unexpected('a name')
    if (keywords.has(text)) throw this.source.error(at, `'${text}' is a keyword or a reserved word of WGSL`)
    if (text === '_' || text.startsWith('__')) throw this.source.error(at, `'${text}' is not a valid name`)
    return this.next().text
  }

  /** A type. */
  type(): NameNode {
    const at = this.peek.at
    return { kind: 'name', name: this.identifier(), templates: this.templates(), at }
  }

  /** A template list, if one starts here. */
  templates(): ExpressionNode[] | undefined {
    if (!this.is(templateOpen)) return undefined
    const at = this.peek.at
    const args = this.list(templateOpen, templateClose, () => this.expression())
    if (args.length === 0) throw this.source.error(at, 'the template list is empty')
    return args
  }

  /** Parses attributes before `what`, which accepts only `names`; @diagnostic is omitted (see `severity`). */
  attributes(names: readonly string[], what: string): AttributeNode[] {
    return this.allowed(this.anyAttributes(), names, what)
  }

  /**
   * Parses the severity that @diagnostic before `what` sets for the rule `subgroup_uniformity`; no other
   * attribute is allowed.
   */
  severity(what: string): Severity | undefined {
    const attributes = this.anyAttributes()
    this.allowed(attributes, ['diagnostic'], what)
    return severityOf(attributes)
  }

  /** The attributes except @diagnostic; all must be among `names`. */
  allowed(attributes: AttributeNode[], names: readonly string[], what: string): AttributeNode[] {
    const wrong = attributes.find((a) => !names.includes(a.name))
    if (wrong !== undefined) throw this.source.error(wrong.at, `@${wrong.name} does not apply to ${what}`)
    return attributes.filter((a) => a.name !== 'diagnostic')
  }

  /** Parses all attributes that follow. */
  anyAttributes(): AttributeNode[] {
    const attributes: AttributeNode[] = []
    const severities = new Map<string, Severity>()
    while (this.is('@')) {
      const { at } = this.next()
      const name = this.word('the name of an attribute')
      const count = attributeArguments.get(name)
      if (count === undefined) throw this.source.error(at, `the attribute @${name} is unknown`)
      if (name === 'diagnostic') {
        const control = this.diagnosticControl(at, severities, false)
        attributes.push({ name, args: [], control, at })
        continue
      }
      const argument = () => (namingAttributes.has(name) ? this.#bareName() : this.expression())
      const args = count[1] > 0 ? this.list('(', ')', argument) : []
      if (args.length < count[0] || args.length > count[1]) {
        throw this.source.error(at, `@${name} takes ${range(count)}, not ${args.length}`)
      }
      if (attributes.some((a) => a.name === name)) throw this.source.error(at, `@${name} is given twice`)
      attributes.push({ name, args, at })
    }
    return attributes
  }

  /** Parses a name from a fixed list, which is not an expression: no parentheses may surround it. */
  #bareName(): NameNode {
    const { at } = this.peek
    return { kind: 'name', name: this.word('a name'), templates: undefined, at }
  }

  /**
   * Parses `(severity, rule)` of a diagnostic and checks it against the `severities` set in the same place.
   * `mayRepeat` allows an identical repetition.
   */
  diagnosticControl(
    from: number,
    severities: Map<string, Severity>,
    mayRepeat: boolean,
  ): NonNullable<AttributeNode['control']> {
    this.expect('(')
    const at = this.peek.at
    const severity = this.word('a severity')
    if (!isSeverity(severity)) {
      throw this.source.error(at, `'${severity}' is not a severity: error, warning, info or off`)
    }
    this.expect(',')
    const ruleAt = this.peek.at
    let rule = this.identifier()
    if (this.accept('.')) rule += `.${this.identifier()}`
    else if (!diagnosticRules.has(rule)) this.unknownRules.push({ rule, at: ruleAt })
    this.accept(',')
    this.expect(')')
    const other = severities.get(rule)
    if (other !== undefined && !(mayRepeat && other === severity))
      throw this.source.error(from, `the rule ${rule} has the severities ${other} and ${severity}`)
    severities.set(rule, severity)
    return { rule, severity }
  }

  /** An expression. */
  expression(): ExpressionNode {
    const start = this.unary()
    const operator = this.peek.text
    if (bitwise.has(operator)) {
      let left = start
      while (this.accept(operator)) left = this.#binary(operator, left, this.unary())
      this.#rejectMixing(operator)
      return left
    }
    let left = this.#relational(start)
    const logical = this.peek.text
    if (logical === '||' || logical === '&&') {
      while (this.accept(logical)) left = this.#binary(logical, left, this.#relational(this.unary()))
      this.#rejectMixing(logical)
    } else if (bitwise.has(logical))
      throw this.source.error(this.peek.at, `the left operand of '${logical}' needs parentheses`)
    return left
  }

  /** Checks an expression node over `parts` against the depth limit. */
  #node<T extends ExpressionNode>(node: T, parts: readonly ExpressionNode[]): T {
    let depth = 1
    for (const part of parts) depth = Math.max(depth, 1 + (this.#depths.get(part) ?? 0))
    if (depth > maximumExpressionDepth)
      throw this.source.error(node.at, `the expression is deeper than ${maximumExpressionDepth} levels`)
    this.#depths.set(node, depth)
    return node
  }

  #binary(operator: string, left: ExpressionNode, right: ExpressionNode): ExpressionNode {
    return this.#node({ kind: 'binary', operator, left, right, at: left.at }, [left, right])
  }

  #rejectMixing(before: string): void {
    const { text, at } = this.peek
    if (bitwise.has(text) || text === '&&' || text === '||') {
      throw this.source.error(at, `mixing '${before}' and '${text}' needs parentheses`)
    }
  }

  #relational(start: ExpressionNode): ExpressionNode {
    const left = this.#shift(start)
    const operator = this.peek.text
    if (!relational.has(operator)) return left
    this.next()
    const result = this.#binary(operator, left, this.#shift(this.unary()))
    if (relational.has(this.peek.text)) {
      throw this.source.error(this.peek.at, `mixing '${operator}' and '${this.peek.text}' needs parentheses`)
    }
    return result
  }

  #shift(start: ExpressionNode): ExpressionNode {
    const operator = this.peek.text
    if (operator !== '<<' && operator !== '>>') return this.#additive(start)
    this.next()
    return this.#binary(operator, start, this.unary())
  }

  #additive(start: ExpressionNode): ExpressionNode {
    let left = this.#multiplicative(start)
    for (;;) {
      const operator = this.peek.text
      if (operator !== '+' && operator !== '-') return left
      this.next()
      left = this.#binary(operator, left, this.#multiplicative(this.unary()))
    }
  }

  #multiplicative(start: ExpressionNode): ExpressionNode {
    let left = start
    for (;;) {
      const operator = this.peek.text
      if (operator !== '*' && operator !== '/' && operator !== '%') return left
      this.next()
      left = this.#binary(operator, left, this.unary())
    }
  }

  /** Parses a unary expression, or the left side of an assignment. */
  unary(): ExpressionNode {
    const { text, at, kind } = this.peek
    if (kind === 'symbol' && (text === '-' || text === '!' || text === '~' || text === '*' || text === '&')) {
      this.next()
      const value = this.#nested(() => this.unary())
      return this.#node({ kind: 'unary', operator: text, value, at }, [value])
    }
    return this.#postfix(this.#primary())
  }

  #primary(): ExpressionNode {
    const { kind, text, at } = this.peek
    if (kind === 'number' || text === 'true' || text === 'false') {
      this.next()
      return { kind: 'literal', text, at }
    }
    if (text === '(') {
      return this.bracketed('(', ')', () => this.expression())
    }
    if (kind !== 'word') throw this.unexpected('an expression')
    const name: NameNode = { kind: 'name', name: this.identifier(), templates: this.templates(), at }
    if (!this.is('(')) return name
    const args = this.list('(', ')', () => this.expression())
    return this.#node({ kind: 'call', callee: name, args, at }, args)
  }

  #postfix(start: ExpressionNode): ExpressionNode {
    let base = start
    for (;;) {
      const { at } = base
      if (this.is('[')) {
        const index = this.bracketed('[', ']', () => this.expression())
        base = this.#node({ kind: 'index', base, index, at }, [base, index])
      } else if (this.accept('.')) {
        const nameAt = this.peek.at
        base = this.#node({ kind: 'member', base, name: this.identifier(), nameAt, at }, [base])
      } else return base
    }
  }
}

function isSeverity(word: string): word is Severity {
  return ['error', 'warning', 'info', 'off'].includes(word)
}

/** The severity that attributes set for the rule `subgroup_uniformity`. */
export function severityOf(attributes: readonly AttributeNode[]): Severity | undefined {
  return attributes.find((a) => a.control?.rule === 'subgroup_uniformity')?.control?.severity
}

function shown(text: string): string {
  return text === templateOpen ? '<' : text === templateClose ? '>' : text
}

function range([low, high]: readonly [number, number]): string {
  return low === high ? `${low} argument${low === 1 ? '' : 's'}` : `${low} to ${high} arguments`
}
