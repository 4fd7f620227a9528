import type { IrFunction, Location, Statement } from '../ir.ts'
import { typeName } from '../types.ts'

/** How a statement can end (WGSL, section "Behaviors"). */
export interface Behaviour {
  readonly next: boolean
  readonly break: boolean
  readonly continue: boolean
  readonly return: boolean
}

const next: Behaviour = { next: true, break: false, continue: false, return: false }
const nowhere: Behaviour = { next: false, break: false, continue: false, return: false }

function either(a: Behaviour, b: Behaviour): Behaviour {
  return {
    next: a.next || b.next,
    break: a.break || b.break,
    continue: a.continue || b.continue,
    return: a.return || b.return,
  }
}

/** Finds how each statement of a function can end, for any values of its conditions. */
export function findBehaviours(fn: IrFunction): (statement: Statement) => Behaviour {
  const known = behavioursOf(fn)
  return (statement) => known.get(statement)!
}

/**
 * Checks that each loop of a function can end, and that a function with a return type returns a value. `end`
 * is the end of its body; `error` creates the error to throw.
 */
export function checkBehaviours(
  fn: IrFunction,
  end: Location,
  error: (loc: Location, text: string) => Error,
): void {
  const known = behavioursOf(fn)
  for (const [statement, behaviour] of known) {
    const isLoop = statement.kind === 'loop' || statement.kind === 'for'
    if (isLoop && !behaviour.next && !behaviour.return)
      throw error(statement.loc, 'the loop never ends: nothing in it breaks or returns')
  }
  if (fn.returnType !== undefined && known.get(fn.body)!.next)
    throw error(end, `the function '${fn.name}' can end without returning ${typeName(fn.returnType)}`)
}

function behavioursOf(fn: IrFunction): ReadonlyMap<Statement, Behaviour> {
  const known = new Map<Statement, Behaviour>()
  const find = (statement: Statement): Behaviour => {
    const behaviour = behaviourOf(statement, find)
    known.set(statement, behaviour)
    return behaviour
  }
  find(fn.body)
  return known
}

function behaviourOf(statement: Statement, find: (statement: Statement) => Behaviour): Behaviour {
  switch (statement.kind) {
    case 'block': {
      let behaviour = next
      for (const inner of statement.statements) {
        const step = find(inner)
        if (behaviour.next) behaviour = either({ ...behaviour, next: false }, step)
      }
      return behaviour
    }
    case 'if':
      return either(find(statement.then), statement.otherwise ? find(statement.otherwise) : next)
    case 'switch': {
      let behaviour = nowhere
      for (const clause of statement.clauses) behaviour = either(behaviour, find(clause.body))
      return { ...behaviour, next: behaviour.next || behaviour.break, break: false }
    }
    case 'loop': {
      const body = find(statement.body)
      const part = statement.continuing ? find(statement.continuing) : next
      // Unreachable statements do not count.
      const continues = body.next || body.continue
      return ofLoop(continues ? either(body, part) : body, continues && statement.breakIf !== undefined)
    }
    case 'for':
      for (const part of [statement.initial, statement.update]) if (part) find(part)
      return ofLoop(find(statement.body), statement.condition !== undefined)
    case 'break':
      return { ...nowhere, break: true }
    case 'continue':
      return { ...nowhere, continue: true }
    case 'return':
      return { ...nowhere, return: true }
    default:
      return next
  }
}

/** The behaviour of a loop, given that of its parts; `conditional` tells whether a condition can end it. */
function ofLoop(parts: Behaviour, conditional: boolean): Behaviour {
  return { ...nowhere, next: parts.break || conditional, return: parts.return }
}
