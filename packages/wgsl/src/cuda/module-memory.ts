import type { ModuleVariable } from '../ir.ts'
import { runtimeArrayOf } from '../layout.ts'
import type { FunctionNeeds, ModuleContext } from './function-writer.ts'
import { elementText, typeText } from './type-text.ts'

/**
 * The C++ type that a pointer to a storage or uniform variable points to; for a runtime-sized array, the type
 * of its elements.
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
 * The module variables that are passed to a function, in source order. Workgroup memory is global and not
 * passed.
 */
export function passedVariables(needs: FunctionNeeds): ModuleVariable[] {
  return [...needs.variables]
    .filter((v) => v.space !== 'workgroup')
    .sort((a, b) => a.loc.line - b.loc.line || a.loc.column - b.loc.column)
}

/**
 * The offset and stride of a runtime-sized array in its binding; a buffer without length counts as an array
 * of bytes.
 */
export function runtimeArray(v: ModuleVariable): { offset: number; stride: number } | undefined {
  if (v.type.kind === 'buffer') return v.type.length === undefined ? { offset: 0, stride: 1 } : undefined
  return runtimeArrayOf(v.type)
}
