import type {
  BlockNode,
  DeclarationNode,
  ExpressionNode,
  ForNode,
  IfNode,
  LoopNode,
  StatementNode,
  SwitchNode,
} from './ast.ts'
import { type ExpressionParser, severityOf } from './expression-parser.ts'
import { maximumSwitchClauses } from './limits.ts'

const compoundAssignments = new Set(['+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='])

/** Parses `{ ... }`; `last` parses what may only be the last part of this block, if it comes next. */
export function parseBlock(parser: ExpressionParser, last = () => false): BlockNode {
  const { at } = parser.peek
  const statements: StatementNode[] = []
  let end = at
  parser.bracketed('{', '}', () => {
    while (!parser.is('}')) {
      if (parser.accept(';')) continue
      if (last()) break
      statements.push(parseStatement(parser))
    }
    end = parser.peek.at
  })
  return { kind: 'block', statements, at, end }
}

/** A block that belongs to a statement. */
function attributedBlock(parser: ExpressionParser): BlockNode {
  const subgroupUniformity = parser.severity('a block')
  return { ...parser.nestedStatement(() => parseBlock(parser)), subgroupUniformity }
}

/** The statements that may have @diagnostic. */
const attributed = new Set(['{', 'if', 'switch', 'loop', 'for', 'while'])

function parseStatement(parser: ExpressionParser): StatementNode {
  return parser.nestedStatement(() => parseAnyStatement(parser))
}

function parseAnyStatement(parser: ExpressionParser): StatementNode {
  const attributes = parser.anyAttributes()
  const { text, at } = parser.peek
  parser.allowed(attributes, attributed.has(text) ? ['diagnostic'] : [], 'this statement')
  const subgroupUniformity = severityOf(attributes)
  switch (text) {
    case '{':
      return { ...parseBlock(parser), subgroupUniformity }
    case 'if':
      return { ...parseIf(parser), subgroupUniformity }
    case 'switch':
      return { ...parseSwitch(parser), subgroupUniformity }
    case 'loop':
      return { ...parseLoop(parser), subgroupUniformity }
    case 'for':
      return { ...parseFor(parser), subgroupUniformity }
    case 'while': {
      parser.next()
      const condition = parser.expression()
      return { kind: 'while', condition, body: attributedBlock(parser), subgroupUniformity, at }
    }
    case 'return': {
      parser.next()
      const value = parser.is(';') ? undefined : parser.expression()
      parser.expect(';')
      return { kind: 'return', value, at }
    }
    case 'break':
    case 'continue':
    case 'discard':
      parser.next()
      if (text === 'break' && parser.is('if')) {
        throw parser.source.error(at, "'break if' is only allowed at the end of a continuing block")
      }
      parser.expect(';')
      return { kind: text, at }
    case 'continuing':
      throw parser.source.error(at, "'continuing' is only allowed at the end of a loop body")
    case 'const_assert': {
      parser.next()
      const condition = parser.expression()
      parser.expect(';')
      return { kind: 'const-assert', condition, at }
    }
    default: {
      const statement = parseSimpleStatement(parser)
      parser.expect(';')
      return statement
    }
  }
}

/** A declaration, assignment, increment or call, without its semicolon. */
function parseSimpleStatement(parser: ExpressionParser): StatementNode {
  const { text, at } = parser.peek
  if (text === 'let' || text === 'var' || text === 'const') return parseDeclaration(parser, text)
  if (text === '_') {
    parser.next()
    parser.expect('=')
    return { kind: 'assign', target: undefined, operator: '=', value: parser.expression(), at }
  }
  const target = parser.unary()
  const increment = parser.acceptIncrement()
  if (increment !== undefined) return { kind: 'increment', operator: increment, target, at }
  const operator = parser.peek.text
  if (operator === '=' || compoundAssignments.has(operator)) {
    parser.next()
    const value = parser.expression()
    return { kind: 'assign', target, operator: operator === '=' ? '=' : operator.slice(0, -1), value, at }
  }
  if (target.kind === 'call' && text !== '(') return { kind: 'call-statement', call: target, at }
  throw parser.unexpected('an assignment')
}

