import { type BuiltinFunction, builtinFacts } from '../builtin-functions.ts'
import type {
  ArrayType,
  BufferType,
  Expression,
  Place,
  SubgroupMatrixComponent,
  SubgroupMatrixType,
  Type,
} from '../ir.ts'
import { scalarByteLength } from '../layout.ts'
import { containsSubgroupMatrix } from '../type-property.ts'
import { boolType, subgroupMatrixType, typeName } from '../types.ts'
import type { CallNode, ExpressionNode } from './ast.ts'
import { anyScalar, isOverrideSized } from './numeric-types.ts'
import type { Operand, PointerOperand, ValueOperand } from './operand.ts'
import type { ExpressionScope } from './scopes.ts'
import {
  enumerant,
  resolveType,
  subgroupMatrixComponent,
  subgroupMatrixExtension,
} from './type-resolution.ts'

/*
 * Subgroup matrices: the extension `chromium_experimental_subgroup_matrix`, with the rules of Dawn's
 * compiler.
 */

/** Whether a source can call a function of this name, if the module does not declare it. */
export function isSubgroupMatrixFunction(name: string): boolean {
  return name !== 'subgroupMatrixFill' && builtinFacts[name as BuiltinFunction]?.isMatrix === true
}

/** The scalar type of a matrix's components outside the matrix. */
function scalarOf(type: SubgroupMatrixType): Type {
  const { component } = type
  return anyScalar(component === 'i8' ? 'i32' : component === 'u8' ? 'u32' : component)
}

/** `subgroup_matrix_result<f32, 16, 16>(x)`: a matrix of equal components, zero without an argument. */
export function constructSubgroupMatrix(
  scope: ExpressionScope,
  type: SubgroupMatrixType,
  args: readonly ValueOperand[],
  at: number,
): Operand {
  if (args.length > 1) throw scope.error(at, `${typeName(type)} takes 1 value, not ${args.length}`)
  const scalar = scalarOf(type)
  const [value] = args
  const fill: Expression =
    value === undefined
      ? { kind: 'zero', type: scalar, loc: scope.loc(at) }
      : scope.expressionAs(value, scalar, `the component of ${typeName(type)}`)
  return call(scope, 'subgroupMatrixFill', [], type, at, fill)
}

/** Notes that a value is made, which only compute shaders may do if it has subgroup matrices. */
export function noteMatrices(scope: ExpressionScope, type: Type, at: number): void {
  if (containsSubgroupMatrix(type)) scope.module.functions.noteStages(['compute'], 'a subgroup matrix', at)
}

/** Lowers a call of one of the functions of subgroup matrices. */
export function lowerSubgroupMatrixCall(scope: ExpressionScope, node: CallNode): Operand {
  const { callee, at } = node
  const name = callee.name as BuiltinFunction
  if (!scope.module.isEnabled(subgroupMatrixExtension))
    throw scope.error(at, `the function '${name}' needs 'enable ${subgroupMatrixExtension};'`)
  scope.module.functions.noteStages(['compute'], `'${name}'`, at)
  switch (name) {
    case 'subgroupMatrixLoad':
    case 'subgroupMatrixStore':
      return lowerAccess(scope, name, node)
    case 'subgroupMatrixMultiply':
      return lowerMultiply(scope, node)
    case 'subgroupMatrixMultiplyAccumulate':
      return lowerMultiplyAccumulate(scope, node)
    default:
      return lowerScalarOperation(scope, name, node)
  }
}

/** The call of a function with the operands and, after them, the expressions of `last`. */
function call(
  scope: ExpressionScope,
  name: BuiltinFunction,
  operands: readonly ValueOperand[],
  type: Type | undefined,
  at: number,
  ...last: readonly Expression[]
): Operand {
  const args = [...operands.map((o) => scope.expressionOf(o)), ...last]
  return scope.called({ kind: 'builtin-call', name, args, type, loc: scope.loc(at) }, at)
}

function values(scope: ExpressionScope, { callee, args, at }: CallNode, wanted: number): ValueOperand[] {
  if (args.length !== wanted)
    throw scope.error(at, `${callee.name} takes ${wanted} arguments, not ${args.length}`)
  return args.map((arg) => scope.value(scope.expression(arg)))
}

function matrix(
  scope: ExpressionScope,
  name: string,
  { type, at }: ValueOperand,
  role?: SubgroupMatrixType['role'],
): SubgroupMatrixType {
  const wanted = role === undefined ? 'subgroup matrix' : `subgroup_matrix_${role}`
  if (type.kind !== 'subgroup-matrix' || (role !== undefined && type.role !== role))
    throw scope.error(at, `${name} takes a ${wanted} here, not ${typeName(type)}`)
  return type
}

// -------------------------------------------------------------------------------------------------------
// products

