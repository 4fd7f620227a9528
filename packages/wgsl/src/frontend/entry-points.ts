import { subgroupSize } from '../collectives.ts'
import type { ModuleVariable } from '../ir.ts'
import { sizeOf } from '../layout.ts'
import type { SourceText } from '../source-text.ts'
import { typeName, u32Type } from '../types.ts'
import type { FunctionNode } from './ast.ts'
import { maximumPrivateByteLength, maximumValueByteLength } from './limits.ts'
import { commonType } from './numeric-types.ts'
import type { Declarations } from './scopes.ts'

/**
 * The workgroup size of a compute entry point, with 1 for each dimension that depends on an override without
 * a value.
 */
export function workgroupSizeOf(
  scope: Declarations,
  { attributes, at, name }: FunctionNode,
): [number, number, number] {
  const attribute = attributes.find((a) => a.name === 'workgroup_size')
  if (attribute === undefined) throw scope.source.error(at, `the entry point '${name}' needs @workgroup_size`)
  const size: [number, number, number] = [1, 1, 1]
  const given = attribute.args.map((arg) => scope.expressions.constant(arg, 'a workgroup size', true))
  const types = given.map((operand) => operand.type)
  const common = commonType(types)
  if (common === undefined) {
    throw scope.source.error(
      attribute.at,
      `the workgroup sizes have different types: ${types.map(typeName).join(', ')}`,
    )
  }
  for (const [i, operand] of given.entries()) {
    const value = scope.expressions.integerOf(operand, 'a workgroup size', common === u32Type ? 'u32' : 'i32')
    if (value === undefined) continue
    if (value < 1) throw scope.source.error(operand.at, `the workgroup size ${value} must be at least 1`)
    size[i] = value
  }
  const invocations = size[0] * size[1] * size[2]
  if (invocations > 2 ** 32 - 1)
    throw scope.source.error(
      attribute.at,
      `a workgroup of ${invocations} invocations is above the limit of 2^32 - 1`,
    )
  checkSubgroupSize(scope, attributes, size[0])
  return size
}

/** Checks @subgroup_size: every subgroup has `subgroupSize` invocations, so no other size is allowed. */
function checkSubgroupSize(scope: Declarations, attributes: FunctionNode['attributes'], width: number): void {
  const attribute = attributes.find((a) => a.name === 'subgroup_size')
  if (attribute === undefined) return
  const { at } = attribute
  if (!scope.isEnabled('subgroup_size_control'))
    throw scope.source.error(at, `@subgroup_size needs 'enable subgroup_size_control;'`)
  const operand = scope.expressions.constant(attribute.args[0]!, 'the subgroup size', true)
  const size = scope.expressions.integerOf(operand, 'the subgroup size')
  if (size === undefined) return
  if (size < 1 || (size & (size - 1)) !== 0)
    throw scope.source.error(at, `the subgroup size ${size} is not a power of two`)
  if (scope.isSymbolic) return
  if (size !== subgroupSize)
    throw scope.source.unsupported(
      at,
      `the subgroup size ${size} is not supported: it is always ${subgroupSize}`,
    )
  if (width % size !== 0) {
    throw scope.source.error(
      at,
      `the workgroup size ${width} in x is not a multiple of the subgroup size ${size}`,
    )
  }
}

/** Checks that no two variables that an entry point uses have the same binding. */
export function checkBindings(source: SourceText, variables: readonly ModuleVariable[]): void {
  const seen = new Map<string, string>()
  for (const { name, binding, loc } of variables) {
    if (binding === undefined) continue
    const key = `@group(${binding.group}) @binding(${binding.binding})`
    const other = seen.get(key)
    if (other !== undefined) throw source.errorAt(loc, `'${name}' and '${other}' both have ${key}`)
    seen.set(key, name)
  }
}

/** Checks the sizes of the private variables that an entry point uses: of each as a value, and of all. */
export function checkPrivateVariables(source: SourceText, variables: readonly ModuleVariable[]): void {
  let total = 0
  for (const { name, space, type, loc } of variables) {
    if (space !== 'private') continue
    const limit = (what: string, bytes: number, most: number) => {
      if (bytes > most)
        throw source.errorAt(loc, `the private ${what} ${bytes} bytes, above the limit of ${most}`)
    }
    total += sizeOf(type)
    limit(`variable '${name}' has`, sizeOf(type), maximumValueByteLength)
    limit(`variables up to '${name}' have`, total, maximumPrivateByteLength)
  }
}
