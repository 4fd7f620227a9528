import type { IrModule, Reflection } from '@tandem-gpu/wgsl'

/** What an access outside a binding does: goes to some element of the binding, ends the run with an error, or is undefined. */
export type Bounds = 'clamp' | 'trap' | 'unchecked'

/** A kernel for a backend to compile: its text, and what core's front end made of it. */
export interface KernelSource {
  readonly label: string
  readonly wgsl: string
  readonly entryPoint: string
  readonly constants: Readonly<Record<string, number | boolean>>
  readonly bounds: Bounds
  readonly module: IrModule
  readonly reflection: Reflection
}
