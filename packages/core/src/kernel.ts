import type { Reflection } from '@tandem-gpu/wgsl'
import type { Bounds } from './backend.ts'

export interface CompileOptions {
  readonly label?: string
  readonly wgsl: string
  /** Default: the module's only compute entry point. */
  readonly entryPoint?: string
  /** Values of overrides, by name. */
  readonly constants?: Readonly<Record<string, number | boolean>>
  /** What an access outside a binding does; default `clamp`. */
  readonly bounds?: Bounds
}

/** A compiled entry point, ready on every device of its group. */
export interface Kernel {
  readonly label: string
  readonly reflection: Reflection
  readonly workgroupSize: readonly [x: number, y: number, z: number]
  destroy(): void
  [Symbol.dispose](): void
}
