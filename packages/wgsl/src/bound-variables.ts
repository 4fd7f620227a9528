import type { IrModule, ModuleVariable } from './ir.ts'

/** A variable to which the host binds a buffer. */
export interface BoundVariable extends ModuleVariable {
  readonly binding: NonNullable<ModuleVariable['binding']>
}

/** The module's bindings, by group and number. */
export function boundVariables({ variables }: IrModule): BoundVariable[] {
  return variables
    .filter((v): v is BoundVariable => v.binding !== undefined)
    .sort((a, b) => a.binding.group - b.binding.group || a.binding.binding - b.binding.binding)
}
