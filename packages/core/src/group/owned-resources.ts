import { describedValue, isObject } from '../described-value.ts'
import { invalid } from '../errors.ts'
import { disposeSymbol } from './dispose.ts'

/** Something that its owner must destroy: a buffer, host memory, a kernel, a program, or what is made of them. */
export interface Destroyable {
  destroy(): void
}

/**
 * Resources that end together. `keep` what is made one after another, and `destroy` it all, the newest first: in a `finally` where it serves
 * one call, in a `catch` where a function hands it on and something fails on the way.
 */
export class OwnedResources implements Destroyable {
  readonly #resources: Destroyable[] = []

  /** Takes the resource over and returns it. Throws `validation` for what cannot be destroyed, such as a promise of it. */
  keep<R extends Destroyable>(resource: R): R {
    if (!isObject(resource) || typeof resource.destroy !== 'function')
      throw invalid(`The argument of keep is ${describedValue(resource)}; it must have a method destroy.`)
    this.#resources.push(resource)
    return resource
  }

  /** Waits for all, takes over those that succeed, and rejects with the first failure, if there is one. Others keep what it took over. */
  async keepAll<R extends Destroyable>(pending: readonly Promise<R>[]): Promise<R[]> {
    if (!Array.isArray(pending))
      throw invalid(`The argument of keepAll is ${describedValue(pending)}; it must be an array of promises.`)
    const results = await Promise.allSettled(pending)
    const made = results.flatMap((result) => (result.status === 'fulfilled' ? [this.keep(result.value)] : []))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return made
  }

  /** Destroys what is kept, the newest first. A second call finds nothing. */
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
