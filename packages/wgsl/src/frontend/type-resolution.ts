import type {
  Access,
  AddressSpace,
  ArrayType,
  BufferType,
  ScalarType,
  SubgroupMatrixComponent,
  SubgroupMatrixType,
  Type,
} from '../ir.ts'
import { alignOf, leastViewSize, roundUp } from '../layout.ts'
import { UnsupportedError } from '../source-text.ts'
import { containsArray, containsAtomic, containsSubgroupMatrix, isHostShareable } from '../type-property.ts'
import {
  arrayType,
  atomicType,
  bufferType,
  i32Type,
  matrixType,
  pointerType,
  subgroupMatrixType,
  typeName,
  u32Type,
  vec2uType,
  vectorType,
  wideAtomicType,
} from '../types.ts'
import type { ExpressionNode, NameNode } from './ast.ts'
import { maximumArrayLength, maximumByteLength, maximumTypeNesting } from './limits.ts'
import { isOverrideSized, overrideSized, scalarOf } from './numeric-types.ts'
import type { ExpressionScope } from './scopes.ts'
import { isTextureType, plainTypes, type TypeGenerator, typeGenerator } from './type-names.ts'
import { containsWideAtomic, hasFixedFootprint, longestArray, nestingDepth } from './type-structure.ts'

/**
 * Resolves the type of a value, of memory, or of a part of a type. Textures, samplers and pointers to
 * immediate data, which are not supported, are none of these.
 */
export function resolveType(scope: ExpressionScope, node: ExpressionNode): Type {
  try {
    return resolveAnyType(scope, node)
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error
    throw scope.error(
      node.at,
      'neither textures and samplers nor pointers to immediate data may be used here',
    )
  }
}

/** Resolves the type that a node names. */
export function resolveAnyType(scope: ExpressionScope, node: ExpressionNode): Type {
  if (node.kind !== 'name') throw scope.error(node.at, 'a type is expected here')
  const { name, at, templates } = node
  if (scope.isLocal(name)) throw scope.error(at, `'${name}' is not a type`)
  const declared = scope.module.declaredType(name, at)
  if (declared !== undefined) {
    if (templates !== undefined) throw scope.error(at, `the type '${name}' has no template arguments`)
    return declared
  }
  const plain = plainTypes.get(name)
  if (plain !== undefined) {
    if (templates !== undefined) throw scope.error(at, `the type '${name}' has no template arguments`)
    requireF16(scope, plain, at)
    return plain
  }
  const generator = typeGenerator(name)
  if (generator !== undefined) return generate(scope, generator, node)
  if (isTextureType(name))
    throw scope.module.source.unsupported(
      at,
      `the type '${name}' is not supported: textures and samplers are not`,
    )
  if (scope.lookup(name) !== undefined) throw scope.error(at, `'${name}' is not a type`)
  throw scope.error(at, `the type '${name}' is not declared`)
}

function requireF16(scope: ExpressionScope, type: Type, at: number): void {
  if (scalarOf(type) === 'f16' && !scope.module.isEnabled('f16'))
    throw scope.error(at, `the type ${typeName(type)} needs 'enable f16;'`)
}

function generate(scope: ExpressionScope, generator: TypeGenerator, node: NameNode): Type {
  const { name, at, templates = [] } = node
  const count = (low: number, high: number) => {
    if (templates.length < low || templates.length > high) {
      throw scope.error(
        at,
        `the type '${name}' takes ${low === high ? low : `${low} or ${high}`} template arguments`,
      )
    }
  }
  switch (generator.kind) {
    case 'vector': {
      count(1, 1)
      return vectorType(generator.size, scalarArgument(scope, templates[0]!, name).scalar)
    }
    case 'matrix': {
      count(1, 1)
      const { scalar } = scalarArgument(scope, templates[0]!, name)
      if (scalar !== 'f32' && scalar !== 'f16')
        throw scope.error(at, `a matrix has components of f32 or f16, not ${scalar}`)
      return matrixType(generator.columns, generator.rows, scalar)
    }
    case 'atomic': {
      count(1, 1)
      const held = resolveType(scope, templates[0]!)
      if (held === i32Type || held === u32Type) return atomicType(held.scalar as 'i32' | 'u32')
      if (held !== vec2uType) throw scope.error(at, `an atomic is i32 or u32, not ${typeName(held)}`)
      if (!scope.module.isEnabled('atomic_vec2u_min_max'))
        throw scope.error(at, `the type atomic<vec2u> needs 'enable atomic_vec2u_min_max;'`)
      return wideAtomicType
    }
    case 'array': {
      count(1, 2)
      const element = resolveType(scope, templates[0]!)
      if (isOverrideSized(element)) throw scope.error(templates[0]!.at, overrideElement)
      checkElement(scope, element, templates[0]!.at)
      const type = sized(scope, templates[1], 'array', (length) => arrayType(element, length))
      checkExtent(scope, type, at)
      return type
    }
    case 'buffer': {
      count(0, 1)
      return sized(scope, templates[0], 'buffer', bufferType)
    }
    case 'subgroup-matrix':
      return subgroupMatrix(scope, generator.role, node)
    case 'pointer': {
      count(2, 3)
      return pointer(scope, templates, at)
    }
  }
}

