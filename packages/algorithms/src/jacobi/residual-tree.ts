import type { Device, HostBuffer, HostView, Recorder } from '@tandem-gpu/core'
import type { JacobiField } from './jacobi-field.ts'

/** The blocks of one process, consecutive ones, and host memory of it for the residuals of all. */
interface Node {
  readonly device: Device
  readonly first: number
  end: number
  readonly host: HostBuffer<'u32'>
}

/**
 * Brings the residuals of all blocks to every process: up a binomial tree of the processes to the first, and from there down another. A process
 * sends and receives about log2 N messages, where downloads to memory of which each process has a copy would be N messages a block.
 */
export class ResidualTree {
  readonly #field: JacobiField
  readonly #nodes: Node[] = []

  /** `length`: of the host memory that `record` fills. */
  constructor(field: JacobiField, length: number) {
    this.#field = field
    for (const [index, { owner }] of field.blocks.entries()) {
      const last = this.#nodes.at(-1)
      if (last?.device.rank === owner.rank) last.end = index + 1
      else
        this.#nodes.push({
          ...{ device: owner, first: index, end: index + 1 },
          host: field.group.allocateHost('u32', length, { label: `residuals ${index}`, device: owner }),
        })
    }
  }

  /** Records the gathering of one u32 for each block into `target`; every process records it. */
  record(recorder: Recorder, target: HostView<'u32'>): void {
    const { blocks } = this.#field
    const nodes = this.#nodes
    /** Where the residuals of blocks `first` to `end` lie in a process. */
    const part = ({ host }: Node, first: number, end: number) =>
      host.slice(target.offset + first, end - first)
    for (const node of nodes) {
      if (!recorder.touches(node.device.ordinal)) continue
      for (let index = node.first; index < node.end; index++)
        recorder.download(blocks[index]!.residual, part(node, index, index + 1), { label: 'residual' })
    }
    for (let step = 1; step < nodes.length; step *= 2)
      for (let to = 0; to + step < nodes.length; to += 2 * step) {
        const [receiver, sender] = [nodes[to]!, nodes[to + step]!]
        if (!recorder.touches(receiver.device.ordinal, sender.device.ordinal)) continue
        const { end } = nodes[Math.min(to + 2 * step, nodes.length) - 1]!
        recorder.copy(part(sender, sender.first, end), part(receiver, sender.first, end), {
          label: 'gather residuals',
        })
      }
    recorder.copy(part(nodes[0]!, 0, blocks.length), target, { label: 'spread residuals' })
  }

  destroy(): void {
    for (const { host } of this.#nodes) host.destroy()
  }
}
