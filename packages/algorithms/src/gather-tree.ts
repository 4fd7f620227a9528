import type { Device, DeviceGroup, HostBuffer, HostView, Recorder } from '@tandem-gpu/core'

/** The consecutive parts of one process, and its memory for the parts of all. */
interface Node {
  readonly device: Device
  readonly first: number
  end: number
  readonly host: HostBuffer<'u32'>
}

/**
 * Gathers parts of host memory, one for each of some devices, from the devices' processes to every process:
 * up a binomial tree of the processes to the first, and from there down another tree. A process sends and
 * receives about log2 N messages; direct copies to the memory of each process would need N messages per
 * device.
 */
export class GatherTree {
  readonly #width: number
  readonly #owners: readonly Device[]
  readonly #nodes: Node[] = []
  readonly #nodeOf: Node[] = []

  /**
   * `owners`: by ascending ordinal. `width`: elements of each part. `length`: the length of the memory, or of
   * a part of it, that `record` fills.
   */
  constructor(group: DeviceGroup, owners: readonly Device[], width: number, length: number, label: string) {
    this.#width = width
    this.#owners = owners
    for (const [index, owner] of owners.entries()) {
      let last = this.#nodes.at(-1)
      if (last === undefined || last.device.rank !== owner.rank) {
        const host = group.allocateHost('u32', length, { label: `${label} ${index}`, device: owner })
        last = { device: owner, first: index, end: index, host }
        this.#nodes.push(last)
      }
      last.end = index + 1
      this.#nodeOf.push(last)
    }
  }

  /**
   * The position, in the memory of its process, of the part of the device with this index, for a target that
   * begins at `offset`.
   */
  place(index: number, offset = 0): HostView<'u32'> {
    return this.#part(this.#nodeOf[index]!, offset, index, index + 1)
  }

  /**
   * Records the gathering of all parts into `target`, in the order of the devices; every process records it.
   */
  record(recorder: Recorder, target: HostView<'u32'>): void {
    const nodes = this.#nodes
    for (let step = 1; step < nodes.length; step *= 2)
      for (let to = 0; to + step < nodes.length; to += 2 * step) {
        const [receiver, sender] = [nodes[to]!, nodes[to + step]!]
        if (!recorder.touches(receiver.device.ordinal, sender.device.ordinal)) continue
        const { end } = nodes[Math.min(to + 2 * step, nodes.length) - 1]!
        const part = (node: Node) => this.#part(node, target.offset, sender.first, end)
        recorder.copy(part(sender), part(receiver), { label: 'gather' })
      }
    recorder.copy(this.#part(nodes[0]!, target.offset, 0, this.#owners.length), target, { label: 'spread' })
  }

  #part({ host }: Node, offset: number, first: number, end: number): HostView<'u32'> {
    return host.slice(offset + first * this.#width, (end - first) * this.#width)
  }

  destroy(): void {
    for (const { host } of this.#nodes) host.destroy()
  }
}
