import { builtinFacts } from '../builtin-functions.ts'
import { subgroupSize } from '../collectives.ts'
import type { BuiltinCall, Expression, Type } from '../ir.ts'
import { addressed, moduleVariableOf, viewOf } from '../walk.ts'
import { type CxxExpression, call, primary, simple } from './cxx-expression.ts'
import type { FunctionWriter } from './function-writer.ts'
import { allLanes } from './invocation-index.ts'
import { guarded, type PlaceText, placeText } from './place-text.ts'
import { settledBefore } from './settled-place.ts'
import { subgroupMatrixText } from './subgroup-matrix-text.ts'
import { runtimeTail } from './type-text.ts'
import { viewLengthText, viewText } from './view-text.ts'

const resultStructure: ReadonlySet<string> = new Set(['frexp', 'modf', 'atomicCompareExchangeWeak'])

/** A call of a built-in function that gives a value. */
export function builtinText(writer: FunctionWriter, e: BuiltinCall<Type>): CxxExpression {
  const memoryCall = memoryCallText(writer, e)
  return memoryCall === undefined
    ? plainCallText(writer, e)
    : guarded(memoryCall.guards, memoryCall.value, e.type, writer)
}

/** The call of an atomic or a matrix function, and the conditions under which it may happen. */
export function memoryCallText(
  writer: FunctionWriter,
  e: BuiltinCall,
): Omit<PlaceText, 'component'> | undefined {
  const { isAtomic, isMatrix } = builtinFacts[e.name]
  if (isAtomic) return atomicText(writer, e)
  return isMatrix ? subgroupMatrixText(writer, e) : undefined
}

/** The call of any other function. Most have the same name in the prelude. */
export function plainCallText(writer: FunctionWriter, e: BuiltinCall): CxxExpression {
  const { features } = writer.context
  const { barrier, together } = builtinFacts[e.name]
  // An index may contain a barrier, which comes first.
  const loaded =
    e.name === 'workgroupUniformLoad' ? placeText(writer, addressed(e.args[0]!)).value : undefined
  if (barrier !== undefined) {
    for (const text of writer.asyncWaits(e)) writer.line(text)
    features.barriers = true
  }
  if (barrier === 'alone') return primary('__syncthreads()')
  if (loaded !== undefined) return call(functionName(writer, e), [loaded])
  switch (e.name) {
    case 'arrayLength':
      return arrayLengthText(writer, e.args[0]!)
    case 'bufferLength':
      return simple(writer.lengthOf(moduleVariableOf(addressed(e.args[0]!))!))
  }
  if (together === 'subgroup') return subgroupText(writer, e)
  if (e.name === 'dot4U8Packed' || e.name === 'dot4I8Packed') features.packedDot = true
  return call(functionName(writer, e), writer.values(e.args))
}

/** The function of the prelude, with its vector form if an argument is a vector. */
function functionName(writer: FunctionWriter, e: BuiltinCall): string {
  const { names } = writer.context
  if (e.args.some((a) => a.type.kind === 'vector')) names.prelude(`vector_${e.name}`)
  const structure = e.type !== undefined && resultStructure.has(e.name) ? `<${writer.type(e.type)}>` : ''
  return `${names.prelude(e.name)}${structure}`
}

function arrayLengthText(writer: FunctionWriter, argument: Expression): CxxExpression {
  const place = addressed(argument)
  const view = viewOf(place)
  if (view !== undefined) return viewLengthText(viewText(writer, view))
  const variable = moduleVariableOf(place)!
  if (place.type.kind === 'array' && place.type.length !== undefined) return simple(`${place.type.length}u`)
  if (place.kind === 'variable' || runtimeTail(variable.type) !== undefined)
    return simple(writer.lengthOf(variable))
  throw new TypeError('arrayLength takes a runtime-sized array')
}

function atomicText(writer: FunctionWriter, e: BuiltinCall): Omit<PlaceText, 'component'> {
  const place = addressed(e.args[0]!)
  let guards: readonly string[] = []
  const operands = e.args.slice(1)
  const args = writer.ordered([
    {
      expression: e.args[0]!,
      text: () => {
        const written = placeText(writer, settledBefore(writer, place, operands))
        guards = written.guards
        return written.value
      },
    },
    ...operands.map((a) => ({
      expression: a,
      // The effects of an operand take place even if the guards skip the access.
      text: () => {
        const written = writer.value(a)
        return guards.length > 0 && writer.context.effects.writes(a)
          ? simple(writer.temporary(a.type, written.text))
          : written
      },
    })),
  ])
  return { value: call(functionName(writer, e), args), guards }
}

/**
 * A subgroup operation. If the uniformity analysis proves that all lanes arrive, its mask has all lanes of
 * the subgroup, or only the existing lanes if the workgroup is not a whole number of subgroups. Every call is
 * checked when its module is lowered; calls that a diagnostic filter allows are checked here. Any other call
 * uses the active lanes.
 */
function subgroupText(writer: FunctionWriter, e: BuiltinCall): CxxExpression {
  const { context } = writer
  context.features.subgroups = true
  const [x, y, z] = context.module.workgroupSize
  let mask: string
  if (context.divergentCalls.has(e)) mask = `${context.names.prelude('active_lanes')}(${context.nextSite++})`
  else if ((x * y * z) % subgroupSize === 0) mask = allLanes
  else {
    writer.needs.usesLanes = true
    mask = 'lanes'
  }
  return call(context.names.prelude(e.name), [mask, ...writer.values(e.args)])
}
