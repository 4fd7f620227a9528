import {
  type BuiltinFunction,
  builtinFacts,
  builtinFunctions,
  type ValueFunction,
} from '../builtin-functions.ts'
import { isSubgroupOperation } from '../collectives.ts'
import type { BuiltinCall, ScalarType, Type, VectorType } from '../ir.ts'
import { alignOf, sizeOf } from '../layout.ts'
import { attempt } from '../source-text.ts'
import { typeName } from '../types.ts'
import type { CallNode } from './ast.ts'
import { lowerAtomic } from './atomics.ts'
import { bufferLength, bufferView, isBufferFunction } from './buffer-views.ts'
import { checkPartialArguments, evaluateBuiltin } from './constant-builtins.ts'
import { bitcastConstant } from './constant-operators.ts'
import { ConstantError } from './constant-value.ts'
import { construct, constructGenerated } from './constructors.ts'
import { concreteOf, isAbstract, isOverrideSized, withScalar } from './numeric-types.ts'
import { type ConstantOperand, isConstExpression, type Operand, type ValueOperand } from './operand.ts'
import { describeOverloads, resolveOverload } from './overloads.ts'
import type { ExpressionScope } from './scopes.ts'
import { isSubgroupMatrixFunction, lowerSubgroupMatrixCall } from './subgroup-matrix.ts'
import { plainTypes, typeGenerator } from './type-names.ts'
import { resolveType } from './type-resolution.ts'
import { callUserFunction } from './user-calls.ts'

const builtinNames: ReadonlySet<string> = new Set(
  builtinFunctions.filter((name) => !builtinFacts[name].isMatrix),
)

/** Whether a name is that of a built-in function that this compiler supports. */
export function isBuiltinFunction(name: string): boolean {
  return (
    builtinNames.has(name) || isBufferFunction(name) || isSubgroupMatrixFunction(name) || name === 'bitcast'
  )
}

/** Lowers a call: of a type (construction, conversion), a user function or a built-in function. */
export function lowerCall(scope: ExpressionScope, node: CallNode): Operand {
  const { callee, at } = node
  const { name, templates } = callee
  if (scope.isLocal(name)) throw scope.error(at, `'${name}' is a value here and cannot be called`)
  const declared = scope.module.declaration(name)
  if (declared?.kind === 'function') {
    if (templates !== undefined) throw scope.error(at, `the function '${name}' has no template arguments`)
    return callUserFunction(scope, declared, node)
  }
  if (declared !== undefined) {
    if (declared.kind !== 'struct' && declared.kind !== 'alias')
      throw scope.error(at, `'${name}' cannot be called`)
    return construct(scope, resolveType(scope, callee), node)
  }
  const generator = typeGenerator(name)
  if (generator !== undefined && templates === undefined) return constructGenerated(scope, generator, node)
  if (generator !== undefined || plainTypes.has(name)) {
    const type = resolveType(scope, callee)
    if (isOverrideSized(type))
      throw scope.error(at, 'an array whose length depends on an override cannot be constructed')
    return construct(scope, type, node)
  }
  if (name === 'bitcast') return bitcast(scope, node)
  if (isBufferFunction(name)) return bufferView(scope, node)
  if (isSubgroupMatrixFunction(name)) return lowerSubgroupMatrixCall(scope, node)
  if (templates !== undefined) throw scope.error(at, `'${name}' has no template arguments`)
  if (!builtinNames.has(name)) {
    if (/^(dpd[xy]|fwidth)(Coarse|Fine)?$/.test(name)) return derivative(scope, node)
    if (/^texture(?!_)/.test(name)) {
      if (/^textureSample(Bias|Compare)?$/.test(name))
        scope.module.functions.noteStages(['fragment'], `'${name}'`, at)
      for (const arg of node.args) attempt(() => void scope.value(scope.expression(arg)))
      throw scope.module.source.unsupported(
        at,
        `'${name}' is not supported in compute shaders here: textures are not`,
      )
    }
    throw scope.error(
      at,
      scope.lookup(name) ? `'${name}' cannot be called` : `the function '${name}' is not declared`,
    )
  }
  return lowerBuiltin(scope, name as BuiltinFunction, node)
}

