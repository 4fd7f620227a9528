import type { LoopApproach } from '../analysis/loop-approach.ts'
import type { Block, Expression, For, Loop, Place, Statement } from '../ir.ts'
import { walk } from '../walk.ts'
import { cast, operand } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'
import { stopWordName } from './kernel.ts'
import type { Look } from './loop-looks.ts'

/** The names of the variables, declared before a loop, that count its rounds between looks. */
interface RoundCount {
  readonly look: Look
  /** Undefined if the loop looks in every round. */
  readonly rounds: string | undefined
  readonly clock: string | undefined
}

/** Declares the variables that count the rounds of a loop that looks; undefined for a loop that does not. */
function declareCount(writer: FunctionWriter, s: Loop | For): RoundCount | undefined {
  const look = writer.context.looks.of.get(s)
  if (look === undefined) return undefined
  const rounds = look.rounds === 1 ? undefined : writer.temporaryName()
  const first = look.kind === 'count' ? look.first : look.rounds
  if (rounds !== undefined) writer.line(`unsigned ${rounds} = ${first}u;`)
  return { look, rounds, clock: declareClock(writer, look) }
}

/** Declares the clock that spaces the looks of a loop whose rounds may be too short for that. */
function declareClock(writer: FunctionWriter, { isSpaced }: Look): string | undefined {
  if (!isSpaced) return undefined
  const clock = writer.temporaryName()
  writer.line(`unsigned ${clock} = ${writer.context.names.prelude('look_clock')}();`)
  return clock
}

/**
 * Writes the start of every round: a look if the loop has a count, and a statement for which nvcc leaves loops as they
 * are (see `KEPT_LOOP`) unless it is to unroll the loop completely.
 */
function writeGuard(writer: FunctionWriter, s: Loop | For, count: RoundCount | undefined): void {
  const { names, unrolledLoops } = writer.context
  if (unrolledLoops.get(s) !== Infinity) writer.line(names.prelude('KEPT_LOOP'))
  if (count === undefined) return
  const { look, rounds, clock } = count
  const text = lookText(writer, clock)
  if (rounds === undefined) writer.line(text)
  else writer.line(`if (--${rounds} == 0u) { ${rounds} = ${look.rounds}u; ${text} }`)
}

/** The statement that looks; with a clock, it looks only if enough time has passed since the last look. */
export function lookText(writer: FunctionWriter, clock?: string): string {
  const { names, looks, asyncCopies } = writer.context
  writer.needs.usesStopWord = true
  const how = looks.together ? 'look_together' : asyncCopies.copies.size > 0 ? 'look_after_copies' : 'look'
  const look = `${names.prelude(how)}(${stopWordName});`
  return clock === undefined ? look : `if (${names.prelude('look_is_due')}(${clock})) ${look}`
}

/**
 * What stands before each loop. ptxas 13.0 unrolls loops wrongly, and nvcc keeps it from that with all loops but those
 * that it should unroll completely and cannot. Iterations are joined if their number is known before, as in a chunk.
 */
function unrollText(writer: FunctionWriter, s: Loop | For, isChunk = false): string {
  const { unrolledLoops, counters } = writer.context
  const trips = (isChunk || counters.mostTrips(s) !== undefined) && unrolledLoops.get(s)
  return trips === Infinity ? '_Pragma("unroll") ' : `_Pragma("unroll ${trips || 1}") `
}

/** Writes a `loop`. */
export function writeLoop(writer: FunctionWriter, s: Loop): void {
  const count = declareCount(writer, s)
  const after = s.continuing !== undefined || s.breakIf !== undefined
  const label = after && contains('continue', s.body) ? writer.label() : undefined
  writer.line(`${unrollText(writer, s)}while (true) {`)
  writer.indented(() => {
    writeGuard(writer, s, count)
    if (label !== undefined) declareAhead(writer, s)
    writer.loopScopes.push({ label })
    if (label === undefined) writer.statements(s.body)
    else {
      writer.braced('', s.body)
      writer.line(`${label}:;`)
    }
    writer.loopScopes.pop()
    if (s.continuing !== undefined) writer.statements(s.continuing)
    if (s.breakIf !== undefined) writer.line(`if (${writer.value(s.breakIf).text}) break;`)
  })
  writer.close()
}

/** Declares the body's variables that `continuing` and `break if` use in a scope that both can access. */
function declareAhead(writer: FunctionWriter, s: Loop): void {
  const used = new Set<number>()
  const visitor = {
    expression(e: Expression) {
      if (e.kind === 'value') used.add(e.value.id)
    },
    place(p: Place) {
      if (p.kind === 'variable') used.add(p.variable.id)
    },
  }
  if (s.continuing !== undefined) walk(s.continuing, visitor)
  if (s.breakIf !== undefined) walk(s.breakIf, visitor)
  for (const inner of s.body.statements) {
    if ((inner.kind !== 'let' && inner.kind !== 'var') || !used.has(inner.variable.id)) continue
    writer.hoisted.add(inner.variable.id)
    const { type } = inner.variable
    writer.line(`${writer.declaration(type, writer.context.names.of(inner.variable))};`)
  }
}