/** Whether matrices of `from` can be multiplied with sums of `to`. */
function multiplies(from: SubgroupMatrixComponent, to: string): boolean {
  if (from === 'f16') return to === 'f16' || to === 'f32'
  if (from === 'f32') return to === 'f32'
  return to === 'i32' || to === 'u32' || ((from === 'i8' || from === 'u8') && (to === 'i8' || to === 'u8'))
}

function factors(
  scope: ExpressionScope,
  name: string,
  [a, b]: readonly ValueOperand[],
  at: number,
): { left: SubgroupMatrixType; right: SubgroupMatrixType } {
  const left = matrix(scope, name, a!, 'left')
  const right = matrix(scope, name, b!, 'right')
  if (left.component !== right.component || left.columns !== right.rows)
    throw scope.error(at, `${name} cannot multiply ${typeName(left)} with ${typeName(right)}`)
  return { left, right }
}

function lowerMultiply(scope: ExpressionScope, node: CallNode): Operand {
  const { callee, at } = node
  const { name, templates } = callee
  if (templates?.length !== 1)
    throw scope.error(at, `${name} takes one template argument, the component of the result`)
  const result = subgroupMatrixComponent(scope, templates[0]!)
  const operands = values(scope, node, 2)
  const { left, right } = factors(scope, name, operands, at)
  if (!multiplies(left.component, result))
    throw scope.error(at, `${name} has no product of ${left.component} with a result of ${result}`)
  const type = subgroupMatrixType('result', result, right.columns, left.rows)
  return call(scope, 'subgroupMatrixMultiply', operands, type, at)
}

function lowerMultiplyAccumulate(scope: ExpressionScope, node: CallNode): Operand {
  const { callee, at } = node
  const { name, templates } = callee
  if (templates !== undefined) throw scope.error(at, `'${name}' has no template arguments`)
  const operands = values(scope, node, 3)
  const { left, right } = factors(scope, name, operands, at)
  const sum = matrix(scope, name, operands[2]!, 'result')
  if (!multiplies(left.component, sum.component) || sum.columns !== right.columns || sum.rows !== left.rows)
    throw scope.error(
      at,
      `${name} cannot add the product of ${typeName(left)} and ${typeName(right)} to ${typeName(sum)}`,
    )
  return call(scope, 'subgroupMatrixMultiplyAccumulate', operands, sum, at)
}

function lowerScalarOperation(scope: ExpressionScope, name: BuiltinFunction, node: CallNode): Operand {
  const { callee, at } = node
  if (callee.templates !== undefined) throw scope.error(at, `'${name}' has no template arguments`)
  const [operand, scalar] = values(scope, node, 2) as [ValueOperand, ValueOperand]
  const type = matrix(scope, name, operand)
  const value = scope.convert(scalar, scalarOf(type), `argument 2 of ${name}`)
  return call(scope, name, [operand, value], type, at)
}

// ------------------------------------------------------------------------------------------------ loads and
// stores

function lowerAccess(
  scope: ExpressionScope,
  name: 'subgroupMatrixLoad' | 'subgroupMatrixStore',
  node: CallNode,
): Operand {
  const { callee, at } = node
  const templates = [...(callee.templates ?? [])]
  const isLoad = name === 'subgroupMatrixLoad'
  const typeNode = isLoad ? templates.shift() : undefined
  if (isLoad && typeNode === undefined)
    throw scope.error(at, `${name} takes the type of the matrix as template argument`)
  // The older form, which Dawn still accepts, has the majorness as an argument.
  const isOld = templates.length === 0
  if (templates.length > 1)
    throw scope.error(at, `${name} takes at most ${isLoad ? 2 : 1} template arguments`)
  const operands = values(scope, node, (isLoad ? 3 : 4) + (isOld ? 1 : 0))
  const pointer = arrayPointer(scope, name, operands[0]!, isLoad)
  const type = isLoad ? loadedType(scope, name, typeNode!) : matrix(scope, name, operands[2]!)
  const elements = (operand: ValueOperand, what: string) => {
    const count = scope.integer(operand, `the ${what} of ${name}`)
    const known = knownInteger(count) ?? 0
    if (known < 0) scope.rejectValue(count.at, `the ${what} ${known} of ${name} is below 0`, false)
    if (!isOld || scalarByteLength[type.component] > 1) return count
    // The older form counts components; an element of the array holds four bytes.
    return scope.binary('/', count, scope.constantOperand(count.at, count.type, 4, false), count.at)
  }
  const offset = elements(operands[1]!, 'offset')
  const stride = elements(operands.at(-1)!, 'stride')
  const isColumnMajor = isOld
    ? majornessArgument(scope, name, operands.at(-2)!)
    : majorness(scope, templates[0]!)
  checkArray(scope, name, pointer, type, isOld, at)
  checkRange(scope, name, { pointer, type, offset, stride, isColumnMajor, at })
  const flag: Expression = { kind: 'literal', value: isColumnMajor, type: boolType, loc: scope.loc(at) }
  if (isLoad) return call(scope, name, [pointer, offset, stride], type, at, flag)
  return call(scope, name, [pointer, offset, operands[2]!, stride], undefined, at, flag)
}