/** A derivative, which only fragment shaders may use: what stands for it is never run. */
function derivative(scope: ExpressionScope, { callee: { name }, args, at }: CallNode): Operand {
  scope.module.functions.noteStages(['fragment'], `'${name}'`, at)
  const values = args.map((arg) => scope.value(scope.expression(arg)))
  const types = values.map(({ type }) => type)
  const [parameter] = resolveOverload('quantizeToF16', types, true)?.parameters ?? []
  if (parameter === undefined)
    throw scope.error(at, `'${name}' does not accept (${types.map(typeName).join(', ')})`)
  return scope.runtime(scope.expressionAs(values[0]!, parameter, `the argument of ${name}`), at)
}

function lowerBuiltin(scope: ExpressionScope, name: BuiltinFunction, node: CallNode): Operand {
  const { at } = node
  const facts = builtinFacts[name]
  if (isSubgroupOperation(name) && !scope.module.hasSubgroups) {
    throw scope.error(at, `the function '${name}' needs 'enable subgroups;'`)
  }
  if (facts.barrier === 'alone') scope.module.functions.noteStages(['compute'], `'${name}'`, at)
  else if (isSubgroupOperation(name))
    scope.module.functions.noteStages(['compute', 'fragment'], `'${name}'`, at)
  if (name === 'bufferLength') return bufferLength(scope, node)
  if ('values' in facts) return lowerAtomic(scope, name, facts.values, node)
  const args = node.args.map((arg) => scope.value(scope.expression(arg)))
  const constant = args.every((arg) => arg.kind === 'constant')
  const types = args.map((arg) => arg.type)
  let overload = resolveOverload(name, types, false)
  // Only const-expressions have abstract types.
  if (overload !== undefined && !args.every(isConstExpression)) overload = resolveOverload(name, types, true)
  if (overload === undefined) {
    const given = types.map(typeName).join(', ')
    throw scope.error(
      at,
      `no overload of ${name} accepts (${given}); the overloads are ${describeOverloads(name)}`,
    )
  }
  const { parameters, result } = overload
  const converted = args.map((arg, i) => scope.convert(arg, parameters[i]!, `argument ${i + 1} of ${name}`))
  checkKnownArguments(scope, name, converted, parameters, at)
  if (constant && result !== undefined && facts.together === undefined)
    return scope.fold(at, result, converted as ConstantOperand[], (values) => {
      // In the default of an override the check above does not throw, but the result has no value.
      checkPartialArguments(name, values, parameters)
      return evaluateBuiltin(name as ValueFunction, values, parameters)
    })
  checkLane(scope, name, converted[1])
  return emitBuiltin(scope, name, converted, result, at)
}

/**
 * Checks the values of the known arguments against one another, starting with those that do not depend on
 * overrides.
 */
function checkKnownArguments(
  scope: ExpressionScope,
  name: BuiltinFunction,
  args: readonly ValueOperand[],
  types: readonly Type[],
  at: number,
): void {
  for (const override of [false, true]) {
    const known = args.map((arg) =>
      arg.kind === 'constant' && (override || !arg.override) ? arg.value : undefined,
    )
    try {
      checkPartialArguments(name, known, types)
    } catch (error) {
      if (!(error instanceof ConstantError)) throw error
      scope.rejectValue(at, error.message, override)
    }
  }
}

function checkLane(scope: ExpressionScope, name: BuiltinFunction, argument: ValueOperand | undefined): void {
  const { lane } = builtinFacts[name]
  if (lane === undefined || argument === undefined) return
  const { at } = argument
  if (lane.isConstant && (argument.kind !== 'constant' || argument.override))
    throw scope.error(at, `the lane of ${name} must be a const-expression`)
  if (argument.kind !== 'constant' || argument.value === undefined) return
  const value = Number(argument.value)
  if (value < 0 || value >= lane.limit)
    scope.rejectValue(at, `the lane ${value} of ${name} must be less than ${lane.limit}`, argument.override)
}