/** Writes a `for`. */
export function writeFor(writer: FunctionWriter, s: For): void {
  const head = nativeHead(writer, s)
  if (head !== undefined) {
    const look = writer.context.looks.of.get(s)
    if (look?.kind === 'chunks') {
      writeChunks(writer, s, head, look)
      return
    }
    const count = declareCount(writer, s)
    const { initial, condition, update } = head
    const text =
      s.initial === undefined && s.update === undefined && condition !== ''
        ? `while (${condition})`
        : `for (${initial}; ${condition}; ${update})`
    writer.line(`${unrollText(writer, s)}${text} {`)
    writer.loopScopes.push({ label: undefined })
    writer.indented(() => {
      writeGuard(writer, s, count)
      writer.statements(s.body)
    })
    writer.loopScopes.pop()
    writer.close()
    return
  }
  writer.line('{')
  writer.indented(() => {
    if (s.initial !== undefined) writer.statement(s.initial)
    const count = declareCount(writer, s)
    const label = s.update !== undefined && contains('continue', s.body) ? writer.label() : undefined
    writer.line(`${unrollText(writer, s)}while (true) {`)
    writer.indented(() => {
      writeGuard(writer, s, count)
      writer.at(s.loc)
      if (s.condition !== undefined) writer.line(`if (!(${writer.value(s.condition).text})) break;`)
      writer.loopScopes.push({ label })
      writer.braced('', s.body)
      writer.loopScopes.pop()
      if (label !== undefined) writer.line(`${label}:;`)
      if (s.update !== undefined) writer.statement(s.update)
    })
    writer.close()
  })
  writer.close()
}

/**
 * Writes a loop as chunks: native loops with a limited number of rounds, and a look before each chunk that
 * does not end the loop. The condition holds in all rounds of a chunk (see `LoopApproach`), so a chunk only
 * counts them down, and the condition is evaluated between chunks.
 */
function writeChunks(
  writer: FunctionWriter,
  s: For,
  { initial, condition, update }: NativeHead,
  look: Extract<Look, { kind: 'chunks' }>,
): void {
  writer.line('{')
  writer.indented(() => {
    if (initial !== '') writer.line(`${initial};`)
    const { approach, rounds } = look
    const clock = declareClock(writer, look)
    const left = writer.temporaryName()
    writer.line(`_Pragma("unroll 1") while (${condition}) {`)
    writer.indented(() => {
      writer.line(`unsigned ${left} = ${moreRoundsText(writer, approach)};`)
      writer.line(`if (${left}++ >= ${rounds}u) { ${left} = ${rounds}u; ${lookText(writer, clock)} }`)
      writer.line(`${unrollText(writer, s, true)}for (; ${left} != 0u; ${left}--, ${update}) {`)
      writer.loopScopes.push({ label: undefined })
      writer.indented(() => {
        writeGuard(writer, s, undefined)
        writer.statements(s.body)
      })
      writer.loopScopes.pop()
      writer.close()
      if (contains('break', s.body)) writer.line(`if (${left} != 0u) break;`)
      // If the condition still holds after the last round of a chunk that was not shortened, the counter has
      // wrapped around, and the loop may not end.
      if (approach.mostTrips === undefined) writer.line(`if (${condition}) ${lookText(writer, clock)}`)
    })
    writer.close()
  })
  writer.close()
}

/** The number of rounds after the next one for which the condition, which holds now, continues to hold. */
function moreRoundsText(writer: FunctionWriter, { low, high, isStrict, step }: LoopApproach): string {
  const side = (e: Expression) => {
    const text = writer.value(e)
    const isSigned = e.type.kind === 'scalar' && e.type.scalar === 'i32'
    return operand(isSigned ? cast('unsigned', text) : text)
  }
  const apart = `${side(high)} - ${side(low)}${isStrict ? ' - 1u' : ''}`
  return step === 1 ? apart : `(${apart}) / ${step}u`
}

/** The parts of a loop's head, each one C++ expression or declaration. */
interface NativeHead {
  readonly initial: string
  readonly condition: string
  readonly update: string
}

/** The parts of the head when each is one C++ expression or declaration; an absent part is empty. */
function nativeHead(writer: FunctionWriter, s: For): NativeHead | undefined {
  const part = (statement: Statement | undefined): string | undefined => {
    if (statement === undefined) return ''
    const { lines } = writer.capture(() => writer.statement(statement))
    return lines.length === 1 ? lines[0]!.simple : undefined
  }
  const initial = part(s.initial)
  let condition: string | undefined = ''
  if (s.condition !== undefined) {
    const { result, lines } = writer.capture(() => writer.value(s.condition!).text)
    condition = lines.length === 0 ? result : undefined
  }
  const update = part(s.update)
  writer.at(s.loc)
  if (initial === undefined || condition === undefined || update === undefined) return undefined
  return { initial, condition, update }
}

/** Whether the body contains a `break` or a `continue` of its own loop. */
function contains(kind: 'break' | 'continue', body: Block): boolean {
  return body.statements.some((s) => {
    if (s.kind === 'block') return contains(kind, s)
    if (s.kind === 'if')
      return [s.then, s.otherwise].some((part) => part !== undefined && contains(kind, part))
    // A `break` in a `switch` ends that.
    if (s.kind === 'switch') return kind === 'continue' && s.clauses.some((c) => contains(kind, c.body))
    return s.kind === kind
  })
}
