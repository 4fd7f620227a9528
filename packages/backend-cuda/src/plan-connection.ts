import { createHash } from 'node:crypto'
import { GpuError } from '@tandem-gpu/core'
import type { Arena } from './arena.ts'
import type { CudaPlan } from './cuda-plan.ts'
import type { PhysicalGpus } from './physical-gpus.ts'
import { agree, type MemoryName, type SharedMemory } from './shared-memory.ts'

/** The information that a process sends to the others about its part of a whole plan. */
interface Offer {
  /** A digest of everything that must be the same in the recordings of all processes. */
  readonly digest: string
  /** Memory names by the number of the plan's buffer. */
  readonly buffers: readonly (readonly [buffer: number, name: MemoryName])[]
  /** With a device of the GPU; absent if the process has no commands. */
  readonly arena?: readonly [device: number, name: MemoryName]
}

/** Addresses of other processes' memory here, for one whole plan. */
export class PlanConnection {
  readonly #shared: SharedMemory
  readonly #names: MemoryName[] = []
  readonly #addresses = new Map<number, number>()

  /** Called by all processes, in the same order; rejects in all of them or in none. */
  static async open(
    plan: CudaPlan,
    physical: PhysicalGpus,
    shared: SharedMemory,
    arena: Arena,
  ): Promise<PlanConnection> {
    const offers = await agree(shared.processes, `Sharing the memory of program '${plan.label}'`, () =>
      offerOf(plan, physical, shared, arena),
    )
    const connection = new PlanConnection(shared)
    try {
      const own = offers[shared.processes.rank]!
      const other = offers.findIndex(({ digest }) => digest !== own.digest)
      if (other >= 0)
        throw new GpuError('validation', `The ranks recorded different commands in program '${plan.label}'.`)
      await agree(shared.processes, `Mapping the memory of program '${plan.label}'`, () =>
        connection.#map(plan, physical, arena, offers),
      )
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  private constructor(shared: SharedMemory) {
    this.#shared = shared
  }

  addressOf(buffer: number): number {
    return this.#addresses.get(buffer)!
  }

  close(): void {
    for (const name of this.#names) this.#shared.close(name)
    this.#names.length = 0
  }

  /** Maps the memory that commands of this process's GPUs access, and the flags that they set. */
  async #map(plan: CudaPlan, physical: PhysicalGpus, arena: Arena, offers: readonly Offer[]): Promise<void> {
    const open = async (name: MemoryName) => {
      const address = await this.#shared.open(name)
      this.#names.push(name)
      return address
    }
    const touched = new Set<number>()
    for (const command of plan.commands) {
      if (!physical.isHere(physical.gpuOf(command.device))) continue
      if (command.kind === 'dispatch') {
        for (const binding of command.bindings) if (binding.kind === 'storage') touched.add(binding.buffer)
      } else if (command.kind === 'fill') touched.add(command.target.buffer)
      // Plans over shared memory have no messages.
      else if (command.kind !== 'exchange')
        for (const { buffer } of [command.source, command.target]) touched.add(buffer)
    }
    for (const [rank, { buffers, arena: flags }] of offers.entries()) {
      if (rank === this.#shared.processes.rank) continue
      for (const [buffer, name] of buffers)
        if (touched.has(buffer)) this.#addresses.set(buffer, await open(name))
      if (touched.size > 0 && flags !== undefined)
        arena.addPeer(physical.gpuOf(flags[0]), await open(flags[1]))
    }
  }
}

async function offerOf(
  plan: CudaPlan,
  physical: PhysicalGpus,
  shared: SharedMemory,
  arena: Arena,
): Promise<Offer> {
  const buffers: [number, MemoryName][] = []
  for (const [index, buffer] of plan.buffers.entries())
    if (buffer.kind === 'device' && physical.isHere(physical.gpuOf(buffer.device)))
      buffers.push([index, await shared.nameOf(buffer.allocation.address)])
  const own = plan.commands.find(({ device }) => physical.isHere(physical.gpuOf(device)))
  if (own === undefined) return { digest: digestOf(plan), buffers }
  const { device } = own
  const flags = await shared.nameOf(arena.uniformAddress(physical.gpuOf(device)))
  return { digest: digestOf(plan), buffers, arena: [device, flags] }
}

/** Handles are included, labels are not, since they may differ. */
function digestOf({ schedule, buffers, commands, uniformBlock }: CudaPlan): string {
  const hash = createHash('sha256').update(schedule).update(uniformBlock)
  for (const buffer of buffers) {
    const place = buffer.kind === 'device' ? buffer.device : `host ${buffer.rank}`
    hash.update(`${place} ${buffer.byteLength};`)
  }
  for (const { label: _, ...command } of commands) hash.update(JSON.stringify(command))
  return hash.digest('hex')
}