/**
 * Checks that a type is not larger than 4 GiB, with one element of a runtime-sized array, and does not nest
 * deeper than the limit.
 */
export function checkExtent(scope: ExpressionScope, type: Type, at: number): void {
  if (roundUp(leastViewSize(type), alignOf(type)) > maximumByteLength)
    throw scope.error(at, `the type ${typeName(type)} is larger than 4 GiB`)
  if (nestingDepth(type) > maximumTypeNesting)
    throw scope.error(at, `the type nests deeper than ${maximumTypeNesting} levels`)
}

/** Checks that values, and memory outside of storage buffers, contain no arrays above the limit. */
export function checkArrayLengths(scope: ExpressionScope, type: Type, at: number): void {
  // A length that depends on an override is limited only by the memory of the device.
  const length = longestArray(isOverrideSized(type) && type.kind === 'array' ? type.element : type)
  if (length > maximumArrayLength) {
    throw scope.error(
      at,
      `an array outside storage buffers has at most ${maximumArrayLength} elements, not ${length}`,
    )
  }
}

/** The error for an override-sized array inside another type. */
export const overrideElement =
  'an array whose length depends on an override can only be the type of a workgroup variable, not part of it'

/** Checks an element type: arrays may contain any type of fixed size except pointers and buffers. */
export function checkElement(scope: ExpressionScope, element: Type, at: number): void {
  if (element.kind === 'pointer' || element.kind === 'buffer' || !hasFixedFootprint(element))
    throw scope.error(at, `an array cannot hold elements of type ${typeName(element)}`)
}

function scalarArgument(scope: ExpressionScope, node: ExpressionNode, name: string): ScalarType {
  const type = resolveType(scope, node)
  if (type.kind !== 'scalar') throw scope.error(node.at, `'${name}' holds scalars, not ${typeName(type)}`)
  return type
}

/** An array or buffer whose length is an expression. */
function sized(
  scope: ExpressionScope,
  lengthNode: ExpressionNode | undefined,
  what: 'array' | 'buffer',
  make: (length: number | undefined) => ArrayType | BufferType,
): ArrayType | BufferType {
  if (lengthNode === undefined) return make(undefined)
  const { length, override } = constantLength(
    scope,
    lengthNode,
    `the ${what}'s length`,
    what === 'array' ? 1 : scope.module.isEnabled('f16') ? 2 : 4,
  )
  const type = make(length)
  if (!override) return type
  return lengthNode.kind === 'name'
    ? overrideSized(type, scope.module.declaration(lengthNode.name)!, lengthNode.name)
    : overrideSized(type, lengthNode, 'an override-expression')
}

/** A constant length, which must be a multiple of `unit`; an unknown length counts as `unit`. */
function constantLength(
  scope: ExpressionScope,
  node: ExpressionNode,
  what: string,
  unit: number,
): { length: number; override: boolean } {
  const operand = scope.constant(node, what, true)
  const { override } = operand
  const length = scope.integerOf(operand, what)
  if (length === undefined) return { length: unit, override }
  const refuse = (why: string) => scope.error(node.at, `${what} ${why}`)
  if (length < 1) throw refuse(`is ${length}, but must be at least 1`)
  if (length % unit !== 0) throw refuse(`${length} is not a multiple of ${unit}`)
  const largest = operand.type === u32Type ? 2 ** 32 - 1 : 2 ** 31 - 1
  if (length > largest) throw refuse(`${length} is too large`)
  return { length, override }
}

/** The error for the use of an immediate data variable. */
export const immediateSpace = "the address space 'immediate' is not supported"

const spaces = new Set(['function', 'private', 'workgroup', 'storage', 'uniform', 'immediate'])

/** An address space or access mode given as a bare name. */
export function enumerant(scope: ExpressionScope, node: ExpressionNode): string {
  if (node.kind !== 'name' || node.templates !== undefined)
    throw scope.error(node.at, 'an address space is expected here')
  if (scope.isLocal(node.name) || scope.module.declaration(node.name) !== undefined)
    throw scope.error(node.at, `'${node.name}' is declared in the source, so it is not an address space here`)
  return node.name
}

/** The access mode that a node names, or the default of the address space. */
export function accessMode(scope: ExpressionScope, space: string, node: ExpressionNode | undefined): Access {
  if (node === undefined) return space === 'storage' || space === 'uniform' ? 'read' : 'read_write'
  const name = enumerant(scope, node)
  if (name !== 'read' && name !== 'write' && name !== 'read_write')
    throw scope.error(node.at, `'${name}' is not an access mode`)
  return name
}

