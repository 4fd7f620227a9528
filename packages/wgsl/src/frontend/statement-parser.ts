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

const compoundAssignments = new Set(['+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='])

/** Parses `{ ... }`. */
export function parseBlock(parser: ExpressionParser): BlockNode {
  return parser.nested(() => {
    const { at } = parser.expect('{')
    const statements: StatementNode[] = []
    while (!parser.is('}')) {
      if (parser.accept(';')) continue
      statements.push(parseStatement(parser))
    }
    const end = parser.expect('}').at
    return { kind: 'block', statements, at, end }
  })
}

function attributedBlock(parser: ExpressionParser): BlockNode {
  const subgroupUniformity = parser.severity('a block')
  return { ...parseBlock(parser), subgroupUniformity }
}

/** The statements that may have @diagnostic. */
const attributed = new Set(['{', 'if', 'switch', 'loop', 'for', 'while'])

function parseStatement(parser: ExpressionParser): StatementNode {
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
        throw parser.source.error(at, "'break if' may only stand at the end of a continuing block")
      }
      parser.expect(';')
      return { kind: text, at }
    case 'continuing':
      throw parser.source.error(at, "'continuing' may only stand at the end of a loop's body")
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
  const operator = parser.peek.text
  if (operator === '++' || operator === '--') {
    parser.next()
    return { kind: 'increment', operator: operator === '++' ? '+' : '-', target, at }
  }
  if (operator === '=' || compoundAssignments.has(operator)) {
    parser.next()
    const value = parser.expression()
    return { kind: 'assign', target, operator: operator === '=' ? '=' : operator.slice(0, -1), value, at }
  }
  if (target.kind === 'call') return { kind: 'call-statement', call: target, at }
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
  return parser.nested(() => {
    const { at } = parser.expect('if')
    const condition = parser.expression()
    const then = attributedBlock(parser)
    let otherwise: IfNode | BlockNode | undefined
    if (parser.accept('else')) otherwise = parser.is('if') ? parseIf(parser) : attributedBlock(parser)
    return { kind: 'if', condition, then, otherwise, at }
  })
}

function parseSwitch(parser: ExpressionParser): SwitchNode {
  const { at } = parser.expect('switch')
  const selector = parser.expression()
  const clausesSubgroupUniformity = parser.severity('the clauses of a switch')
  parser.expect('{')
  const clauses: SwitchNode['clauses'] = []
  while (!parser.is('}')) {
    const clauseAt = parser.peek.at
    const selectors: SwitchNode['clauses'][number]['selectors'] = []
    if (parser.accept('default')) selectors.push('default')
    else {
      parser.expect('case')
      do {
        selectors.push(parser.accept('default') ? 'default' : parser.expression())
      } while (parser.accept(',') && !parser.is(':') && !parser.is('{'))
    }
    parser.accept(':')
    clauses.push({ selectors, body: attributedBlock(parser), at: clauseAt })
  }
  parser.expect('}')
  return { kind: 'switch', selector, clauses, clausesSubgroupUniformity, at }
}

function parseLoop(parser: ExpressionParser): LoopNode {
  return parser.nested(() => {
    const { at } = parser.expect('loop')
    const subgroupUniformity = parser.severity('a block')
    const open = parser.expect('{')
    const statements: StatementNode[] = []
    let continuing: LoopNode['continuing']
    while (!parser.is('}')) {
      if (parser.accept(';')) continue
      if (parser.is('continuing')) {
        continuing = parseContinuing(parser)
        break
      }
      statements.push(parseStatement(parser))
    }
    const end = parser.expect('}').at
    const body: BlockNode = { kind: 'block', statements, subgroupUniformity, at: open.at, end }
    return { kind: 'loop', body, continuing, at }
  })
}

function parseContinuing(parser: ExpressionParser): NonNullable<LoopNode['continuing']> {
  const { at } = parser.expect('continuing')
  const subgroupUniformity = parser.severity('a block')
  const open = parser.expect('{')
  const statements: StatementNode[] = []
  let breakIf: ExpressionNode | undefined
  while (!parser.is('}')) {
    if (parser.accept(';')) continue
    if (parser.is('break')) {
      const position = parser.next()
      if (!parser.accept('if')) {
        throw parser.source.error(position.at, "a continuing block is left by 'break if', not by 'break'")
      }
      breakIf = parser.expression()
      parser.expect(';')
      break
    }
    statements.push(parseStatement(parser))
  }
  const end = parser.expect('}').at
  return { body: { kind: 'block', statements, subgroupUniformity, at: open.at, end }, breakIf, at }
}

function parseFor(parser: ExpressionParser): ForNode {
  const { at } = parser.expect('for')
  parser.expect('(')
  const initial = parser.is(';') ? undefined : parseSimpleStatement(parser)
  parser.expect(';')
  const condition = parser.is(';') ? undefined : parser.expression()
  parser.expect(';')
  const updateAt = parser.peek.at
  const update = parser.is(')') ? undefined : parseSimpleStatement(parser)
  if (update?.kind === 'let' || update?.kind === 'var' || update?.kind === 'const') {
    throw parser.source.error(updateAt, 'a for loop cannot declare in its update')
  }
  parser.expect(')')
  return { kind: 'for', initial, condition, update, body: attributedBlock(parser), at }
}
