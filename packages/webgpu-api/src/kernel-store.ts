import type { KernelForm, KernelSource } from '@tandem-gpu/core/backend'
import type { Channel } from './channel.ts'

/** A kernel as commands name it: from the call on that compiles it, while it compiles. */
export interface KernelEntry {
  readonly number: number
  /** Rejects where the kernel does not compile. Handled. */
  readonly ready: Promise<void>
  readonly isReady: boolean
}

/** The kernels of a device: equal ones are compiled once, and stay until the device goes. */
export class KernelStore {
  readonly #channel: Channel
  readonly #kernels = new Map<string, KernelEntry>()

  constructor(channel: Channel) {
    this.#channel = channel
  }

  get(source: KernelSource, form: KernelForm): KernelEntry {
    const { wgsl, entryPoint, constants } = source
    const key = JSON.stringify([
      form,
      entryPoint,
      Object.entries(constants).map(([k, v]) => [k, String(v)]),
      wgsl,
    ])
    const known = this.#kernels.get(key)
    if (known !== undefined) return known
    const number = this.#channel.number()
    const ready = this.#channel.commands.compile(number, source, form)
    const entry = { number, ready, isReady: false }
    this.#kernels.set(key, entry)
    ready.then(
      () => {
        entry.isReady = true
      },
      () => this.#kernels.delete(key),
    )
    return entry
  }
}
