import type { Reflection } from '@tandem-gpu/wgsl'
import type { GroupState } from './group-state.ts'
import type { KernelHandle } from './handles.ts'
import type { KernelLayout } from './kernel-layout.ts'
import type { Bounds } from './kernel-source.ts'
import { type Leak, Resource } from './resource.ts'

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

/** What the group caches: kernels of equal source share it. */
export interface CompiledKernel {
  readonly handle: KernelHandle
  readonly reflection: Reflection
  readonly layout: KernelLayout
}

/** The caller's hold on a compiled kernel. */
export class OwnedKernel extends Resource implements Kernel {
  readonly group: GroupState
  readonly label: string
  readonly compiled: CompiledKernel

  constructor(group: GroupState, label: string, compiled: CompiledKernel) {
    super(group.resources)
    this.group = group
    this.label = label
    this.compiled = compiled
  }

  get reflection(): Reflection {
    return this.compiled.reflection
  }

  get workgroupSize(): readonly [x: number, y: number, z: number] {
    return this.compiled.reflection.workgroupSize
  }

  override leak(): Leak {
    return { kind: 'kernel', label: this.label }
  }

  /** The compiled code stays in the group's cache, for the next `compile` of the same source. */
  protected override free(): void {}
}
