import type { InvocationAccess, Reflection } from '@tandem-gpu/wgsl'
import type { KernelHandle } from '../backend/handles.ts'
import type { Bounds } from '../backend/kernel-source.ts'
import { describedValue } from '../described-value.ts'
import { invalid } from '../errors.ts'
import type { GroupState } from '../group/group-state.ts'
import { type Leak, Resource } from '../group/resource.ts'
import type { KernelLayout } from './kernel-layout.ts'

/** The name of the member that carries the type of a kernel's arguments; it never has a value. */
declare const argumentsOf: unique symbol

/**
 * Options of `compile`. `A`: the arguments of its dispatches, if TypeScript knows them, as in the modules
 * that `tandem-wgsl` writes.
 */
export interface CompileOptions<A = unknown> {
  readonly [argumentsOf]?: A
  readonly label?: string | undefined
  readonly wgsl: string
  /** Default: the module's only compute entry point. */
  readonly entryPoint?: string | undefined
  /** Values of overrides, by name. */
  readonly constants?: Readonly<Record<string, number | boolean>> | undefined
  /**
   * The effect of an access outside a binding; default `clamp`, or `trap` in a group with `debug` whose
   * devices support it.
   */
  readonly bounds?: Bounds | undefined
  /**
   * Declares that every workgroup ends within seconds, for any input; default false. If a time limit ends a
   * run inside its kernels, workgroups of this kernel that have started run to their end. In return, its
   * loops do not check the limit, which makes them up to a tenth faster. If a workgroup does not end, the
   * group is lost at the limit.
   */
  readonly terminates?: boolean | undefined
  /**
   * A hint to the compiler: this many workgroups, 1 to 32, should share a multiprocessor of the GPU, so each
   * invocation gets few enough registers for that. Only CUDA uses it; it does not change results.
   */
  readonly workgroupsPerMultiprocessor?: number | undefined
}

/**
 * A compiled entry point, ready on every device of its group. `A`: the arguments of its dispatches, if
 * TypeScript knows them.
 */
export interface Kernel<A = unknown> {
  readonly [argumentsOf]?: A
  readonly label: string
  readonly reflection: Reflection
  readonly workgroupSize: readonly [x: number, y: number, z: number]
  destroy(): void
  [Symbol.dispose](): void
}

/** What kernels of equal source share. */
export interface CompiledKernel {
  readonly handle: KernelHandle
  readonly reflection: Reflection
  readonly layout: KernelLayout
  /** The elements that every invocation accesses, for groups with `debug`. */
  accesses(): readonly InvocationAccess[]
}

/** A compiled kernel that the caller owns. */
export class OwnedKernel extends Resource implements Kernel {
  readonly group: GroupState
  readonly label: string
  readonly compiled: CompiledKernel

  readonly #letGo: () => void

  /** `letGo` is called when neither the caller nor a program uses the kernel any more. */
  constructor(group: GroupState, label: string, compiled: CompiledKernel, letGo: () => void) {
    super(group.resources)
    this.group = group
    this.label = label
    this.compiled = compiled
    this.#letGo = letGo
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

  protected override free(): void {
    this.#letGo()
  }
}

/** Throws `validation` if the value is not a kernel that `compile` returned. */
export function requireKernel(kernel: unknown): asserts kernel is OwnedKernel {
  if (!(kernel instanceof OwnedKernel))
    throw invalid(
      `The kernel of a dispatch is ${describedValue(kernel)}; it must be a kernel that compile returned.`,
    )
}
