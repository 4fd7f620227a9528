import { describedValue, isObject } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { disposeSymbol } from './dispose.ts'

/**
 * Something that its owner must destroy: a buffer, host memory, a kernel, a program, or an object made of
 * them.
 */
export interface Destroyable {
  destroy(): void
}

/**
 * Resources that are destroyed together. `keep` each resource when it is made, and `destroy` all of them, the
 * newest first: in a `finally` if they serve one call, or in a `catch` if a function returns them and
 * something fails before that.
 */
export class OwnedResources implements Destroyable {
  readonly #resources: Destroyable[] = []

  /**
   * Takes ownership of the resource and returns it. Throws `validation` for a value that cannot be destroyed,
   * such as a promise of it.
   */
  keep<R extends Destroyable>(resource: R): R {
    if (!isObject(resource) || typeof resource.destroy !== 'function')
      throw invalid(`The argument of keep is ${describedValue(resource)}; it must have a method destroy.`)
    this.#resources.push(resource)
    return resource
  }

  /**
   * Waits for all, takes ownership of those that succeed, and rejects with the first failure, if any, even
   * then keeping the others.
   */
  async keepAll<R extends Destroyable>(pending: readonly Promise<R>[]): Promise<R[]> {
    if (!Array.isArray(pending))
      throw invalid(`The argument of keepAll is ${describedValue(pending)}; it must be an array of promises.`)
    const results = await Promise.allSettled(pending)
    const made = results.flatMap((result) => (result.status === 'fulfilled' ? [this.keep(result.value)] : []))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return made
  }

  /** Destroys all kept resources, the newest first. A second call does nothing. */
  destroy(): void {
    for (;;) {
      const resource = this.#resources.pop()
      if (resource === undefined) return
      resource.destroy()
    }
  }

  [disposeSymbol](): void {
    this.destroy()
  }
}
