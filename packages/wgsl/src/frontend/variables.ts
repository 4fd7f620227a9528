import type { Access, Expression, ModuleVariable, Type } from '../ir.ts'
import { attempt } from '../source-text.ts'
import { typeName } from '../types.ts'
import type { GlobalNode } from './ast.ts'
import { concreteOf, isOverrideSized, withoutOverride } from './numeric-types.ts'
import type { Declarations } from './scopes.ts'
import {
  accessMode,
  checkArrayLengths,
  checkPointee,
  enumerant,
  immediateSpace,
  resolveAnyType,
  resolveType,
} from './type-resolution.ts'
import { hasFixedFootprint } from './type-structure.ts'

/** The address spaces of variables of module scope, with the one that is not supported. */
type ModuleSpace = ModuleVariable['space'] | 'immediate'

function isModuleSpace(space: string): space is ModuleSpace {
  return ['storage', 'uniform', 'workgroup', 'private', 'immediate'].includes(space)
}

/**
 * Resolves the declaration of a module-scope `var`; `type` is the variable's type in the front end (see
 * `OverrideSizedType`).
 */
export function resolveVariable(
  module: Declarations,
  node: GlobalNode,
): { variable: ModuleVariable; type: Type } {
  const { name, at, templates } = node
  const { source, expressions } = module
  const [spaceNode, accessNode] = templates ?? []
  if (spaceNode === undefined) {
    const unsupported = attempt(() => void (node.type && resolveAnyType(expressions, node.type)))
    if (unsupported === undefined)
      throw source.error(at, `the variable '${name}' of module scope needs an address space`)
    bindingOf(module, node, 'uniform')
    if (node.initial !== undefined)
      throw source.error(node.initial.at, `'${name}' cannot have an initial value`)
    throw unsupported
  }
  if (templates!.length > 2)
    throw source.error(templates![2]!.at, 'a variable has at most an address space and an access mode')
  const space = enumerant(expressions, spaceNode)
  if (!isModuleSpace(space)) {
    throw source.error(spaceNode.at, `'${space}' is not an address space for variables of module scope`)
  }
  if (accessNode !== undefined && space !== 'storage') {
    throw source.error(accessNode.at, `a variable in the ${space} address space cannot have an access mode`)
  }
  const access = accessMode(expressions, space, accessNode)
  if (access === 'write') throw source.error(accessNode!.at, 'a storage buffer cannot be write-only')

  const { type, initial } = typeAndInitial(module, node, space)
  if (isOverrideSized(type) && space !== 'workgroup') {
    throw source.error(
      at,
      `only workgroup variables may have a length that depends on an override, not '${name}'`,
    )
  }
  checkStoreType(module, node, space, access, type)
  if (space !== 'storage') checkArrayLengths(expressions, type, at)

  const binding = bindingOf(module, node, space)
  if (space === 'immediate') throw source.unsupported(spaceNode.at, immediateSpace)
  const variable: ModuleVariable = {
    kind: 'module-variable',
    id: module.newId(),
    name,
    space,
    access,
    type: withoutOverride(type),
    binding,
    initial,
    loc: source.locate(at),
  }
  return { variable, type }
}

function typeAndInitial(
  module: Declarations,
  node: GlobalNode,
  space: ModuleSpace,
): { type: Type; initial: Expression | undefined } {
  const { source, expressions } = module
  const declared = node.type && resolveType(expressions, node.type)
  if (node.initial === undefined) {
    if (declared === undefined) throw source.error(node.at, `the variable '${node.name}' needs a type`)
    return { type: declared, initial: undefined }
  }
  if (space !== 'private')
    throw source.error(
      node.initial.at,
      `a variable in the ${space} address space cannot have an initial value`,
    )
  const operand = expressions.constant(node.initial, `the initial value of '${node.name}'`, true)
  const type = declared ?? concreteOf(operand.type)
  const initial = expressions.expressionAs(operand, type, `the initial value of '${node.name}'`)
  return { type, initial: initial.kind === 'zero' ? undefined : initial }
}

/** Checks the type of a variable, which is more limited than that of memory that a pointer may point to. */
function checkStoreType(
  { source, expressions }: Declarations,
  { name, at }: GlobalNode,
  space: ModuleSpace,
  access: Access,
  type: Type,
): void {
  const refuse = (why: string) =>
    source.error(at, `the ${space} variable '${name}' cannot be of type ${typeName(type)}: ${why}`)
  if (type.kind === 'pointer') throw refuse('pointers cannot be stored')
  if (space !== 'storage' && !hasFixedFootprint(type))
    throw refuse('only storage buffers can be runtime-sized')
  checkPointee(expressions, type, space, access, at)
}

function bindingOf(module: Declarations, node: GlobalNode, space: ModuleSpace): ModuleVariable['binding'] {
  const { attributes, name, at } = node
  const group = attributes.find((a) => a.name === 'group')
  const binding = attributes.find((a) => a.name === 'binding')
  if (space !== 'storage' && space !== 'uniform') {
    const wrong = group ?? binding
    if (wrong !== undefined)
      throw module.source.error(wrong.at, `@${wrong.name} does not apply to a ${space} variable`)
    return undefined
  }
  if (group === undefined || binding === undefined)
    throw module.source.error(at, `'${name}' needs @group and @binding`)
  const number = (attribute: typeof group) => {
    const value = module.expressions.constantInteger(attribute.args[0]!, `the @${attribute.name}`)
    if (value < 0) throw module.source.error(attribute.at, `@${attribute.name} is ${value}, below 0`)
    return value
  }
  return { group: number(group), binding: number(binding) }
}
