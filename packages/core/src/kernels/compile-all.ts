import { describedValue, isObject } from '../described-value.ts'
import { invalid } from '../errors.ts'
import type { DeviceGroup } from '../group/group.ts'
import { OwnedResources } from '../group/owned-resources.ts'
import type { CompileOptions, Kernel } from './kernel.ts'

/** The result of `compileAll`: a kernel for each source, by name. */
export interface CompiledKernels<T extends Readonly<Record<string, CompileOptions | undefined>>> {
  /** If a source may be undefined, so may its kernel. */
  readonly kernels: {
    readonly [K in keyof T]:
      | (T[K] extends CompileOptions<infer A> | undefined ? Kernel<A> : Kernel)
      | (undefined extends T[K] ? undefined : never)
  }
  /** Destroys all of them. */
  destroy(): void
}

/**
 * Compiles several kernels at once, by name. If one fails, none is left behind, and the promise rejects as
 * with `compile`. A source that is undefined, as in a variant of an algorithm, results in a kernel that is
 * undefined.
 */
export async function compileAll<T extends Readonly<Record<string, CompileOptions | undefined>>>(
  group: DeviceGroup,
  sources: T,
): Promise<CompiledKernels<T>> {
  if (!isObject(group) || !('compile' in group))
    throw invalid(
      `The group of compileAll is ${describedValue(group)}; it must be a group that openGroup returned.`,
    )
  if (!isObject(sources))
    throw invalid(
      `The sources of compileAll are ${describedValue(sources)}; they must be an object with one source per name.`,
    )
  const owned = new OwnedResources()
  const wanted = Object.entries(sources).flatMap(([name, source]) => (source ? [{ name, source }] : []))
  try {
    const compiled = await owned.keepAll(wanted.map(({ source }) => group.compile(source)))
    const kernels = Object.fromEntries(wanted.map(({ name }, index) => [name, compiled[index]]))
    return { kernels: kernels as CompiledKernels<T>['kernels'], destroy: () => owned.destroy() }
  } catch (error) {
    owned.destroy()
    throw error
  }
}