function pointer(scope: ExpressionScope, templates: ExpressionNode[], at: number): Type {
  const [spaceNode, storeNode, accessNode] = templates as [
    ExpressionNode,
    ExpressionNode,
    ExpressionNode | undefined,
  ]
  const space = enumerant(scope, spaceNode)
  if (!spaces.has(space))
    throw scope.error(spaceNode.at, `'${space}' is not an address space of compute shaders`)
  if (accessNode !== undefined && space !== 'storage')
    throw scope.error(at, `a pointer to ${space} memory cannot have an access mode`)
  const access = accessMode(scope, space, accessNode)
  if (access === 'write') throw scope.error(at, 'write-only pointers do not exist')
  const store = resolveType(scope, storeNode)
  if (isOverrideSized(store) && space !== 'workgroup') throw scope.error(storeNode.at, overrideElement)
  if (store.kind === 'pointer') throw scope.error(storeNode.at, 'pointers to pointers do not exist')
  checkPointee(scope, store, space as AddressSpace | 'immediate', access, storeNode.at)
  if (space !== 'storage') checkArrayLengths(scope, store, at)
  if (space === 'immediate') throw scope.module.source.unsupported(spaceNode.at, immediateSpace)
  return pointerType(space as AddressSpace, store, access)
}

/**
 * Checks that memory of a type is allowed in the address space. A view of a `buffer` may be runtime-sized in
 * workgroup and uniform memory too.
 */
export function checkPointee(
  scope: ExpressionScope,
  store: Type,
  space: AddressSpace | 'immediate',
  access: Access,
  at: number,
): void {
  const refuse = (why: string) =>
    scope.error(at, `${typeName(store)} cannot be in the ${space} address space: ${why}`)
  if (space === 'function' || space === 'private') {
    if (store.kind === 'buffer') throw refuse('no buffer can')
    if (!hasFixedFootprint(store)) throw refuse('only buffers can be runtime-sized')
  }
  if (space === 'immediate' && containsArray(store)) throw refuse('it has no room for arrays')
  if (space !== 'function' && containsSubgroupMatrix(store))
    throw refuse('subgroup matrices cannot be in memory')
  if (['storage', 'uniform', 'immediate'].includes(space) && !isHostShareable(store))
    throw refuse('bool has no host-shareable layout')
  if (containsAtomic(store) && space !== 'workgroup' && (space !== 'storage' || access === 'read'))
    throw refuse('atomics need workgroup memory or a writable storage buffer')
  if (space !== 'storage' && containsWideAtomic(store))
    throw refuse('atomic<vec2u> is only allowed in storage buffers')
}

export const subgroupMatrixExtension = 'chromium_experimental_subgroup_matrix'

/** `subgroup_matrix_left<f16, 16, 16>`: the component, the columns, the rows. */
function subgroupMatrix(
  scope: ExpressionScope,
  role: SubgroupMatrixType['role'],
  { name, at, templates = [] }: NameNode,
): SubgroupMatrixType {
  if (!scope.module.isEnabled(subgroupMatrixExtension))
    throw scope.error(at, `the type '${name}' needs 'enable ${subgroupMatrixExtension};'`)
  if (templates.length !== 3)
    throw scope.error(at, `the type '${name}' takes 3 template arguments, not ${templates.length}`)
  const [componentNode, columnsNode, rowsNode] = templates as [ExpressionNode, ExpressionNode, ExpressionNode]
  const component = subgroupMatrixComponent(scope, componentNode)
  return subgroupMatrixType(
    role,
    component,
    count(scope, columnsNode, 'columns'),
    count(scope, rowsNode, 'rows'),
  )
}

/** The component type of a subgroup matrix that a node names. */
export function subgroupMatrixComponent(
  scope: ExpressionScope,
  node: ExpressionNode,
): SubgroupMatrixComponent {
  // These types exist only as matrix components.
  if (node.kind === 'name' && (node.name === 'i8' || node.name === 'u8') && !isDeclared(scope, node))
    return node.name
  const type = resolveType(scope, node)
  if (type.kind !== 'scalar' || type.scalar === 'bool')
    throw scope.error(
      node.at,
      `a subgroup matrix has components of f32, f16, i32, u32, i8 or u8, not ${typeName(type)}`,
    )
  return type.scalar
}

function isDeclared(scope: ExpressionScope, { name, at }: NameNode): boolean {
  return scope.module.declaredType(name, at) !== undefined || scope.lookup(name) !== undefined
}

function count(scope: ExpressionScope, node: ExpressionNode, what: string): number {
  const { value } = scope.constant(node, `the number of ${what}`)
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  if (!Number.isInteger(number) || number < 1 || number > 2 ** 31 - 1)
    throw scope.error(node.at, `the number of ${what} is ${String(value)}, not a positive integer`)
  return number
}
