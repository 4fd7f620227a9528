import type { Expression, PointerArgument } from '../ir.ts'
import { rootOf } from '../walk.ts'
import type { CallNode, FunctionNode } from './ast.ts'
import { narrowedBuffer } from './buffer-views.ts'
import type { Operand } from './operand.ts'
import { type PointerBinding, pathOf } from './pointer-binding.ts'
import type { ExpressionScope } from './scopes.ts'

/** Lowers the call of a user function, specializing it for pointers into module memory. */
export function callUserFunction(scope: ExpressionScope, declaration: FunctionNode, node: CallNode): Operand {
  const { at } = node
  const { name } = declaration
  const signature = scope.module.signature(declaration)
  if (node.args.length !== signature.parameters.length) {
    throw scope.error(at, `${name} takes ${signature.parameters.length} arguments, not ${node.args.length}`)
  }
  const args: Expression[] = []
  const bindings: (PointerBinding | undefined)[] = []
  const pointers: PointerArgument[] = []
  for (const [i, argNode] of node.args.entries()) {
    const type = signature.parameters[i]!
    const operand = scope.expression(argNode)
    const given = operand.kind === 'nothing' ? operand : scope.value(operand)
    const value =
      (given.kind === 'nothing' ? undefined : narrowedBuffer(given, type)) ??
      scope.convert(given, type, `argument ${i + 1} of ${name}`)
    if (value.kind === 'pointer')
      pointers.push({ position: i, root: { ...rootOf(value.place), loc: scope.loc(argNode.at) } })
    if (value.kind === 'pointer' && value.type.space !== 'function') {
      const { binding, indices } = pathOf(value.place, (v) => scope.module.standIn(v))
      bindings.push(binding)
      args.push(...indices)
    } else {
      bindings.push(undefined)
      args.push(scope.expressionOf(value))
    }
  }
  const target = scope.module.functions.instantiate(declaration, bindings, at)
  const { returnType: type } = target
  return scope.called({ kind: 'call', function: target, args, pointers, type, loc: scope.loc(at) }, at)
}
