import { isGpuError } from '@tandem-gpu/core'
import type { ExecutionOptions } from '@tandem-gpu/core/backend'

/** What the inner backend gets once the limit has come, where 0 would be no limit. */
const shortestSeconds = 1e-3

/**
 * The time limit of one rank's part of a run whose data travel as messages. When it comes, the kernels that
 * run here leave, what is still to be issued is skipped, and `reached` has all ranks end after the same
 * repetition; the messages up to there travel, whatever they hold. So nothing is left under way, and the
 * group goes on.
 */
export class RunLimit {
  readonly #deadline: number
  readonly #reached: () => void
  readonly #ending = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  #hasActed = false

  constructor(seconds: number, reached: () => void) {
    this.#deadline = performance.now() + seconds * 1000
    this.#reached = reached
    this.#timer = setTimeout(() => this.#reach(), seconds * 1000)
  }

  /** Whether device work was ended or skipped. */
  get hasActed(): boolean {
    return this.#hasActed
  }

  /** For a run of the inner backend that begins now, or behind others. */
  get options(): Pick<ExecutionOptions, 'signal' | 'stopsKernels' | 'timeoutSeconds'> {
    const left = (this.#deadline - performance.now()) / 1000
    return {
      signal: this.#ending.signal,
      stopsKernels: true,
      timeoutSeconds: Math.max(shortestSeconds, left),
    }
  }

  /** Whether device work is to be skipped from now on. */
  skips(): boolean {
    if (!this.#ending.signal.aborted) return false
    this.#hasActed = true
    return true
  }

  /** Whether `error` says that device work was ended at the limit. */
  ended(error: unknown): boolean {
    if (!isGpuError(error, 'timeout') && !isGpuError(error, 'aborted')) return false
    this.#hasActed = true
    this.#reach()
    return true
  }

  /** The run is over. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #reach(): void {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    this.#reached()
  }
}
