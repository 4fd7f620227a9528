import { type KernelForm, type KernelSource, kernelKey } from '@tandem-gpu/core/backend'
import type { Channel } from './channel.ts'

/** A kernel that commands can refer to by number, even while it is still compiling. */
export interface KernelEntry {
  readonly number: number
  /** Rejects if the kernel does not compile. The rejection is already handled. */
  readonly ready: Promise<void>
  readonly isReady: boolean
}

/** The kernels of a device. Equal kernels are compiled once and kept as long as the device. */
export class KernelStore {
  readonly #channel: Channel
  readonly #kernels = new Map<string, KernelEntry>()

  constructor(channel: Channel) {
    this.#channel = channel
  }

  get(source: KernelSource, form: KernelForm): KernelEntry {
    const key = `${form} ${kernelKey(source)}`
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
