import type {
  Block,
  CompoundAssign,
  Expression,
  For,
  IrModule,
  LocalVariable,
  Loop,
  Place,
  Statement,
  While,
} from '../ir.ts'
import { rootOf, viewOf, walk, walkStatement } from '../walk.ts'
import type { Ranges } from './ranges.ts'

/** What is known of a module's loops. */
export interface Loops {
  /** The loop counts towards a bound and so ends by itself: no guard against endless loops is needed. */
  isPlain(loop: For | While | Loop): boolean
  /** Repetitions, when they are the same each time. */
  tripCount(loop: For): number | undefined
  /** Unrolling it keeps local arrays in registers, or costs little. */
  unroll(loop: For): boolean
}

/** Statements that an unrolled loop (with the loops in it) may come to. */
const unrollLimit = 2048
const unrollLimitForArrays = 8192

/** Finds counted loops. */
export function findLoops(module: IrModule, ranges: Ranges): Loops {
  const counts = new Map<For, number | undefined>()
  const plain = new Set<Statement>()
  const sizes = new Map<Statement, number>()
  const unrolled = new Set<For>()
  const visit = (s: Statement): void => {
    if (s.kind === 'for') {
      const count = tripCount(s, ranges)
      counts.set(s, count)
      if (count !== undefined || isCounted(s)) plain.add(s)
    }
    if (s.kind === 'while' && hasCounter(s.condition, true, s.body, s.body.statements)) plain.add(s)
    if (s.kind === 'loop') {
      const [first] = s.body.statements
      const leaves =
        first?.kind === 'if' &&
        first.then.statements.length === 1 &&
        first.then.statements[0]!.kind === 'break'
      const whole = s.continuing === undefined ? s.body : blockOf(s.body, s.continuing)
      if (leaves && hasCounter(first.condition, false, whole, (s.continuing ?? s.body).statements))
        plain.add(s)
    }
  }
  for (const fn of module.functions) {
    walkStatement(fn.body, {
      statement(s) {
        visit(s)
        return undefined
      },
    })
    sizeOfStatement(fn.body)
  }

  /** Statements executed, with constant loops expanded; loops of unknown length count once. */
  function sizeOfStatement(s: Statement | undefined): number {
    if (s === undefined) return 0
    let size = 1
    switch (s.kind) {
      case 'block':
        size = s.statements.reduce((n, inner) => n + sizeOfStatement(inner), 0)
        break
      case 'if':
        size += sizeOfStatement(s.then) + sizeOfStatement(s.otherwise)
        break
      case 'switch':
        size += s.clauses.reduce((n, c) => n + sizeOfStatement(c.body), 0)
        break
      case 'loop':
        size += sizeOfStatement(s.body) + sizeOfStatement(s.continuing)
        break
      case 'while':
        size += sizeOfStatement(s.body)
        break
      case 'for': {
        const body = sizeOfStatement(s.body) + 1
        const count = counts.get(s)
        size += body
        if (count !== undefined) {
          const expanded = body * Math.max(count, 1)
          const limit = indexesRegisters(s) ? unrollLimitForArrays : unrollLimit
          if (count <= 128 && expanded <= limit && (count <= 16 || indexesRegisters(s))) {
            unrolled.add(s)
            size = expanded
          }
        }
        break
      }
    }
    sizes.set(s, size)
    return size
  }

  return {
    isPlain: (loop) => plain.has(loop),
    tripCount: (loop) => counts.get(loop),
    unroll: (loop) => unrolled.has(loop),
  }
}

interface Counter {
  readonly variable: LocalVariable
  readonly from: Expression
  readonly operator: '<' | '<=' | '>' | '>=' | '!='
  readonly bound: Expression
  /** Undefined when it is not a constant; then it is invariant and `sign` is its direction, as far as the source says. */
  readonly step: number | undefined
  readonly sign: 1 | -1
}

