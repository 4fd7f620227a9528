import { GpuError, type Plan, type Transport } from '@tandem-gpu/core'
import type {
  Executable,
  Handles,
  Link,
  LinkedProcesses,
  LinkedRuntime,
  PlanCommand,
  PlanPart,
  RankAdapter,
  SharingRuntime,
} from '@tandem-gpu/core/backend'
import { innerAdapter } from './adapters.ts'
import { ConnectedRuns, LinkedRuns } from './linked-runs.ts'
import { ProgramMemory } from './message-memory.ts'
import { hostMemoryOfMessages, type MpiExecutable } from './mpi-executable.ts'
import type { MpiRuns, RunningRank } from './mpi-runs.ts'
import type { GroupOpening } from './opening.ts'
import type { RankDevices } from './rank-devices.ts'
import type { MpiSession } from './session.ts'

type JoiningLink = Extract<Link, { plans: 'whole' | 'parts' }>
type Joined =
  | { readonly plans: 'whole'; readonly runtime: SharingRuntime }
  | { readonly plans: 'parts'; readonly runtime: LinkedRuntime<Handles, PlanPart> }

/** The processes of the job in the form that links use. */
interface JobProcesses extends LinkedProcesses {
  /** Called when another rank cannot continue. */
  readonly break: () => void
  readonly close: () => void
}

/**
 * Devices that need no messages from the host: they map the memory of other ranks' devices, or send each
 * other messages.
 */
export class LinkedDevices implements RankDevices {
  readonly transport: Transport
  readonly throughHost = false
  readonly survivesFailures = true
  /**
   * If a group's devices waited for each other behind work of another group, each GPU could wait for work that
   * the other one has not begun: streams share hardware queues, and the driver waits for all of a GPU's work
   * when it frees memory.
   */
  readonly takesTurns = true
  readonly #session: MpiSession
  readonly #joined: Joined
  readonly #processes: JobProcesses

  /**
   * Opens this rank's devices so that they can access those of all ranks. If that is not possible, throws
   * `unsupported` with the same reason on every rank.
   */
  static async open(
    session: MpiSession,
    opening: GroupOpening,
    link: JoiningLink,
    devices: readonly RankAdapter[],
    transport: Transport,
    label: string,
  ): Promise<LinkedDevices> {
    requireDevices(session, devices)
    const processes = processesOf(session, opening.numberOf(link.plans), label)
    try {
      const own = devices.map((device) =>
        device.rank === session.rank ? { ...innerAdapter(device), rank: session.rank } : device,
      )
      const joined: Joined =
        link.plans === 'whole'
          ? { plans: 'whole', runtime: await link.open(own, processes, { label }) }
          : { plans: 'parts', runtime: await link.open(own, processes, { label }) }
      return new LinkedDevices(session, joined, processes, transport)
    } catch (error) {
      processes.close()
      throw error
    }
  }

  private constructor(session: MpiSession, joined: Joined, processes: JobProcesses, transport: Transport) {
    this.#session = session
    this.#joined = joined
    this.#processes = processes
    this.transport = transport
  }

  get inner() {
    return this.#joined.runtime
  }

  get sharesMemory() {
    return this.#joined.plans === 'whole'
  }

  get freedMemory() {
    return this.#joined.plans === 'whole' ? this.#joined.runtime.freedMemory : undefined
  }

  /**
   * Creates one segment. A rank without a part in the plan still takes part in the agreement of the ranks.
   */
  async instantiate(plan: Plan<Handles, PlanPart>, localOrdinal: readonly number[]): Promise<MpiExecutable> {
    const { addon } = this.#session
    const alone = plan.commands.length > 0
    const local = onLocalDevices(plan, localOrdinal)
    const nodes = addon.prepare(alone ? [{ kind: 'segment', after: [], afterPrevious: [] }] : [])
    const originalIndex = plan.commands.map(({ index }) => index)
    const executable = await this.#instantiate(local)
    return {
      label: plan.label,
      stoppable: executable.stoppable === true,
      made: [executable],
      segments: alone ? [{ originalIndex, executable }] : [],
      nodes,
      alone,
      memory: new ProgramMemory(this.inner, undefined),
      messageMemory: hostMemoryOfMessages(plan),
    }
  }

  #instantiate(plan: Plan<Handles, PlanPart>): Promise<Executable> {
    const { plans, runtime } = this.#joined
    if (plans === 'parts') return runtime.instantiate(plan)
    // Plans over shared memory have no messages.
    return runtime.instantiate(plan as Plan<Handles, PlanCommand>)
  }

  runsOf(rank: RunningRank): MpiRuns {
    const Runs = this.sharesMemory ? LinkedRuns : ConnectedRuns
    return new Runs(rank, this.inner, () => this.break())
  }

  interrupted({ made }: MpiExecutable): void {
    const { plans, runtime } = this.#joined
    if (plans === 'whole') for (const part of made) runtime.interrupted(part)
  }

  break(): void {
    this.#processes.break()
  }

  close(): void {
    this.#processes.close()
  }
}

/** The plan with devices identified by their ordinals on this rank. */
function onLocalDevices(
  { buffers, commands, ...plan }: Plan<Handles, PlanPart>,
  localOrdinal: readonly number[],
): Plan<Handles, PlanPart> {
  const local = <T extends { readonly device: number }>(placed: T): T => ({
    ...placed,
    device: localOrdinal[placed.device] ?? 0,
  })
  return {
    ...plan,
    buffers: buffers.map((buffer) => (buffer.kind === 'device' ? local(buffer) : buffer)),
    commands: commands.map(local),
  }
}

/** `group` is the number of the group of the link's gathers. */
function processesOf(session: MpiSession, group: number, label: string): JobProcesses {
  const { rank } = session
  let breakOff!: () => void
  const broken = new Promise<void>((resolve) => {
    breakOff = resolve
  })
  const inVain = broken.then(() => {
    throw new GpuError('device-lost', 'Another rank cannot continue.')
  })
  inVain.catch(() => {})
  session.watchGroup(group, breakOff)
  let key = 0
  return {
    rank,
    broken,
    break: breakOff,
    close: () => session.endGroup(group),
    async exchange(message) {
      const text = JSON.stringify([rank, message])
      const said = await Promise.race([
        session.gatherIn(group, key++, text, `makes a call in group "${label}"`),
        inVain,
      ])
      const messages = said.map(({ message }) => JSON.parse(message) as [number, string])
      return messages.toSorted(([a], [b]) => a - b).map(([, text]) => text)
    },
  }
}

function requireDevices(session: MpiSession, devices: readonly RankAdapter[]): void {
  const without = session.ranks.find(({ rank }) => devices.every((device) => device.rank !== rank))
  if (without !== undefined)
    throw new GpuError('unsupported', `${session.nameOf(without.rank)} has no device in the group.`)
}
