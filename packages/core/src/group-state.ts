import type { LostInfo, Runtime } from './backend.ts'
import { GpuError } from './errors.ts'
import type { Resource } from './resource.ts'

/** What the objects of one group share: the runtime, whether it still runs, and what has not been destroyed. */
export class GroupState {
  readonly label: string
  readonly runtime: Runtime
  readonly resources = new Set<Resource>()
  readonly #pending = new Map<Promise<unknown>, (error: GpuError) => void>()
  #closed: GpuError | undefined
  #lost: GpuError | undefined

  constructor(label: string, runtime: Runtime) {
    this.label = label
    this.runtime = runtime
    void runtime.lost.then((info) => {
      this.#lost = lostError(label, info)
      for (const reject of this.#pending.values()) reject(this.#lost)
    })
  }

  /** The group takes no new work; what is pending goes on. */
  close(): void {
    this.#closed ??= destroyedError(this.label)
  }

  /** True once the devices are lost or closed: the runtime frees what it holds by itself and takes no more calls. */
  get runtimeEnded(): boolean {
    return this.#lost !== undefined
  }

  /** Throws `device-lost` once the devices are lost or the group is destroyed. */
  requireAlive(): void {
    const ended = this.#lost ?? this.#closed
    if (ended !== undefined) throw ended
  }

  /** Calls the runtime; rejects with `device-lost` as soon as the devices are lost. */
  guard<R>(call: () => Promise<R>): Promise<R> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const { promise, resolve, reject } = deferred<R>()
    this.#pending.set(promise, reject)
    const forget = () => this.#pending.delete(promise)
    promise.then(forget, forget)
    try {
      call().then(resolve, reject)
    } catch (error) {
      reject(error)
    }
    return promise
  }

  /** Resolves when no call of the runtime is pending. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending.keys())
  }
}

function deferred<R>() {
  let resolve!: (value: R) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<R>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

function destroyedError(label: string): GpuError {
  return new GpuError('device-lost', `The group "${label}" is destroyed.`)
}

function lostError(label: string, { reason, message }: LostInfo): GpuError {
  if (reason === 'destroyed') return destroyedError(label)
  return new GpuError('device-lost', `The devices of group "${label}" are lost: ${message}`)
}
