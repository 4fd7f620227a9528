import type { Executable, Handles } from '../backend/handles.ts'
import { invalid } from '../errors.ts'
import { type GroupState, memoryAgreements } from '../group/group-state.ts'
import { type Leak, Resource } from '../group/resource.ts'
import type { RecordedParameter } from '../kernels/parameter.ts'
import type { Plan, PlanPart, Schedule } from '../plan/plan.ts'
import type { MessageList } from '../ranks/message-list.ts'
import type { ProgramRecorder } from '../recording/program-recorder.ts'

/** Recorded commands with their order; runs any number of times. It keeps its buffers and kernels alive. */
export interface Program {
  readonly label: string
  readonly schedule: Schedule
  /**
   * The program as data; print it with `printPlan`. In a group over several processes, only the part of this
   * process.
   */
  readonly plan: Plan<Handles, PlanPart>
  /** Allocates scratch and instantiates the plan. `run` does this if the caller has not. */
  prepare(): Promise<void>
  destroy(): void
  [Symbol.dispose](): void
}

export class RecordedProgram extends Resource implements Program {
  readonly group: GroupState
  readonly label: string
  readonly schedule: Schedule
  readonly parameters: ReadonlyMap<string, RecordedParameter>
  readonly #recorder: ProgramRecorder
  readonly #retained: readonly Resource[]
  #plan: Plan<Handles, PlanPart>
  #messages: MessageList | undefined
  #preparing: Promise<Executable> | undefined
  #executable: Executable | undefined

  constructor(group: GroupState, label: string, schedule: Schedule, recorder: ProgramRecorder) {
    super(group.resources)
    this.group = group
    this.label = label
    this.schedule = schedule
    this.parameters = recorder.parameters
    this.#recorder = recorder
    this.#messages = recorder.messages
    this.#plan = recorder.plan.finish(label, schedule)
    this.#retained = [...recorder.plan.resources]
    for (const resource of this.#retained) resource.retain()
  }

  get plan(): Plan<Handles, PlanPart> {
    return this.#plan
  }

  async prepare(): Promise<void> {
    const call = this.group.calls?.number(`prepares "${this.label}"`, memoryAgreements)
    await this.group.settleWithMemory(call, () => this.prepared(), undefined, this.takeMessages())
  }

  /** Whether other ranks may wait for what this rank does in a run. */
  get concernsOtherRanks(): boolean {
    return this.group.sharesMemory || this.#recorder.messages?.isEmpty === false
  }

  /** The messages, once: the first call that prepares the program compares them between the ranks. */
  takeMessages(): MessageList | undefined {
    const messages = this.#messages
    this.#messages = undefined
    return messages
  }

  /** The executable of this rank, made at the first call. */
  prepared(): Promise<Executable> {
    if (this.destroyed) return Promise.reject(invalid(`Program "${this.label}" is destroyed.`))
    if (this.#preparing === undefined) {
      this.retain()
      const preparing = this.#prepareOnce().finally(() => this.release())
      this.#preparing = preparing
      // An attempt that fails, for instance because memory runs out, may be repeated.
      preparing.catch(() => {
        this.#preparing = undefined
      })
    }
    return this.#preparing
  }

  async #prepareOnce(): Promise<Executable> {
    const { group } = this
    const { runtime } = group
    const allocations = this.#recorder.scratchRequests.filter(
      ({ buffer }) =>
        buffer.length > 0 &&
        buffer.allocation === undefined &&
        // A resource that its owner has destroyed and that no command uses would otherwise never be freed.
        (!buffer.destroyed || this.#retained.includes(buffer)),
    )
    // One after another, so that whatever fails leaves what came before in its buffer, for the next attempt
    // or `free`.
    for (const { buffer, zero } of allocations)
      buffer.allocation = await group.guard(() =>
        runtime.allocate(buffer.device.ordinal, buffer.byteLength, { label: buffer.label, zero }),
      )
    if (allocations.length > 0) this.#plan = { ...this.#plan, buffers: this.#recorder.plan.planBuffers() }
    this.#executable = await group.instantiate(this.#plan)
    return this.#executable
  }

  override leak(): Leak {
    return { kind: 'program', label: this.label }
  }

  protected override free(): void {
    if (this.#executable !== undefined && !this.group.runtimeEnded)
      this.group.runtime.release(this.#executable)
    for (const resource of this.#retained) resource.release()
    for (const { buffer } of this.#recorder.scratchRequests) buffer.destroy()
  }
}
