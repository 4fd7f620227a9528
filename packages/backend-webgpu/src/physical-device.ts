import { GpuError, type LostInfo } from '@tandem-gpu/core'
import { lostError, toGpuError } from './gpu-errors.ts'

/**
 * Work that was started inside error scopes; `checked` settles when the device has reported whether it is
 * valid.
 */
export interface Scoped<T> {
  readonly value: T
  readonly checked: Promise<void>
}

/** One `GPUDevice`, whose errors and loss become `GpuError`s. All virtual devices on one adapter share it. */
export class PhysicalDevice {
  readonly gpu: GPUDevice
  readonly name: string
  /** True if the "GPU" is the CPU. */
  readonly software: boolean
  /** Resolves when the device is lost, or destroyed by `close` or by its owner. */
  readonly lost: Promise<LostInfo>
  readonly #owned: boolean
  readonly #waiting = new Set<(error: GpuError) => void>()
  readonly #onUncaptured: (event: GPUUncapturedErrorEvent) => void
  #lostError: GpuError | undefined
  #fault: GpuError | undefined

  constructor(gpu: GPUDevice, options: { name: string; software: boolean; owned: boolean }) {
    this.gpu = gpu
    this.name = options.name
    this.software = options.software
    this.#owned = options.owned
    this.lost = gpu.lost.then((info) => {
      this.#fail(lostError(this.name, { reason: info.reason, message: info.message }))
      return { reason: info.reason === 'destroyed' ? 'destroyed' : 'unknown', message: info.message }
    })
    this.#onUncaptured = (event) => {
      // The owner of the device may have caused the error, so it is not reported here.
      if (!this.#owned) return
      event.preventDefault?.()
      this.#fault ??= toGpuError(event.error, this.name, 'run what was submitted')
    }
    gpu.addEventListener('uncapturederror', this.#onUncaptured)
  }

  /** Throws if the device is lost, and throws an error that no scope caught, once. */
  check(): void {
    if (this.#lostError !== undefined) throw this.#lostError
    const fault = this.#fault
    this.#fault = undefined
    if (fault !== undefined) throw fault
  }

  /**
   * Runs `body`, which must be synchronous, inside error scopes. `action` completes "The device failed to
   * ...". Scopes are a stack of the whole device, so nothing may be awaited between push and pop.
   */
  scoped<T>(action: string, body: () => T): Scoped<T> {
    this.check()
    const filters: readonly GPUErrorFilter[] = ['internal', 'out-of-memory', 'validation']
    for (const filter of filters) this.gpu.pushErrorScope(filter)
    let value: T
    let pops: Promise<GPUError | null>[] = []
    try {
      value = body()
    } finally {
      pops = filters.map(() => this.gpu.popErrorScope())
    }
    const checked = this.orLost(Promise.all(pops)).then((errors) => {
      const error = errors.find((caught) => caught !== null)
      if (error) throw toGpuError(error, this.name, action)
    })
    // Callers that await `checked` see the rejection. If it is not awaited, another error came first.
    checked.catch(() => undefined)
    return { value, checked }
  }

  /** `promise`, or a rejection as soon as the device is lost. */
  orLost<T>(promise: Promise<T>): Promise<T> {
    if (this.#lostError !== undefined) {
      promise.catch(() => undefined)
      return Promise.reject(this.#lostError)
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject)
      promise.then(
        (value) => {
          this.#waiting.delete(reject)
          resolve(value)
        },
        (error: unknown) => {
          this.#waiting.delete(reject)
          // A lost device rejects pending calls just before it resolves `lost`; the loss is the error to
          // report.
          setTimeout(() => reject(this.#lostError ?? error), 0)
        },
      )
    })
  }

  /** Waits until everything submitted so far has completed. */
  completed(): Promise<void> {
    return this.orLost(this.gpu.queue.onSubmittedWorkDone().then(() => undefined))
  }

  /** Destroys the device, or only releases it if the caller owns it. */
  close(): void {
    this.gpu.removeEventListener('uncapturederror', this.#onUncaptured)
    this.#fail(new GpuError('device-lost', `The device "${this.name}" has been closed.`))
    if (this.#owned) this.gpu.destroy()
  }

  #fail(error: GpuError): void {
    this.#lostError ??= error
    for (const reject of this.#waiting) reject(this.#lostError)
    this.#waiting.clear()
  }
}
