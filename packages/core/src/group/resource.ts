import { disposeSymbol } from './dispose.ts'

/** An object that was not destroyed when its group ended. */
export interface Leak {
  readonly kind: 'buffer' | 'host-buffer' | 'kernel' | 'program'
  readonly label: string
  readonly byteLength?: number
}

/**
 * An object that the caller makes and must destroy. Programs and transfers in flight that use it retain it:
 * `destroy` ends the caller's use at once, and the memory is freed when the last user releases the object.
 */
export abstract class Resource {
  readonly #registry: Set<Resource> | undefined
  #users = 0
  #destroyed = false

  /**
   * `registry`: the resources that the group reports as leaks and frees at its end; undefined if a program
   * owns the resource.
   */
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

  /** Called once, when the object is destroyed and no longer used. */
  protected abstract free(): void
}
