import type { IrModule, Reflection } from '@tandem-gpu/wgsl'

/**
 * The effect of an access outside a binding: it accesses some element of the binding, it ends the run with an
 * error, or it is undefined.
 */
export type Bounds = 'clamp' | 'trap' | 'unchecked'

/**
 * A kernel for a backend to compile: its source text, and the module and reflection that core's front end
 * derives from it.
 */
export interface KernelSource {
  readonly label: string
  readonly wgsl: string
  readonly entryPoint: string
  readonly constants: Readonly<Record<string, number | boolean>>
  readonly bounds: Bounds
  /** A hint: see `CompileOptions`. */
  readonly workgroupsPerMultiprocessor?: number | undefined
  /** May be made only when it is read, by running the front end. */
  readonly module: IrModule
  readonly reflection: Reflection
  /** Whether the kernel's author declares that every workgroup ends within seconds: see `CompileOptions`. */
  readonly terminates?: boolean
}