function parseDeclaration(parser: ExpressionParser, kind: DeclarationNode['kind']): DeclarationNode {
  const { at } = parser.next()
  const templates = kind === 'var' ? parser.templates() : undefined
  const nameAt = parser.peek.at
  const name = parser.identifier()
  const type = parser.accept(':') ? parser.type() : undefined
  const initial = parser.accept('=') ? parser.expression() : undefined
  if (initial === undefined && kind !== 'var') throw parser.unexpected(`'=' and the value of the ${kind}`)
  return { kind, name, nameAt, templates, type, initial, at }
}

function parseIf(parser: ExpressionParser): IfNode {
  const { at } = parser.expect('if')
  const condition = parser.expression()
  const then = attributedBlock(parser)
  let otherwise: IfNode | BlockNode | undefined
  if (parser.accept('else')) {
    otherwise = parser.is('if') ? parser.nestedStatement(() => parseIf(parser)) : attributedBlock(parser)
  }
  return { kind: 'if', condition, then, otherwise, at }
}

function parseSwitch(parser: ExpressionParser): SwitchNode {
  const { at } = parser.expect('switch')
  const selector = parser.expression()
  const clausesSubgroupUniformity = parser.severity('the clauses of a switch')
  const clauses: SwitchNode['clauses'] = []
  parser.bracketed('{', '}', () => {
    while (!parser.is('}')) {
      clauses.push(parser.nestedStatement(() => parseClause(parser)))
      if (clauses.length > maximumSwitchClauses)
        throw parser.source.error(at, `the switch has more than ${maximumSwitchClauses} clauses`)
    }
  })
  return { kind: 'switch', selector, clauses, clausesSubgroupUniformity, at }
}

function parseClause(parser: ExpressionParser): SwitchNode['clauses'][number] {
  const { at } = parser.peek
  const selectors: SwitchNode['clauses'][number]['selectors'] = []
  if (parser.accept('default')) selectors.push('default')
  else {
    parser.expect('case')
    do {
      selectors.push(parser.accept('default') ? 'default' : parser.expression())
    } while (parser.accept(',') && !parser.is(':') && !parser.is('{'))
  }
  parser.accept(':')
  return { selectors, body: attributedBlock(parser), at }
}

function parseLoop(parser: ExpressionParser): LoopNode {
  const { at } = parser.expect('loop')
  const subgroupUniformity = parser.severity('a block')
  let continuing: LoopNode['continuing']
  const last = () => {
    if (parser.is('continuing')) continuing = parser.nestedStatement(() => parseContinuing(parser))
    return continuing !== undefined
  }
  const block = parser.nestedStatement(() => parseBlock(parser, last))
  return { kind: 'loop', body: { ...block, subgroupUniformity }, continuing, at }
}

function parseContinuing(parser: ExpressionParser): NonNullable<LoopNode['continuing']> {
  const { at } = parser.expect('continuing')
  const subgroupUniformity = parser.severity('a block')
  let breakIf: ExpressionNode | undefined
  const block = parseBlock(parser, () => {
    if (parser.is('break')) breakIf = parser.nestedStatement(() => parseBreakIf(parser))
    return breakIf !== undefined
  })
  return { body: { ...block, subgroupUniformity }, breakIf, at }
}

function parseBreakIf(parser: ExpressionParser): ExpressionNode {
  const { at } = parser.next()
  if (!parser.accept('if'))
    throw parser.source.error(at, "a continuing block is left by 'break if', not by 'break'")
  const condition = parser.expression()
  parser.expect(';')
  return condition
}

function parseFor(parser: ExpressionParser): ForNode {
  const { at } = parser.expect('for')
  const header = parser.bracketed('(', ')', () => {
    const initial = parser.is(';') ? undefined : parseSimpleStatement(parser)
    parser.expect(';')
    const condition = parser.is(';') ? undefined : parser.expression()
    parser.expect(';')
    const updateAt = parser.peek.at
    const update = parser.is(')') ? undefined : parseSimpleStatement(parser)
    if (update?.kind === 'let' || update?.kind === 'var' || update?.kind === 'const') {
      throw parser.source.error(updateAt, 'the update of a for loop cannot be a declaration')
    }
    return { initial, condition, update }
  })
  return { kind: 'for', ...header, body: attributedBlock(parser), at }
}
