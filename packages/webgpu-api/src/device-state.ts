import type { QueueMessage } from '@tandem-gpu/core/backend'
import type { Channel } from './channel.ts'
import { ErrorScopes, type OpenScopes } from './error-scopes.ts'
import type { ErrorFilter, GPUError } from './errors.ts'
import type { KernelStore } from './kernel-store.ts'
import type { Limits } from './limits.ts'

/** A buffer whose allocation may still fail. */
export interface UnsettledBuffer {
  valid: boolean
}

/** The number of buffers or submits to remember before asking the device for their outcome. */
const mostUnsettled = 256

/** The state of a GPUDevice that the objects it creates use. */
export class DeviceState {
  readonly limits: Limits
  readonly features: ReadonlySet<string>
  readonly channel: Channel
  readonly kernels: KernelStore
  readonly scopes: ErrorScopes
  readonly whenLost: Promise<{ reason: 'unknown' | 'destroyed'; message: string }>
  /** Buffers that are mapped or being mapped, by state; `destroy` unmaps them. */
  readonly mapped = new Map<object, WeakRef<{ unmap(): void }>>()
  #isLost = false
  #resolveLost: (info: { reason: 'unknown' | 'destroyed'; message: string }) => void = () => {}
  /** Buffers whose allocation has not been confirmed, by number. */
  readonly #unsettled = new Map<
    number,
    { readonly buffer: UnsettledBuffer; readonly scopes: OpenScopes | undefined }
  >()
  /** The error scopes of submits that may use such buffers, by serial. */
  readonly #submits = new Map<number, OpenScopes | undefined>()
  #settling: Promise<void> | undefined
  /** Whether a request of `#sweep` is still unanswered. */
  #isSweeping = false
  /** Resolve when the calls of `mapAsync` settle that have not yet. */
  readonly #mappings = new Set<Promise<void>>()
  /** The last call of `onSubmittedWorkDone`. */
  #workDone: Promise<void> | undefined

  constructor(
    channel: Channel,
    kernels: KernelStore,
    limits: Limits,
    features: ReadonlySet<string>,
    uncaptured: (error: GPUError) => void,
  ) {
    this.channel = channel
    this.kernels = kernels
    this.limits = limits
    this.features = features
    this.scopes = new ErrorScopes(uncaptured)
    this.whenLost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
  }

  get isLost(): boolean {
    return this.#isLost
  }

  lose(reason: 'unknown' | 'destroyed', message: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#unsettled.clear()
    this.#submits.clear()
    this.#resolveLost({ reason, message })
  }

  /** Reports a validation error. */
  invalid(message: string): void {
    this.report('validation', message)
  }

  /** Reports an error, unless the device is lost. */
  report(filter: ErrorFilter, message: string, scopes = this.scopes.open): void {
    if (!this.#isLost) this.scopes.report(filter, message, scopes)
  }

  /** Remembers which scopes receive the error if the allocation of a buffer fails. */
  expectMemory(number: number, buffer: UnsettledBuffer): void {
    this.#unsettled.set(number, { buffer, scopes: this.scopes.open })
    this.#settling = undefined
    if (this.#unsettled.size > mostUnsettled) this.#sweep()
  }

  /** Must be called before each submit, and before each write that becomes part of one. */
  expectSubmit(): void {
    if (this.#unsettled.size === 0) return
    // Must come first, because it submits the gathered commands.
    if (this.#submits.size > mostUnsettled) this.#sweep()
    this.#submits.set(this.channel.nextSerial, this.scopes.open)
    this.#settling = undefined
  }

  /**
   * Asks the device for the outcome of all buffers so far, so that the lists of buffers and submits stay
   * short.
   */
  #sweep(): void {
    if (this.#isSweeping) return
    this.#isSweeping = true
    void Promise.resolve(this.settled()).then(() => {
      this.#isSweeping = false
    })
  }

  /** Settles when all calls so far have reported their errors; undefined if they already have. */
  settled(): Promise<unknown> | undefined {
    if (this.#unsettled.size > 0 && this.#settling === undefined && !this.#isLost) {
      const numbers = [...this.#unsettled.keys()]
      const serials = [...this.#submits.keys()]
      this.channel.flush()
      const settling = this.channel.commands.settled().then(
        () => {
          for (const number of numbers) this.#unsettled.delete(number)
          for (const serial of serials) this.#submits.delete(serial)
        },
        () => {},
      )
      this.#settling = settling
    }
    const { pending } = this.scopes
    if (this.#unsettled.size === 0 || this.#settling === undefined) return pending
    return pending === undefined ? this.#settling : Promise.all([pending, this.#settling])
  }

  /** Must be called when a mapping begins; the returned function, just before the call of `mapAsync` settles. */
  expectMapping(): () => void {
    let end!: () => void
    const mapping = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#mappings.add(mapping)
    return () => {
      this.#mappings.delete(mapping)
      end()
    }
  }

  /**
   * Settles as `work` does, but after all earlier calls of `mapAsync` and `onSubmittedWorkDone`, as the
   * specification's section on promise ordering demands.
   */
  workDone(work: Promise<void>): Promise<void> {
    const calls = [work, ...this.#mappings]
    if (this.#workDone !== undefined) calls.push(this.#workDone)
    this.#workDone = Promise.allSettled(calls).then(() => work)
    return this.#workDone
  }

  /** Handles a message of the device about earlier calls. */
  receive(message: QueueMessage): void {
    switch (message.kind) {
      case 'lost':
        this.lose('unknown', message.error.message)
        break
      case 'out-of-memory': {
        const unsettled = this.#unsettled.get(message.buffer)
        if (unsettled === undefined) break
        unsettled.buffer.valid = false
        this.report('out-of-memory', message.message, unsettled.scopes)
        break
      }
      case 'skipped':
        this.report(
          'validation',
          'A submit uses a buffer that has no memory; the commands that use it were skipped.',
          this.#submits.get(message.serial),
        )
    }
  }
}
