import { disposeSymbol } from './dispose.ts'

/** Something that was never destroyed when its group ended. */
export interface Leak {
  readonly kind: 'buffer' | 'host-buffer' | 'kernel' | 'program'
  readonly label: string
  readonly byteLength?: number
}

/**
 * Something the caller made and must destroy. What still uses it (programs, transfers in flight) retains it: `destroy` ends
 * the caller's use at once, the memory goes when the last user lets go.
 */
export abstract class Resource {
  readonly #registry: Set<Resource> | undefined
  #users = 0
  #destroyed = false

  /** `registry`: what the group reports as leaks and frees at its end; undefined for what a program owns. */
  constructor(registry: Set<Resource> | undefined) {
    this.#registry = registry
    registry?.add(this)
  }

  get destroyed(): boolean {
    return this.#destroyed
  }

  retain(): void {
    this.#users++
  }

  release(): void {
    this.#users--
    if (this.#destroyed && this.#users === 0) this.free()
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    this.#registry?.delete(this)
    if (this.#users === 0) this.free()
  }

  [disposeSymbol](): void {
    this.destroy()
  }

  abstract leak(): Leak

  /** Called once: destroyed and no longer used. */
  protected abstract free(): void
}
