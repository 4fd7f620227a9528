import type { Block, Expression, For, Loop, Place } from '../ir.ts'
import { walk } from '../walk.ts'
import type { FunctionWriter } from './function-writer.ts'
import { writeBraced, writeStatement, writeStatements } from './statement-text.ts'

/** Keeps the compiler from taking a loop that may not end for undefined behaviour. */
function writeGuard(writer: FunctionWriter, s: Loop | For): void {
  const { counters, names } = writer.context
  if (!counters.endsByItself(s)) writer.line(names.prelude('ENDLESS_LOOP'))
}

/** Writes a `loop`. */
export function writeLoop(writer: FunctionWriter, s: Loop): void {
  const after = s.continuing !== undefined || s.breakIf !== undefined
  const label = after && hasContinue(s.body) ? writer.label() : undefined
  writer.line('while (true) {')
  writer.indented(() => {
    writeGuard(writer, s)
    if (label !== undefined) declareAhead(writer, s)
    writer.loopScopes.push({ label })
    if (label === undefined) writeStatements(writer, s.body)
    else {
      writeBraced(writer, '', s.body)
      writer.line(`${label}:;`)
    }
    writer.loopScopes.pop()
    if (s.continuing !== undefined) writeStatements(writer, s.continuing)
    if (s.breakIf !== undefined) writer.line(`if (${writer.value(s.breakIf).text}) break;`)
  })
  writer.close()
}

/** Declares what `continuing` and `break if` use of the body's variables where both can see it. */
function declareAhead(writer: FunctionWriter, s: Loop): void {
  const used = new Set<number>()
  const visitor = {
    expression(e: Expression) {
      if (e.kind === 'value') used.add(e.value.id)
      return undefined
    },
    place(p: Place) {
      if (p.kind === 'variable') used.add(p.variable.id)
      return undefined
    },
  }
  if (s.continuing !== undefined) walk(s.continuing, visitor)
  if (s.breakIf !== undefined) walk(s.breakIf, visitor)
  for (const inner of s.body.statements) {
    if ((inner.kind !== 'let' && inner.kind !== 'var') || !used.has(inner.variable.id)) continue
    writer.hoisted.add(inner.variable.id)
    writer.line(`${writer.type(inner.variable.type)} ${writer.context.names.of(inner.variable)};`)
  }
}

/** Writes a `for`; one of a condition alone is a `while`. */
export function writeFor(writer: FunctionWriter, s: For): void {
  const head = nativeHead(writer, s)
  if (head !== undefined) {
    writer.line(`${writer.context.unrolledLoops.has(s) ? '_Pragma("unroll") ' : ''}${head} {`)
    writer.loopScopes.push({ label: undefined })
    writer.indented(() => {
      writeGuard(writer, s)
      writeStatements(writer, s.body)
    })
    writer.loopScopes.pop()
    writer.close()
    return
  }
  writer.line('{')
  writer.indented(() => {
    if (s.initial !== undefined) writeStatement(writer, s.initial)
    const label = s.update !== undefined && hasContinue(s.body) ? writer.label() : undefined
    writer.line('while (true) {')
    writer.indented(() => {
      writeGuard(writer, s)
      writer.at(s.loc)
      if (s.condition !== undefined) writer.line(`if (!(${writer.value(s.condition).text})) break;`)
      writer.loopScopes.push({ label })
      writeBraced(writer, '', s.body)
      writer.loopScopes.pop()
      if (label !== undefined) writer.line(`${label}:;`)
      if (s.update !== undefined) writeStatement(writer, s.update)
    })
    writer.close()
  })
  writer.close()
}

/** `for (initial; condition; update)` when each is one C++ expression or declaration. */
function nativeHead(writer: FunctionWriter, s: For): string | undefined {
  const part = (write: () => void): string | undefined => {
    const { lines } = writer.capture(write)
    return lines.length === 1 ? lines[0]!.simple : undefined
  }
  const initial = s.initial === undefined ? '' : part(() => writeStatement(writer, s.initial!))
  let condition: string | undefined = ''
  if (s.condition !== undefined) {
    const { result, lines } = writer.capture(() => writer.value(s.condition!).text)
    condition = lines.length === 0 ? result : undefined
  }
  const update = s.update === undefined ? '' : part(() => writeStatement(writer, s.update!))
  writer.at(s.loc)
  if (initial === undefined || condition === undefined || update === undefined) return undefined
  return s.initial === undefined && s.update === undefined && condition !== ''
    ? `while (${condition})`
    : `for (${initial}; ${condition}; ${update})`
}

/** Does a `continue` of the loop with this body stand in it? */
function hasContinue(body: Block): boolean {
  const has = (block: Block): boolean =>
    block.statements.some((s) => {
      if (s.kind === 'block') return has(s)
      if (s.kind === 'if') return has(s.then) || (s.otherwise !== undefined && has(s.otherwise))
      return s.kind === 'switch' ? s.clauses.some((c) => has(c.body)) : s.kind === 'continue'
    })
  return has(body)
}
