import type { ModuleVariable } from '../ir.ts'
import { runtimeArrayOf } from '../layout.ts'
import type { FunctionNeeds, ModuleContext } from './function-writer.ts'
import { elementText, typeText } from './type-text.ts'

/**
 * The C++ type that a pointer to a storage or uniform variable points to; a bare runtime-sized array gives
 * its element.
 */
export function pointeeText(context: ModuleContext, v: ModuleVariable): string {
  if (v.type.kind === 'buffer') return 'unsigned'
  return v.type.kind === 'array' && v.type.length === undefined
    ? elementText(v.type.element, context.names)
    : typeText(v.type, context.names)
}

/** `const ` for memory that the kernel only reads. */
export function constness(v: ModuleVariable): string {
  return v.space === 'uniform' || v.access === 'read' ? 'const ' : ''
}

/**
 * The module variables that are passed to a function, in the order of the source: workgroup memory is global.
 */
export function passedVariables(needs: FunctionNeeds): ModuleVariable[] {
  return [...needs.variables]
    .filter((v) => v.space !== 'workgroup')
    .sort((a, b) => a.loc.line - b.loc.line || a.loc.column - b.loc.column)
}

/**
 * Where a runtime-sized array begins in its binding, and its stride; a buffer without length is one of bytes.
 */
export function runtimeArray(v: ModuleVariable): { offset: number; stride: number } | undefined {
  if (v.type.kind === 'buffer') return v.type.length === undefined ? { offset: 0, stride: 1 } : undefined
  return runtimeArrayOf(v.type)
}