function emitBuiltin(
  scope: ExpressionScope,
  name: BuiltinFunction,
  args: readonly ValueOperand[],
  result: Type | undefined,
  at: number,
): Operand {
  const type = result && concreteOf(result)
  const values = args.map((arg) => scope.expressionOf(arg))
  const call: BuiltinCall = { kind: 'builtin-call', name, args: values, type, loc: scope.loc(at) }
  const filtered = scope.subgroupUniformity
  return scope.called(isSubgroupOperation(name) && filtered !== 'error' ? { ...call, filtered } : call, at)
}

function bitcast(scope: ExpressionScope, node: CallNode): Operand {
  const { at, callee, args } = node
  const [target] = callee.templates ?? []
  if (target === undefined || callee.templates!.length !== 1)
    throw scope.error(at, 'bitcast takes one template argument')
  if (args.length !== 1) throw scope.error(at, `bitcast takes 1 argument, not ${args.length}`)
  const type = resolveType(scope, target)
  const operand = unsignedBits(scope.value(scope.expression(args[0]!)), type)
  const invalid = () => scope.error(at, `${typeName(operand.type)} cannot be bitcast to ${typeName(type)}`)
  if (!isBitcastable(type)) throw invalid()
  const from = bitcastSource(operand, type)
  if (from === undefined) throw invalid()
  const value = scope.convert(operand, from, 'the operand of bitcast')
  if (value.type === type) return value
  if (value.kind === 'constant')
    return scope.fold(at, type, [value], ([known]) => bitcastConstant(known, from, type))
  return scope.runtime({ kind: 'bitcast', value: scope.expressionOf(value), type, loc: scope.loc(at) }, at)
}

/**
 * The concrete type whose bits are cast: for an abstract operand, the first that has as many bits as the
 * result.
 */
function bitcastSource(operand: ValueOperand, target: Type): ScalarType | VectorType | undefined {
  const { type } = operand
  if (type.kind !== 'scalar' && type.kind !== 'vector') return undefined
  const concrete = isUnsigned(target) && integersOf(operand).some(isAboveI32) ? target : concreteOf(type)
  const choices = isAbstract(type) ? [concrete, withScalar(type, 'f16')] : [type]
  return choices.filter(isBitcastable).find((choice) => {
    const fits =
      sizeOf(choice) === sizeOf(target) && (sizeOf(choice) !== 12 || alignOf(choice) === alignOf(target))
    return fits && (choice === target || (!isVec3h(choice) && !isVec3h(target)))
  })
}

/**
 * For a u32 result, abstract integers above the range of i32 keep their value, and negative integers next to
 * them are replaced by the value of their bits.
 */
function unsignedBits(operand: ValueOperand, target: Type): ValueOperand {
  const integers = integersOf(operand)
  if (operand.kind !== 'constant' || !isUnsigned(target) || !integers.some(isAboveI32)) return operand
  const bits = integers.map((v) => (v < 0n && v >= -(2n ** 31n) ? v + 2n ** 32n : v))
  return { ...operand, value: operand.type.kind === 'vector' ? bits : bits[0] }
}

/** The abstract integers in a constant. */
function integersOf(operand: ValueOperand): bigint[] {
  const values = operand.kind === 'constant' && operand.value !== undefined ? [operand.value].flat() : []
  return values.filter((v) => typeof v === 'bigint')
}

function isAboveI32(value: bigint): boolean {
  return value > 2147483647n
}

function isUnsigned(type: Type): boolean {
  return (type.kind === 'scalar' || type.kind === 'vector') && type.scalar === 'u32'
}

function isBitcastable(type: Type): type is ScalarType | VectorType {
  return (type.kind === 'scalar' || type.kind === 'vector') && type.scalar !== 'bool'
}

/** vec3h has 48 bits; no other type has that size, so it can be cast only to itself. */
function isVec3h(type: Type): boolean {
  return type.kind === 'vector' && type.scalar === 'f16' && type.size === 3
}
