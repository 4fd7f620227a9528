import { OwnedDeviceBuffer } from './device-buffer.ts'
import { GpuError } from './errors.ts'
import type { GroupState } from './group-state.ts'
import { type CommandAccesses, deriveHazards } from './hazards.ts'
import { OwnedHostBuffer } from './host-buffer.ts'
import { OwnedKernel } from './kernel.ts'
import type { ByteRegion, Plan, PlanBuffer, PlanCommand, Schedule } from './plan.ts'
import { transitiveReduction } from './transitive-reduction.ts'
import { UniformBlockBuilder } from './uniform-block.ts'
import type { Region } from './view.ts'

type WithoutOrder<C> = C extends PlanCommand ? Omit<C, 'index' | 'after' | 'afterPrevious'> : never

/** A command before its place in the order is known. */
export type CommandDraft = WithoutOrder<PlanCommand>

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const noEdges: readonly number[] = []

/** Numbers the buffers and kernels of a recording and collects its commands. */
export class PlanBuilder {
  readonly uniforms = new UniformBlockBuilder()
  readonly #group: GroupState
  readonly #buffers = new Map<OwnedDeviceBuffer | OwnedHostBuffer, number>()
  readonly #kernels = new Map<OwnedKernel, number>()
  readonly #commands: Mutable<PlanCommand>[] = []
  readonly #accesses: CommandAccesses[] = []

  constructor(group: GroupState) {
    this.#group = group
  }

  /** What the program must keep alive. */
  get resources(): Iterable<OwnedDeviceBuffer | OwnedHostBuffer | OwnedKernel> {
    return [...this.#buffers.keys(), ...this.#kernels.keys()]
  }

  /** `accesses` are flattened regions. */
  add(command: CommandDraft, accesses: CommandAccesses): void {
    const ordered = command as Mutable<PlanCommand>
    ordered.index = this.#commands.length
    ordered.after = noEdges
    ordered.afterPrevious = noEdges
    this.#commands.push(ordered)
    this.#accesses.push(accesses)
  }

  kernel(kernel: OwnedKernel): number {
    const known = this.#kernels.get(kernel)
    if (known !== undefined) return known
    if (!(kernel instanceof OwnedKernel) || kernel.group !== this.#group)
      throw new GpuError(
        'validation',
        `A kernel of another group cannot run in group "${this.#group.label}".`,
      )
    if (kernel.destroyed) throw new GpuError('validation', `Kernel "${kernel.label}" is destroyed.`)
    this.#kernels.set(kernel, this.#kernels.size)
    return this.#kernels.size - 1
  }

  /** The bytes of a non-empty region of `buffer`, keeping its rows. */
  region(buffer: OwnedDeviceBuffer | OwnedHostBuffer, region: Region): ByteRegion {
    const index = this.#buffer(buffer)
    const { offset, rows, columns, stride } = region
    if (!(offset >= 0 && stride >= columns && offset + (rows - 1) * stride + columns <= buffer.length))
      throw new GpuError(
        'validation',
        `The view of ${rows} x ${columns} elements at ${offset} with leading dimension ${stride} exceeds buffer "${buffer.label}" of ${buffer.length} elements.`,
      )
    const size = buffer.byteLength / buffer.length
    return {
      buffer: index,
      byteOffset: offset * size,
      rowByteLength: columns * size,
      rows,
      rowByteStride: (rows === 1 ? columns : stride) * size,
    }
  }

  #buffer(buffer: OwnedDeviceBuffer | OwnedHostBuffer): number {
    const known = this.#buffers.get(buffer)
    if (known !== undefined) return known
    if (!(buffer instanceof OwnedDeviceBuffer || buffer instanceof OwnedHostBuffer))
      throw new GpuError('validation', 'A view must be of a buffer that a group made.')
    if (buffer.group !== this.#group)
      throw new GpuError(
        'validation',
        `Buffer "${buffer.label}" belongs to group "${buffer.group.label}", not to "${this.#group.label}".`,
      )
    if (buffer.destroyed) throw new GpuError('validation', `Buffer "${buffer.label}" is destroyed.`)
    this.#buffers.set(buffer, this.#buffers.size)
    return this.#buffers.size - 1
  }

  /** Derives the order. */
  finish(label: string, schedule: Schedule): Plan {
    if (schedule === 'serial') chain(this.#commands)
    else orderByHazards(this.#commands, this.#accesses)
    return {
      label,
      schedule,
      buffers: this.planBuffers(),
      kernels: [...this.#kernels.keys()].map((kernel) => kernel.compiled.handle),
      commands: this.#commands as PlanCommand[],
      uniformBlock: this.uniforms.finish(),
    }
  }

  /** Scratch that is not allocated yet is stood for by a placeholder of its size. */
  planBuffers(): PlanBuffer[] {
    return [...this.#buffers.keys()].map((buffer): PlanBuffer => {
      const { label, byteLength } = buffer
      if (buffer instanceof OwnedHostBuffer)
        return { kind: 'host', label, byteLength, allocation: buffer.allocation! }
      const device = buffer.device.ordinal
      return {
        kind: 'device',
        label,
        device,
        byteLength,
        allocation: buffer.allocation ?? { device, byteLength },
      }
    })
  }
}

/** Each command waits for the one before it, the first for the last of the previous repetition. */
function chain(commands: readonly Mutable<PlanCommand>[]): void {
  for (const command of commands) {
    if (command.index > 0) command.after = [command.index - 1]
    else command.afterPrevious = [commands.length - 1]
  }
}

/** Hazards of two repetitions, reduced; what the second takes from the first is `afterPrevious`. */
function orderByHazards(
  commands: readonly Mutable<PlanCommand>[],
  accesses: readonly CommandAccesses[],
): void {
  const count = commands.length
  const reduced = transitiveReduction(deriveHazards(accesses, 2))
  for (const command of commands) {
    command.after = reduced[command.index]!
    const previous = reduced[count + command.index]!
    // Ascending: those of the previous repetition come first.
    const own = previous.findIndex((other) => other >= count)
    command.afterPrevious = own < 0 ? previous : previous.slice(0, own)
  }
}