/** `for (var i = from; i < bound; i += step)` with a constant or invariant step, where nothing else changes `i`. */
export function counterOf(loop: For): Counter | undefined {
  const { initial, condition, update } = loop
  if (initial?.kind !== 'var' || initial.initial === undefined || condition?.kind !== 'binary')
    return undefined
  if (update?.kind !== 'compound-assign' || (update.operator !== '+' && update.operator !== '-'))
    return undefined
  const variable = initial.variable
  if (variableOf(update.target) !== variable) return undefined
  const flipped = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!=' } as const
  const operator = condition.operator
  if (!(operator in flipped)) return undefined
  const relation = operator as keyof typeof flipped
  const sign = update.operator === '-' ? (-1 as const) : (1 as const)
  const step = update.value.kind === 'literal' ? Number(update.value.value) * sign : undefined
  if (isAssigned(loop.body, variable) || !isInvariant(update.value, loop.body)) return undefined
  if (condition.left.kind === 'load' && variableOf(condition.left.place) === variable)
    return { variable, from: initial.initial, operator: relation, bound: condition.right, step, sign }
  if (condition.right.kind === 'load' && variableOf(condition.right.place) === variable)
    return { variable, from: initial.initial, operator: flipped[relation], bound: condition.left, step, sign }
  return undefined
}

function variableOf(place: Place): LocalVariable | undefined {
  return place.kind === 'variable' && place.variable.kind === 'local-variable' ? place.variable : undefined
}

/** May a statement or expression change a local variable (or pass its address)? */
export function isAssigned(body: Statement | Expression, variable: LocalVariable): boolean {
  let found = false
  walk(body, {
    place(place, use) {
      const root = rootOf(place)
      if (use !== 'load' && root.kind === 'variable' && root.variable === variable) found = true
      return undefined
    },
  })
  return found
}

function blockOf(body: Block, continuing: Block): Block {
  return { kind: 'block', statements: [body, continuing], loc: body.loc }
}

/**
 * Does the loop go on while a counter is on one side of an invariant bound, and each repetition moves the counter that way, once,
 * by one of `steps`?
 */
function hasCounter(
  condition: Expression,
  holds: boolean,
  body: Block,
  steps: readonly Statement[],
): boolean {
  if (condition.kind !== 'binary' || condition.left.kind !== 'load') return false
  const variable = variableOf(condition.left.place)
  if (variable === undefined || !isInvariant(condition.right, body)) return false
  const opposite: Partial<Record<string, string>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' }
  const relation = holds ? condition.operator : opposite[condition.operator]
  const changes = steps.filter((s) => isAssigned(s, variable))
  const [change] = changes
  let assignments = 0
  let skips = false
  walkStatement(body, {
    place(place, use) {
      const root = rootOf(place)
      if (use !== 'load' && root.kind === 'variable' && root.variable === variable) assignments++
      return undefined
    },
    statement(s) {
      if (s.kind === 'continue') skips = true
      return undefined
    },
  })
  if (assignments !== 1 || changes.length !== 1 || change?.kind !== 'compound-assign') return false
  // A `continue` leads to the continuing part; without one it could pass the step by.
  if (skips && steps === body.statements) return false
  const step =
    change.value.kind === 'literal' ? Number(change.value.value) : isInvariant(change.value, body) ? 1 : 0
  const rises = change.operator === '+' ? step : change.operator === '-' ? -step : 0
  return relation === '<' || relation === '<='
    ? rises > 0
    : (relation === '>' || relation === '>=') && rises < 0
}

/** The counter moves towards its bound, and the bound stays. */
function isCounted(loop: For): boolean {
  const c = counterOf(loop)
  if (c === undefined || !isInvariant(c.bound, loop.body)) return false
  const rises = c.operator === '<' || c.operator === '<='
  const step = c.step ?? c.sign
  return c.operator !== '!=' && (rises ? step > 0 : step < 0)
}

