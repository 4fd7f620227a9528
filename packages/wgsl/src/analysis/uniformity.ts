import type { BuiltinCall, Expression, IrFunction, IrModule, Statement } from '../ir.ts'
import { operandsOf, rootOf, viewOf, walkExpression } from '../walk.ts'

/** Where threads of a subgroup run together. */
export interface Convergence {
  /** True when every thread of the subgroup that has not ended reaches this call at once, all of them in the first place. */
  isConvergent(call: BuiltinCall): boolean
}

/** Finds subgroup operations that stand under no condition that could differ between threads. */
export function findConvergence(module: IrModule): Convergence {
  const convergent = new Set<BuiltinCall>()
  const divergentFunctions = new Set<IrFunction>()
  // Callers come after callees in the list, so this order sees every call before the function called.
  for (const fn of [...module.functions].reverse()) {
    const state = { diverged: divergentFunctions.has(fn) }
    visitStatement(fn.body, state)
  }

  function visitStatement(s: Statement | undefined, state: { diverged: boolean }): void {
    if (s === undefined) return
    const value = (e: Expression | undefined) => e && visitExpression(e, state.diverged)
    switch (s.kind) {
      case 'block':
        for (const inner of s.statements) visitStatement(inner, state)
        return
      case 'let':
      case 'assign':
      case 'compound-assign':
      case 'swizzle-assign':
      case 'evaluate':
        value(s.value)
        return
      case 'var':
        value(s.initial)
        return
      case 'if': {
        value(s.condition)
        branch([s.then, s.otherwise], isUniform(s.condition), state)
        return
      }
      case 'switch':
        value(s.selector)
        branch(
          s.clauses.map((c) => c.body),
          isUniform(s.selector),
          state,
        )
        return
      case 'loop':
        loop([s.body, s.continuing], s.breakIf, state)
        return
      case 'for':
        visitStatement(s.initial, state)
        loop([s.body, s.update], s.condition, state, s.initial)
        return
      case 'while':
        loop([s.body], s.condition, state)
        return
      case 'return':
        value(s.value)
        return
      case 'break':
      case 'continue':
        return
    }
  }

  function branch(
    parts: readonly (Statement | undefined)[],
    uniform: boolean,
    state: { diverged: boolean },
  ): void {
    const inner = { diverged: state.diverged || !uniform }
    for (const part of parts) visitStatement(part, inner)
    // Threads that left through a divergent branch are missing from then on.
    if (!uniform && parts.some((p) => p !== undefined && leaves(p))) state.diverged = true
    if (uniform && inner.diverged && !state.diverged) state.diverged = true
  }

  function loop(
    parts: readonly (Statement | undefined)[],
    condition: Expression | undefined,
    state: { diverged: boolean },
    initial?: Statement,
  ): void {
    const start = initial?.kind === 'var' ? initial : undefined
    const counted = start?.initial === undefined || isUniform(start.initial)
    const uniform =
      (condition === undefined || isUniform(condition, start?.variable.id)) &&
      counted &&
      !parts.some((p) => p !== undefined && leavesDivergently(p))
    const inner = { diverged: state.diverged || !uniform }
    if (condition !== undefined) visitExpression(condition, inner.diverged)
    for (const part of parts) visitStatement(part, inner)
    if (parts.some((p) => p !== undefined && returnsDivergently(p))) state.diverged = true
  }

  function visitExpression(e: Expression, diverged: boolean): void {
    walkExpression(e, {
      expression(x) {
        if (x.kind === 'logical' && !isUniform(x.left)) {
          visitExpression(x.left, diverged)
          visitExpression(x.right, true)
          return false
        }
        if (x.kind === 'call' && diverged) divergentFunctions.add(x.function)
        if (x.kind === 'builtin-call' && !diverged) convergent.add(x)
        return undefined
      },
    })
  }
  return { isConvergent: (call) => convergent.has(call) }
}

/** The same value in all threads of a workgroup; `counter` names a loop variable known to be. */
function isUniform(e: Expression, counter?: number): boolean {
  switch (e.kind) {
    case 'literal':
    case 'zero':
    case 'constant':
      return true
    case 'value':
      return (
        e.value.kind === 'parameter' &&
        (e.value.builtin === 'workgroup_id' ||
          e.value.builtin === 'num_workgroups' ||
          e.value.builtin === 'workgroup_index' ||
          e.value.builtin === 'subgroup_size' ||
          e.value.builtin === 'num_subgroups' ||
          e.value.builtin === 'subgroup_id')
      )
    case 'load': {
      const root = rootOf(e.place)
      if (root.kind === 'deref') return false
      if (root.variable.kind === 'local-variable')
        return root.variable.id === counter && e.place.kind === 'variable'
      if (
        root.variable.space !== 'uniform' &&
        !(root.variable.space === 'storage' && root.variable.access === 'read')
      )
        return false
      return operandsOf(e.place).every((operand) => isUniform(operand, counter))
    }
    case 'member':
    case 'swizzle':
      return isUniform(e.base, counter)
    case 'splat':
    case 'convert':
    case 'bitcast':
    case 'unary':
      return isUniform(e.value, counter)
    case 'binary':
    case 'logical':
      return isUniform(e.left, counter) && isUniform(e.right, counter)
    case 'construct':
      return e.args.every((a) => isUniform(a, counter))
    case 'builtin-call':
      if (e.name === 'arrayLength') {
        const view = e.args[0]?.kind === 'address-of' ? viewOf(e.args[0].place) : undefined
        return [view?.offset, view?.size].every((x) => x === undefined || isUniform(x, counter))
      }
      if (e.name === 'bufferLength' || e.name === 'workgroupUniformLoad') return true
      return (
        !e.name.startsWith('atomic') &&
        !e.name.startsWith('subgroup') &&
        !e.name.startsWith('quad') &&
        e.args.every((a) => isUniform(a, counter))
      )
    default:
      return false
  }
}

/** May control leave the statement other than at its end? */
function leaves(s: Statement): boolean {
  switch (s.kind) {
    case 'block':
      return s.statements.some(leaves)
    case 'if':
      return leaves(s.then) || (s.otherwise !== undefined && leaves(s.otherwise))
    case 'switch':
      return s.clauses.some((c) => leaves(c.body))
    case 'loop':
    case 'for':
    case 'while':
      return leaves(s.body)
    default:
      return s.kind === 'break' || s.kind === 'continue' || s.kind === 'return'
  }
}

function leavesDivergently(s: Statement): boolean {
  switch (s.kind) {
    case 'block':
      return s.statements.some(leavesDivergently)
    case 'if': {
      const parts = [s.then, s.otherwise].filter((p) => p !== undefined)
      return isUniform(s.condition) ? parts.some(leavesDivergently) : parts.some(leaves)
    }
    case 'switch': {
      const parts = s.clauses.map((c) => c.body)
      return isUniform(s.selector) ? parts.some(leavesDivergently) : parts.some(leaves)
    }
    case 'loop':
    case 'for':
    case 'while':
      return returnsDivergently(s.body)
    default:
      return false
  }
}

function returnsDivergently(s: Statement): boolean {
  const returns = (x: Statement): boolean => {
    switch (x.kind) {
      case 'block':
        return x.statements.some(returns)
      case 'if':
        return returns(x.then) || (x.otherwise !== undefined && returns(x.otherwise))
      case 'switch':
        return x.clauses.some((c) => returns(c.body))
      case 'loop':
      case 'for':
      case 'while':
        return returns(x.body)
      default:
        return x.kind === 'return'
    }
  }
  return returns(s)
}
