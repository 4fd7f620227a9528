import type { Expression, ModuleVariable, Parameter, Place, PointerArgument, Type } from '../ir.ts'
import { typeName } from '../types.ts'
import { rootOf } from '../walk.ts'
import type { CallNode, FunctionNode } from './ast.ts'
import { narrowedBuffer } from './buffer-views.ts'
import type { ExpressionLowering } from './expression-lowering.ts'
import type { Operand, PointerOperand } from './operand.ts'

/**
 * What a pointer parameter into module memory is bound to when its function is specialised: a path from a variable, with
 * an index parameter for each dynamic index on it.
 */
export interface PointerBinding {
  /** Distinguishes specialisations: the variable and the path's shape. */
  readonly key: string
  /** The types of the indices, in order from the variable on. */
  readonly indexTypes: readonly Type[]
  /** The place that the pointer points to, given the parameters that hold the indices. */
  place(indices: readonly Parameter[]): Place
}

/** Lowers the call of a user function, specialising it for pointers into module memory. */
export function callUserFunction(
  scope: ExpressionLowering,
  declaration: FunctionNode,
  node: CallNode,
): Operand {
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
      const { binding, indices } = pathOf(value)
      bindings.push(binding)
      args.push(...indices)
    } else {
      bindings.push(undefined)
      args.push(scope.expressionOf(value))
    }
  }
  const target = scope.module.functions.instantiate(declaration, bindings, at)
  const type = target.returnType
  const expression: Expression = { kind: 'call', function: target, args, pointers, type, loc: scope.loc(at) }
  if (type === undefined) return { kind: 'nothing', expression, at }
  scope.checkValueSize(type, at)
  return { kind: 'runtime', type, expression, at }
}

/** Splits the place of a pointer into the path, which specialises, and the indices, which are passed. */
function pathOf({ place }: PointerOperand): { binding: PointerBinding; indices: Expression[] } {
  const indices: Expression[] = []
  const steps: string[] = []
  const passed = (e: Expression): ((parameters: readonly Parameter[]) => Expression) => {
    const position = indices.length
    indices.push(e)
    return (parameters) => {
      const value = parameters[position]!
      return { kind: 'value', value, type: value.type, loc: value.loc }
    }
  }
  const collect = (p: Place): ((parameters: readonly Parameter[]) => Place) => {
    switch (p.kind) {
      case 'variable':
        steps.push(p.type.kind === 'buffer' ? `${p.variable.id}:${typeName(p.type)}` : `${p.variable.id}`)
        return () => p
      case 'member-place': {
        const base = collect(p.base)
        steps.push(`.${p.member.index}`)
        return (parameters) => ({ ...p, base: base(parameters) })
      }
      case 'index-place': {
        const base = collect(p.base)
        const index = passed(p.index)
        steps.push(`[${typeName(p.index.type!)}]`)
        return (parameters) => ({ ...p, base: base(parameters), index: index(parameters) })
      }
      case 'view-place': {
        const base = collect(p.base)
        const offset = passed(p.offset)
        const size = p.size && passed(p.size)
        const types = [p.offset, ...(p.size ? [p.size] : [])].map((e) => typeName(e.type!))
        steps.push(`<${typeName(p.type)}>(${types.join(',')})`)
        return (parameters) => ({
          ...p,
          base: base(parameters),
          offset: offset(parameters),
          size: size?.(parameters),
        })
      }
      default:
        throw new TypeError(`a pointer into module memory cannot have a ${p.kind} on its path`)
    }
  }
  const build = collect(place)
  return {
    binding: { key: steps.join(''), indexTypes: indices.map((i) => i.type!), place: build },
    indices,
  }
}

/** A place that a function reaches through its pointer parameter at a position. */
export function throughParameter(place: Place, parameter: number): Place {
  if (place.kind === 'variable' || place.kind === 'deref') return { ...place, parameter }
  return { ...place, base: throughParameter(place.base, parameter) }
}

/** A binding to a stand-in variable, to check a function that is never called. */
export function standInBinding(variable: ModuleVariable): PointerBinding {
  const { type, loc, id } = variable
  return { key: `${id}`, indexTypes: [], place: () => ({ kind: 'variable', variable, type, loc }) }
}