function isInvariant(e: Expression, body: Block): boolean {
  switch (e.kind) {
    case 'literal':
    case 'value':
    case 'constant':
      return true
    case 'load': {
      const root = rootOf(e.place)
      if (root.kind === 'deref') return false
      const v = root.variable
      if (v.kind === 'local-variable') return !isAssigned(body, v)
      return v.space === 'uniform' || (v.space === 'storage' && v.access === 'read')
    }
    case 'swizzle':
    case 'member':
      return isInvariant(e.base, body)
    case 'binary':
      return isInvariant(e.left, body) && isInvariant(e.right, body)
    case 'convert':
    case 'unary':
      return isInvariant(e.value, body)
    case 'builtin-call':
      return (
        (e.name === 'arrayLength' &&
          e.args[0]?.kind === 'address-of' &&
          viewOf(e.args[0].place) === undefined) ||
        ((e.name === 'min' || e.name === 'max') && e.args.every((a) => isInvariant(a, body)))
      )
    default:
      return false
  }
}

/** How often a loop runs, when that is the same each time. */
export function tripCount(loop: For, ranges: Ranges): number | undefined {
  const shifts = halvingTrips(loop, ranges)
  if (shifts !== undefined) return shifts
  const c = counterOf(loop)
  if (c?.step === undefined) return undefined
  const from = ranges.interval(c.from)
  const bound = ranges.interval(c.bound)
  if (from === undefined || bound === undefined || from.low !== from.high || bound.low !== bound.high)
    return undefined
  const distance = bound.low - from.low
  let count: number
  switch (c.operator) {
    case '<':
      count = c.step > 0 ? Math.ceil(distance / c.step) : Number.NaN
      break
    case '<=':
      count = c.step > 0 ? Math.floor(distance / c.step) + 1 : Number.NaN
      break
    case '>':
      count = c.step < 0 ? Math.ceil(distance / c.step) : Number.NaN
      break
    case '>=':
      count = c.step < 0 ? Math.floor(distance / c.step) + 1 : Number.NaN
      break
    case '!=':
      count = distance / c.step
      break
  }
  return Number.isInteger(count) ? Math.max(count, 0) : undefined
}

/** `for (var s = 64u; s > 0u; s >>= 1u)` and its like with `/= 2`. */
function halvingTrips(loop: For, ranges: Ranges): number | undefined {
  const { initial, condition, update } = loop
  if (initial?.kind !== 'var' || initial.initial === undefined || condition?.kind !== 'binary')
    return undefined
  if (update?.kind !== 'compound-assign' || variableOf(update.target) !== initial.variable) return undefined
  const factor = halvingFactor(update)
  if (factor === undefined || isAssigned(loop.body, initial.variable)) return undefined
  if (condition.left.kind !== 'load' || variableOf(condition.left.place) !== initial.variable)
    return undefined
  const from = ranges.interval(initial.initial)
  const bound = ranges.interval(condition.right)
  if (from === undefined || bound === undefined || from.low !== from.high || bound.low !== bound.high)
    return undefined
  if (from.low < 0 || from.low > 0xffff) return undefined
  let count = 0
  for (let v = from.low; count <= 32; count++) {
    const holds =
      condition.operator === '>'
        ? v > bound.low
        : condition.operator === '>='
          ? v >= bound.low
          : condition.operator === '!='
            ? v !== bound.low
            : false
    if (!holds) return count
    v = Math.floor(v / factor)
  }
  return undefined
}

function halvingFactor(update: CompoundAssign): number | undefined {
  if (update.value.kind !== 'literal') return undefined
  const value = Number(update.value.value)
  if (update.operator === '>>') return 2 ** value > 1 ? 2 ** value : undefined
  return update.operator === '/' && value > 1 ? value : undefined
}

/** Does the loop index a function's array or vector by something that unrolling may make constant? */
function indexesRegisters(loop: For): boolean {
  let found = false
  walkStatement(loop.body, {
    place(place) {
      if (place.kind !== 'index-place' || place.index.kind === 'literal') return undefined
      const root = rootOf(place)
      if (
        root.kind === 'deref' ||
        root.variable.kind === 'local-variable' ||
        root.variable.space === 'private'
      )
        found = true
      return undefined
    },
    expression(e) {
      if (e.kind === 'index' && e.index.kind !== 'literal') found = true
      return undefined
    },
  })
  return found
}
