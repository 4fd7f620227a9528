import { subgroupSize } from '../collectives.ts'
import type { BuiltinValue, IrFunction, ModuleVariable, Parameter } from '../ir.ts'
import {
  type FunctionNeeds,
  FunctionWriter,
  type Line,
  lengthName,
  type ModuleContext,
  viewName,
} from './function-writer.ts'
import { axes, laneBits, localIndexText } from './invocation-index.ts'
import { stopWordName, stopWordType } from './kernel.ts'
import { lookText } from './loop-text.ts'
import { constness, passedVariables, pointeeText } from './module-memory.ts'
import { isByReference, parameterText, typeText } from './type-text.ts'

/** Lines that declare names for workgroup variables in dynamic memory. */
export function dynamicNames(
  { dynamicOffsets, names }: ModuleContext,
  variables: Iterable<ModuleVariable>,
): Line[] {
  return [...variables].flatMap((v) => {
    const offset = dynamicOffsets?.get(v)
    if (offset === undefined) return []
    const type = typeText(v.type, names)
    const text = `  ${type}& ${names.of(v)} = *reinterpret_cast<${type}*>(workgroup_memory + ${offset});`
    return [{ text, line: undefined }]
  })
}

/** The lines of a device function, which is defined before its callers. */
export function functionLines(context: ModuleContext, fn: IrFunction): Line[] {
  const writer = new FunctionWriter(context, !context.inlined.has(fn))
  if (context.looks.calls.has(fn)) writer.line(lookText(writer))
  writer.statements(fn.body)
  context.needs.set(fn, writer.needs)
  const parameters = fn.parameters.map(
    (p) =>
      `${isByReference(p.type) || p.type.kind === 'pointer' ? '' : 'const '}${parameterText(p.type, context.names)} ${context.names.of(p)}`,
  )
  for (const v of passedVariables(writer.needs)) {
    const name = context.names.of(v)
    if (v.space === 'private' || context.uniformCopies.has(v)) {
      parameters.push(`${constness(v)}${typeText(v.type, context.names)}& ${name}`)
      continue
    }
    parameters.push(`${constness(v)}${pointeeText(context, v)}* ${name}`)
    if (writer.needs.lengths.has(v)) parameters.push(`const unsigned ${lengthName(context.names, v)}`)
    if (v.space === 'storage' && context.bounds === 'trap')
      parameters.push(`const ${context.names.prelude('trap_view')}& ${viewName(context.names, v)}`)
  }
  if (writer.needs.usesLanes) parameters.push('const unsigned lanes')
  if (writer.needs.usesStopWord) parameters.push(`${stopWordType} ${stopWordName}`)
  const result = fn.returnType === undefined ? 'void' : typeText(fn.returnType, context.names)
  const qualifiers = context.inlined.has(fn)
    ? context.names.prelude('WGSL_FN')
    : 'static __device__ __attribute__((noinline))'
  const head = `${qualifiers} ${result} ${context.names.of(fn)}(${parameters.join(', ')}) {`
  const tail: Line[] = []
  if (fn.returnType !== undefined && fn.body.statements.at(-1)?.kind !== 'return')
    tail.push({ text: `  return ${result}{};`, line: undefined })
  return [
    { text: head, line: fn.loc.line },
    ...dynamicNames(context, writer.needs.variables),
    ...writer.lines,
    ...tail,
    { text: '}', line: undefined },
  ]
}

/** The body of the kernel, and its needs. */
export function entryBody(context: ModuleContext, fn: IrFunction): { lines: Line[]; needs: FunctionNeeds } {
  const writer = new FunctionWriter(context)
  for (const p of fn.parameters) {
    writer.at(p.loc)
    const { type, text } = builtinValueText(context, p)
    writer.line(`const ${type} ${context.names.of(p)}${text};`)
  }
  writer.statements(fn.body)
  if (context.asyncCopies.waitsAtEnd) writer.line(writer.asyncWait())
  return { lines: writer.lines, needs: writer.needs }
}

function builtinValueText(context: ModuleContext, p: Parameter): { type: string; text: string } {
  const size = context.module.workgroupSize
  const { id, count } = context.workgroup
  const threads = size[0] * size[1] * size[2]
  const local = axes.map((a, i) => (size[i] === 1 ? '0u' : `threadIdx.${a}`))
  const vector = (parts: readonly string[]) => ({
    type: context.names.prelude('vec3u'),
    text: `(${parts.join(', ')})`,
  })
  const scalar = (text: string) => ({ type: 'unsigned', text: ` = ${text}` })
  const linear = localIndexText(size)
  const group = `(${id}z * ${count}y + ${id}y) * ${count}x + ${id}x`
  switch (p.builtin as BuiltinValue) {
    case 'local_invocation_id':
      return vector(local)
    case 'local_invocation_index':
      return scalar(linear)
    case 'global_invocation_id':
      return vector(
        axes.map((a, i) => (size[i] === 1 ? `${id}${a}` : `${id}${a} * ${size[i]}u + threadIdx.${a}`)),
      )
    case 'global_invocation_index':
      // The index is linear in the grid of all invocations, not workgroup by workgroup.
      return scalar(
        axes
          .map((a, i) => [`${id}${a} * ${size[i]}u + threadIdx.${a}`, `${count}${a} * ${size[i]}u`] as const)
          .reduceRight((sum, [id, extent]) => (sum === '' ? id : `(${sum}) * (${extent}) + ${id}`), ''),
      )
    case 'workgroup_id':
      return vector(axes.map((a) => `${id}${a}`))
    case 'workgroup_index':
      return scalar(group)
    case 'num_workgroups':
      return vector(axes.map((a) => `${count}${a}`))
    case 'subgroup_invocation_id':
      return scalar(`(${linear}) & ${subgroupSize - 1}u`)
    case 'subgroup_size':
      return scalar(`${subgroupSize}u`)
    case 'subgroup_id':
      return scalar(`(${linear}) >> ${laneBits}`)
    case 'num_subgroups':
      return scalar(`${Math.ceil(threads / subgroupSize)}u`)
  }
}