function loadedType(scope: ExpressionScope, name: string, node: ExpressionNode): SubgroupMatrixType {
  const type = resolveType(scope, node)
  if (type.kind !== 'subgroup-matrix')
    throw scope.error(node.at, `${name} loads subgroup matrices, not ${typeName(type)}`)
  return type
}

function majorness(scope: ExpressionScope, node: ExpressionNode): boolean {
  const name = enumerant(scope, node)
  if (name !== 'row_major' && name !== 'col_major')
    throw scope.error(node.at, `'${name}' is neither row_major nor col_major`)
  return name === 'col_major'
}

function majornessArgument(scope: ExpressionScope, name: string, operand: ValueOperand): boolean {
  if (operand.kind !== 'constant' || operand.override || typeof operand.value !== 'boolean')
    throw scope.error(operand.at, `the argument col_major of ${name} must be a const-expression of type bool`)
  return operand.value
}

function arrayPointer(
  scope: ExpressionScope,
  name: string,
  operand: ValueOperand,
  isLoad: boolean,
): PointerOperand {
  const refuse = (why: string) =>
    scope.error(operand.at, `${name} takes a pointer to ${why}, not ${typeName(operand.type)}`)
  if (operand.kind !== 'pointer') throw refuse('an array')
  const { space, store, access } = operand.type
  if (space !== 'workgroup' && space !== 'storage') throw refuse('workgroup memory or a storage buffer')
  const element = store.kind === 'array' ? store.element : undefined
  if ((element?.kind !== 'scalar' && element?.kind !== 'vector') || element.scalar === 'bool')
    throw refuse('an array of numbers or of vectors of them')
  if (!isLoad && access === 'read') throw refuse('writable memory')
  return operand
}

function checkArray(
  scope: ExpressionScope,
  name: string,
  { type: { store, space }, at }: PointerOperand,
  type: SubgroupMatrixType,
  isOld: boolean,
  callAt: number,
): void {
  const { element, stride, length } = store as ArrayType
  const scalar = scalarOf(type)
  const isFixed = length !== undefined && !isOverrideSized(store)
  if (isOld && (element !== scalar || (space === 'workgroup' && !isFixed)))
    throw scope.error(callAt, `${name} takes an array of ${typeName(scalar)} here, not ${typeName(store)}`)
  if (element.kind === 'vector' && element.size === 3)
    throw scope.module.source.unsupported(
      at,
      `${name} on ${typeName(store)} is not supported: vectors of three have gaps between them`,
    )
  if (stride < scalarByteLength[type.component])
    throw scope.error(
      callAt,
      `the elements of ${typeName(store)} are smaller than the components of ${typeName(type)}`,
    )
}

interface Access {
  readonly pointer: PointerOperand
  readonly type: SubgroupMatrixType
  readonly offset: ValueOperand
  readonly stride: ValueOperand
  readonly isColumnMajor: boolean
  readonly at: number
}

/** Checks that an access is inside the array. An array of unknown length is checked in the pipeline. */
function checkRange(scope: ExpressionScope, name: string, access: Access): void {
  const { pointer, type, offset, stride, isColumnMajor, at } = access
  const array = pointer.type.store as ArrayType
  const [slices, slice] = isColumnMajor ? [type.columns, type.rows] : [type.rows, type.columns]
  const sliceBytes = slice * scalarByteLength[type.component]
  // Unknown operands count as the least ones: what is wrong with these is wrong with all.
  const start = knownInteger(offset) ?? 0
  const step = knownInteger(stride)
  const stepBytes = step === undefined ? sliceBytes : step * array.stride
  if (stepBytes < sliceBytes) {
    const text = `the stride of ${name} is ${stepBytes} bytes, below the ${sliceBytes} of a ${isColumnMajor ? 'column' : 'row'} of ${typeName(type)}`
    scope.rejectValue(stride.at, text, false)
  }
  const end = start * array.stride + (slices - 1) * stepBytes + sliceBytes
  const limit = array.length === undefined ? room(pointer.place) : array.length * array.stride
  const isUnknown = array.length === undefined || isOverrideSized(array)
  if (end > limit)
    scope.rejectValue(
      at,
      `${name} accesses memory up to byte ${end} of an array of ${limit} bytes`,
      isUnknown,
    )
}

/** The bytes for a runtime-sized array, as far as the view that it is in, or the buffer of that, tells. */
function room(place: Place): number {
  if (place.kind === 'member-place') return room(place.base) - place.member.offset
  if (place.kind !== 'view-place') return 2 ** 32 - 1
  const known = (e: Expression | undefined) => (e?.kind === 'literal' ? Number(e.value) : undefined)
  const { length = 2 ** 32 - 1 } = place.base.type as BufferType
  return known(place.size) ?? length - (known(place.offset) ?? 0)
}

function knownInteger(operand: ValueOperand): number | undefined {
  return operand.kind === 'constant' && operand.value !== undefined ? Number(operand.value) : undefined
}
