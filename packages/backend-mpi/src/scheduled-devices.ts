import { type Adapter, type Backend, GpuError, type Plan, type Transport } from '@tandem-gpu/core'
import {
  allOrNone,
  type Executable,
  type Handles,
  type Link,
  type PlanPart,
  type RankAdapter,
  type Runtime,
} from '@tandem-gpu/core/backend'
import { innerAdapter } from './adapters.ts'
import { HostRuntime } from './host-runtime.ts'
import { lowerPlan } from './lower-plan.ts'
import { ProgramMemory } from './message-memory.ts'
import { hostMemoryOfMessages, type MpiExecutable } from './mpi-executable.ts'
import type { MpiRuns, RunningRank } from './mpi-runs.ts'
import { toGpuError } from './native-addon.ts'
import type { GroupOpening } from './opening.ts'
import type { RankDevices } from './rank-devices.ts'
import { AddressedRuns, ScheduledRuns } from './scheduled-runs.ts'
import type { MpiSession } from './session.ts'

type AddressingLink = Extract<Link, { plans: 'segments' }>

/**
 * Devices that exchange data with those of other ranks through messages of MPI: through host memory or, with
 * a link, directly from and to device memory.
 */
export class ScheduledDevices implements RankDevices {
  readonly inner: Runtime
  readonly transport: Transport
  readonly sharesMemory = false
  readonly survivesFailures = false
  /** Each device's work begins once the messages that it needs have arrived. */
  readonly takesTurns = false
  readonly #session: MpiSession
  /** Whether MPI sends and receives device memory directly. */
  readonly #isAddressed: boolean

  static async open(
    session: MpiSession,
    backend: Backend<Runtime>,
    devices: readonly RankAdapter[],
    transport: Transport,
    label: string,
  ): Promise<ScheduledDevices> {
    const own = ownDevices(session, devices)
    const inner = own.length > 0 ? await backend.open(own, { label }) : new HostRuntime()
    return new ScheduledDevices(session, inner, false, transport)
  }

  /**
   * Opens this rank's devices so that MPI sends messages from their memory and receives into it. If that is
   * not possible on one rank, throws `unsupported` with the same reason on every rank.
   */
  static async openAddressed(
    session: MpiSession,
    opening: GroupOpening,
    link: AddressingLink,
    devices: readonly RankAdapter[],
    transport: Transport,
    label: string,
  ): Promise<ScheduledDevices> {
    const open = async () => {
      requireGpuAware(session)
      const { rank } = session
      const own = ownDevices(session, devices).map((device) => ({ ...device, rank }))
      if (own.length === 0) return new HostRuntime()
      const inner = await link.open(own, { rank }, { label })
      if (inner.native !== undefined) return inner
      await inner.dispose()
      throw new GpuError('unsupported', `The link ${link.name} does not provide addresses of device memory.`)
    }
    const ready = open()
    try {
      await allOrNone(async () => void (await ready), {
        say: (message) => opening.gather(message),
        sentence: (rank, message) => `${session.nameOf(rank)}: ${message}`,
      })
    } catch (error) {
      const inner = await ready.catch(() => undefined)
      await inner?.dispose()
      throw error
    }
    return new ScheduledDevices(session, await ready, true, transport)
  }

  private constructor(session: MpiSession, inner: Runtime, isAddressed: boolean, transport: Transport) {
    this.#session = session
    this.inner = inner
    this.#isAddressed = isAddressed
    this.transport = transport
  }

  async instantiate(plan: Plan<Handles, PlanPart>, localOrdinal: readonly number[]): Promise<MpiExecutable> {
    const { inner } = this
    const memory = new ProgramMemory(inner, this.#isAddressed ? inner.native : undefined)
    const made: Executable[] = []
    try {
      const lowered = await lowerPlan(plan, (ordinal) => localOrdinal[ordinal] ?? 0, memory)
      const { segments, messages, after, afterPrevious } = lowered
      for (const segment of segments) made.push(await inner.instantiate(segment.plan))
      const edges = (node: number) => ({ after: after[node]!, afterPrevious: afterPrevious[node]! })
      return {
        label: plan.label,
        stoppable: made.every((part) => part.stoppable === true),
        made,
        segments: segments.map(({ originalIndex }, i) => ({ originalIndex, executable: made[i]! })),
        nodes: this.#session.addon.prepare([
          ...segments.map((_, node) => ({ kind: 'segment' as const, ...edges(node) })),
          ...messages.map((message, i) => ({ ...message, ...edges(segments.length + i) })),
        ]),
        alone: segments.length === 1 && messages.length === 0,
        memory,
        messageMemory: [...memory.hostAllocations, ...hostMemoryOfMessages(plan)],
      }
    } catch (error) {
      for (const part of made) inner.release(part)
      memory.free()
      throw toGpuError(error)
    }
  }

  get throughHost(): boolean {
    return !this.#isAddressed
  }

  runsOf(rank: RunningRank): MpiRuns {
    const { inner } = this
    return this.#isAddressed
      ? new AddressedRuns(rank, inner, inner.native)
      : new ScheduledRuns(rank, inner, inner.native)
  }

  /** Does nothing: a run that ended at its limit leaves nothing in flight. */
  interrupted(): void {}
  break(): void {}
  close(): void {}
}

function ownDevices(session: MpiSession, devices: readonly RankAdapter[]): Adapter[] {
  return devices.filter(({ rank }) => rank === session.rank).map(innerAdapter)
}

function requireGpuAware({ gpuAware, library }: MpiSession): void {
  if (gpuAware?.supported) return
  const name = `${library.family} (${library.path})`
  throw new GpuError(
    'unsupported',
    gpuAware === undefined
      ? `${name} does not say whether it accepts addresses of GPU memory.`
      : `${name} does not accept addresses of GPU memory, according to ${gpuAware.asked}.`,
  )
}
