import type { Handles } from '../backend/handles.ts'
import type { OwnedDeviceBuffer } from '../buffers/device-buffer.ts'
import { OwnedHostBuffer } from '../buffers/host-buffer.ts'
import type { Region } from '../buffers/view.ts'
import { invalid } from '../errors.ts'
import { belongsElsewhere, type GroupState } from '../group/group-state.ts'
import type { OwnedKernel } from '../kernels/kernel.ts'
import { UniformBlockBuilder } from '../kernels/uniform-block.ts'
import { byteRegion } from './byte-region.ts'
import type { CommandAccesses } from './hazards.ts'
import type { ByteRegion, Plan, PlanBuffer, PlanPart, Schedule } from './plan.ts'
import { type Fence, orderByHazards, orderByStages, type UnorderedPart } from './plan-order.ts'

type WithoutOrder<C> = C extends PlanPart ? Omit<C, 'index' | 'after' | 'afterPrevious'> : never

/** A command before its order is derived. */
export type CommandDraft = WithoutOrder<PlanPart>

/** A buffer as core implements it. */
export type AnyBuffer = OwnedDeviceBuffer | OwnedHostBuffer

const noEdges: readonly number[] = []

/** Numbers the buffers and kernels of a recording and collects its commands. */
export class PlanBuilder {
  readonly uniforms: UniformBlockBuilder
  readonly #group: GroupState
  /** The numbers of each buffer: one, or, for host memory in a whole plan, one per rank. */
  readonly #numbers = new Map<AnyBuffer, number[]>()
  /** By number. */
  readonly #numbered: { readonly buffer: AnyBuffer; readonly rank: number | undefined }[] = []
  readonly #kernels = new Map<OwnedKernel, number>()
  readonly #kept: boolean
  readonly #commands: UnorderedPart[] = []
  readonly #accesses: CommandAccesses[] = []
  /** The stage of each command, for the serial schedule. */
  readonly #stages: number[] = []
  readonly #fences: Fence[] = []

  /** If `kept` is false, commands are checked but not collected: for commands of other ranks. */
  constructor(group: GroupState, kept = true) {
    this.#group = group
    this.#kept = kept
    this.uniforms = new UniformBlockBuilder(kept)
  }

  /** The buffers and kernels that the program must keep alive. */
  get resources(): Iterable<AnyBuffer | OwnedKernel> {
    return [...this.#numbers.keys(), ...this.#kernels.keys()]
  }

  /**
   * `accesses` are flattened regions. If `beside` is true, a serial schedule puts the command in the same
   * stage as the one before it.
   */
  add(command: CommandDraft, accesses: CommandAccesses, beside = false): void {
    if (!this.#kept) return
    const ordered = command as UnorderedPart
    ordered.index = this.#commands.length
    ordered.after = noEdges
    ordered.afterPrevious = noEdges
    this.#commands.push(ordered)
    this.#accesses.push(accesses)
    this.#stages.push((this.#stages.at(-1) ?? 0) + (beside ? 0 : 1))
  }

  fence(device: number): void {
    this.#fences.push({ device, position: this.#commands.length })
  }

  kernel(kernel: OwnedKernel): number {
    const known = this.#kernels.get(kernel)
    if (known !== undefined) return known
    this.#kernels.set(kernel, this.#kernels.size)
    return this.#kernels.size - 1
  }

  /**
   * The bytes of a non-empty region of `buffer`, with the same rows; in a whole plan, in the host memory of
   * `rank`.
   */
  region(buffer: AnyBuffer, region: Region, rank?: number): ByteRegion {
    const index = this.#buffer(buffer, rank)
    const { offset, rows, columns, stride } = region
    if (!(offset >= 0 && stride >= columns && offset + (rows - 1) * stride + columns <= buffer.length))
      throw invalid(
        `The view of ${rows} x ${columns} elements at ${offset} with leading dimension ${stride} exceeds buffer "${buffer.label}" of ${buffer.length} elements.`,
      )
    return byteRegion(index, region, buffer.elementByteLength)
  }

  #buffer(buffer: AnyBuffer, rank: number | undefined): number {
    const numbers = this.#numbers.get(buffer) ?? []
    const known = numbers[rank ?? 0]
    if (known !== undefined) return known
    if (buffer.group !== this.#group)
      throw invalid(`Buffer "${buffer.label}" ${belongsElsewhere(buffer.group, this.#group)}`)
    if (buffer.destroyed) throw invalid(`Buffer "${buffer.label}" is destroyed.`)
    const number = this.#numbered.length
    numbers[rank ?? 0] = number
    this.#numbers.set(buffer, numbers)
    this.#numbered.push({ buffer, rank })
    return number
  }

  /** Derives the order and returns the plan. */
  finish(label: string, schedule: Schedule): Plan<Handles, PlanPart> {
    if (schedule === 'serial') orderByStages(this.#commands, this.#stages)
    else orderByHazards(this.#commands, this.#accesses, this.#fences, this.#deviceFinder())
    return {
      label,
      schedule,
      buffers: this.planBuffers(),
      kernels: [...this.#kernels.keys()].map((kernel) => kernel.compiled.handle),
      commands: this.#commands as PlanPart[],
      uniformBlock: this.uniforms.finish(),
    }
  }

  /** Scratch that is not allocated yet gets an allocation with its device and size but without memory. */
  planBuffers(): PlanBuffer[] {
    return this.#numbered.map(({ buffer, rank }): PlanBuffer => {
      const { label, byteLength } = buffer
      if (buffer instanceof OwnedHostBuffer) {
        const own = rank === undefined || rank === this.#group.rank ? buffer.allocation : undefined
        const allocation = own ?? { arrayBuffer: new ArrayBuffer(0) }
        return { kind: 'host', label, byteLength, ...(rank !== undefined && { rank }), allocation }
      }
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

  /** Returns a function that finds the devices that a command runs on or whose memory it accesses. */
  #deviceFinder(): (command: number) => Set<number> {
    const devices = this.#numbered.map(({ buffer }) => buffer.device?.ordinal)
    return (command) => {
      const { reads, writes } = this.#accesses[command]!
      const found = new Set([this.#commands[command]!.device])
      for (const { buffer } of [...reads, ...writes])
        if (devices[buffer] !== undefined) found.add(devices[buffer])
      return found
    }
  }
}
