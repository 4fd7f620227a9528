import { isGpuError } from '@tandem-gpu/core'
import type { ExecutionOptions } from '@tandem-gpu/core/backend'

/** The time limit for the inner backend once the deadline has passed, because 0 is not a valid limit. */
const shortestSeconds = 1e-3

/**
 * The time limit of one rank's part of a run that exchanges messages. At the limit, the kernels that run here
 * stop, and `reached` makes all ranks end after the same repetition. Device work up to that repetition is
 * skipped, or, if it contains the messages, launched with kernels that end at once. The messages are still
 * exchanged, whatever their contents, so nothing remains in flight and the group can still be used.
 */
export class RunLimit {
  readonly #deadline: number
  readonly #skipsWork: boolean
  readonly #reached: () => void
  readonly #ending = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  #hasActed = false

  constructor(seconds: number, skipsWork: boolean, reached: () => void) {
    this.#skipsWork = skipsWork
    this.#deadline = performance.now() + seconds * 1000
    this.#reached = reached
    this.#timer = setTimeout(() => this.#reach(), seconds * 1000)
  }

  /** Whether device work was ended or skipped. */
  get hasActed(): boolean {
    return this.#hasActed
  }

  /** Options for a run of the inner backend that begins now or after others. */
  get options(): Pick<ExecutionOptions, 'signal' | 'stopsKernels' | 'timeoutSeconds'> {
    const left = (this.#deadline - performance.now()) / 1000
    const { signal } = this.#ending
    return {
      // Work with an aborted signal would not be launched.
      ...(!signal.aborted && { signal }),
      stopsKernels: true,
      timeoutSeconds: Math.max(shortestSeconds, left),
    }
  }

  /** Whether device work must be skipped from now on. */
  skips(): boolean {
    if (!this.#skipsWork || !this.#ending.signal.aborted) return false
    this.#hasActed = true
    return true
  }

  /** Whether `error` means that device work was ended at the limit. */
  ended(error: unknown): boolean {
    if (!isGpuError(error, 'timeout') && !isGpuError(error, 'aborted')) return false
    this.#hasActed = true
    this.#reach()
    return true
  }

  /** Called when the run is over. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #reach(): void {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    this.#reached()
  }
}
