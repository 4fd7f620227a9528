import type { StructType, Type } from '../ir.ts'
import { typeName } from '../types.ts'
import type { StructNode } from './ast.ts'
import { isOverrideSized, makeStruct } from './numeric-types.ts'
import type { ExpressionScope } from './scopes.ts'
import { checkExtent, overrideElement, resolveType } from './type-resolution.ts'
import { hasFixedFootprint } from './type-structure.ts'

/** Resolves the declaration of a structure. */
export function resolveStruct(expressions: ExpressionScope, node: StructNode): StructType {
  const names = new Set<string>()
  const members = node.members.map(({ name, type: typeNode, attributes, at }, i) => {
    if (names.has(name)) throw expressions.error(at, `the structure '${node.name}' has two members '${name}'`)
    names.add(name)
    const type = resolveType(expressions, typeNode)
    if (isOverrideSized(type)) throw expressions.error(typeNode.at, overrideElement)
    if (type.kind === 'pointer' || type.kind === 'buffer')
      throw expressions.error(typeNode.at, `a structure cannot hold ${type.kind}s`)
    if (!hasFixedFootprint(type) && (type.kind !== 'array' || i < node.members.length - 1)) {
      throw expressions.error(typeNode.at, 'a runtime-sized array may only be the last member of a structure')
    }
    const attribute = (wanted: string) => {
      const found = attributes.find((a) => a.name === wanted)
      return found && expressions.constantInteger(found.args[0]!, `the @${wanted}`)
    }
    const size = attribute('size')
    const align = attribute('align')
    checkLayout(expressions, typeNode.at, type, size, align)
    return { name, type, size, align }
  })
  const type = makeStruct(node.name, members, false)
  checkExtent(expressions, type, node.at)
  return type
}

function checkLayout(
  expressions: ExpressionScope,
  at: number,
  type: Type,
  size: number | undefined,
  align: number | undefined,
): void {
  const plain = makeStruct('', [{ name: '', type }], true).members[0]!
  if (size !== undefined && !hasFixedFootprint(type)) {
    throw expressions.error(at, '@size does not apply to a runtime-sized array')
  }
  if (size !== undefined && size < plain.size) {
    throw expressions.error(at, `@size(${size}) is below the ${plain.size} bytes of ${typeName(type)}`)
  }
  if (align !== undefined && (align < 1 || (align & (align - 1)) !== 0 || align % plain.align !== 0)) {
    throw expressions.error(at, `@align(${align}) is not a power of two that ${plain.align} divides`)
  }
}
