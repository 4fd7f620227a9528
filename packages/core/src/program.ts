import { GpuError } from './errors.ts'
import type { GroupState } from './group-state.ts'
import type { Executable } from './handles.ts'
import type { RecordedParameter } from './parameter.ts'
import type { Plan, Schedule } from './plan.ts'
import type { PlanBuilder } from './plan-builder.ts'
import type { ScratchRequest } from './program-recorder.ts'
import { type Leak, Resource } from './resource.ts'

/** Recorded commands with their order; runs any number of times. It keeps its buffers and kernels alive. */
export interface Program {
  readonly label: string
  readonly schedule: Schedule
  /** As data: print it with `printPlan`. */
  readonly plan: Plan
  /** Allocates scratch and makes the plan ready. `run` does it when the caller did not. */
  prepare(): Promise<void>
  destroy(): void
  [Symbol.dispose](): void
}

export class RecordedProgram extends Resource implements Program {
  readonly group: GroupState
  readonly label: string
  readonly schedule: Schedule
  readonly parameters: ReadonlyMap<string, RecordedParameter>
  readonly #builder: PlanBuilder
  readonly #scratch: readonly ScratchRequest[]
  #plan: Plan
  #preparing: Promise<Executable> | undefined
  #executable: Executable | undefined

  constructor(
    group: GroupState,
    label: string,
    schedule: Schedule,
    builder: PlanBuilder,
    parameters: ReadonlyMap<string, RecordedParameter>,
    scratch: readonly ScratchRequest[],
  ) {
    super(group.resources)
    this.group = group
    this.label = label
    this.schedule = schedule
    this.parameters = parameters
    this.#builder = builder
    this.#scratch = scratch
    this.#plan = builder.finish(label, schedule)
    for (const resource of builder.resources) resource.retain()
  }

  get plan(): Plan {
    return this.#plan
  }

  async prepare(): Promise<void> {
    await this.prepared()
  }

  prepared(): Promise<Executable> {
    if (this.destroyed)
      return Promise.reject(new GpuError('validation', `Program "${this.label}" is destroyed.`))
    if (this.#preparing === undefined) {
      this.retain()
      const preparing = this.#prepareOnce().finally(() => this.release())
      this.#preparing = preparing
      // What failed for want of memory may be tried again.
      preparing.catch(() => {
        this.#preparing = undefined
      })
    }
    return this.#preparing
  }

  async #prepareOnce(): Promise<Executable> {
    const { group } = this
    const { runtime } = group
    const allocations = this.#scratch.filter(
      ({ buffer }) => buffer.length > 0 && buffer.allocation === undefined,
    )
    // One after another, so that whatever fails leaves what came before in its buffer, for the next attempt or `free`.
    for (const { buffer, zero } of allocations)
      buffer.allocation = await group.guard(() =>
        runtime.allocate(buffer.device.ordinal, buffer.byteLength, { label: buffer.label, zero }),
      )
    if (allocations.length > 0) this.#plan = { ...this.#plan, buffers: this.#builder.planBuffers() }
    this.#executable = await group.guard(() => runtime.instantiate(this.#plan))
    return this.#executable
  }

  override leak(): Leak {
    return { kind: 'program', label: this.label }
  }

  protected override free(): void {
    if (this.#executable !== undefined && !this.group.runtimeEnded)
      this.group.runtime.release(this.#executable)
    for (const resource of this.#builder.resources) resource.release()
    for (const { buffer } of this.#scratch) buffer.destroy()
  }
}
