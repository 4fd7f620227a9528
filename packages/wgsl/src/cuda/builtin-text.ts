import { isBarrier, isSubgroupOperation, subgroupSize } from '../collectives.ts'
import type { BuiltinCall, Expression, ModuleVariable } from '../ir.ts'
import { rootOf, viewOf } from '../walk.ts'
import { orderedTexts, valueText, valueTexts } from './expression-text.ts'
import { type FunctionWriter, unwrapped } from './function-writer.ts'
import { guarded, placeText } from './place-text.ts'
import { settledBefore } from './settled-place.ts'
import { runtimeTail } from './type-text.ts'
import { viewLengthText, viewText } from './view-text.ts'

const resultStructure: ReadonlySet<string> = new Set(['frexp', 'modf', 'atomicCompareExchangeWeak'])

/** A call of a built-in function. Most carry their own name in the prelude. */
export function builtinText(writer: FunctionWriter, e: BuiltinCall): string {
  if (writer.context.asyncCopies.waits.has(e)) writer.line('async_wait();')
  const { features } = writer.context
  if (isBarrier(e.name)) features.barriers = true
  switch (e.name) {
    case 'workgroupBarrier':
    case 'storageBarrier':
    case 'textureBarrier':
      return '__syncthreads()'
    case 'arrayLength':
      return arrayLengthText(writer, e.args[0]!)
    case 'bufferLength':
      return writer.lengthOf(rootVariable(e.args[0]!))
    case 'workgroupUniformLoad': {
      const { text } = placeText(writer, addressed(e.args[0]!), 'address')
      return `workgroupUniformLoad(${text})`
    }
  }
  if (e.name.startsWith('atomic')) return atomicText(writer, e)
  if (isSubgroupOperation(e.name)) return subgroupText(writer, e)
  if (e.name === 'dot4U8Packed' || e.name === 'dot4I8Packed') features.packedDot = true
  if (e.args.some((a) => a.type?.kind === 'vector')) writer.context.marks.add(`vector_${e.name}`)
  const args = valueTexts(writer, e.args).map(unwrapped)
  const result = resultStructure.has(e.name) ? `<${writer.type(e.type!)}>` : ''
  return `${e.name}${result}(${args.join(', ')})`
}

function addressed(e: Expression) {
  if (e.kind !== 'address-of') throw new TypeError('expected an address')
  return e.place
}

function rootVariable(argument: Expression): ModuleVariable {
  const root = rootOf(addressed(argument))
  if (root.kind !== 'variable' || root.variable.kind !== 'module-variable')
    throw new TypeError('only memory of the module has a length')
  return root.variable
}

function arrayLengthText(writer: FunctionWriter, argument: Expression): string {
  const place = addressed(argument)
  const view = viewOf(place)
  if (view !== undefined) return viewLengthText(viewText(writer, view))
  const variable = rootVariable(argument)
  if (place.type.kind === 'array' && place.type.length !== undefined) return `${place.type.length}u`
  if (place.kind === 'variable' || runtimeTail(variable.type) !== undefined) return writer.lengthOf(variable)
  throw new TypeError('arrayLength takes a runtime-sized array')
}

function atomicText(writer: FunctionWriter, e: BuiltinCall): string {
  const place = addressed(e.args[0]!)
  let guards: readonly string[] = []
  const operands = e.args.slice(1)
  const texts = orderedTexts(writer, [
    {
      expression: e.args[0]!,
      text: () => {
        const written = placeText(writer, settledBefore(writer, place, operands), 'atomic')
        guards = written.guards
        return written.text
      },
    },
    ...operands.map((a) => ({
      expression: a,
      // Effects of an operand take place even where the guards skip the access.
      text: () =>
        guards.length > 0 && writer.context.effects.writes(a)
          ? writer.temporary(a.type!, valueText(writer, a))
          : unwrapped(valueText(writer, a)),
    })),
  ])
  const result = resultStructure.has(e.name) ? `<${writer.type(e.type!)}>` : ''
  const call = `${e.name}${result}(${texts.join(', ')})`
  if (e.type !== undefined) return guarded(guards, call, e.type, writer)
  return guards.length === 0 ? call : `if (${guards.join(' && ')}) ${call}`
}

function subgroupText(writer: FunctionWriter, e: BuiltinCall): string {
  const { context } = writer
  context.features.subgroups = true
  const [x, y, z] = context.module.workgroupSize
  let mask: string
  if (context.divergentCalls.has(e)) mask = `active_lanes(${context.nextSite++})`
  else if ((x * y * z) % subgroupSize === 0) mask = '0xffffffffu'
  else {
    writer.needs.usesLanes = true
    mask = 'lanes'
  }
  const args = valueTexts(writer, e.args).map(unwrapped)
  return `${e.name}(${[mask, ...args].join(', ')})`
}
