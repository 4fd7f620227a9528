import type { Executable, ExecutionOptions, ExecutionResult } from './backend.ts'
import { GpuError } from './errors.ts'
import type { Leak } from './group.ts'
import type { GroupState } from './group-state.ts'
import { runSegments } from './host-execution.ts'
import { type SegmentedPlan, segmentPlan } from './host-segments.ts'
import type { RecordedParameter } from './parameter.ts'
import type { Plan, Schedule } from './plan.ts'
import type { PlanBuilder } from './plan-builder.ts'
import type { ScratchRequest } from './program-recorder.ts'
import { Resource } from './resource.ts'

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

/** What the runtime holds for a prepared program. */
interface Prepared {
  readonly executables: readonly Executable[]
  /** Set when the plan holds exchanges. */
  readonly segmented: SegmentedPlan | undefined
}

export class RecordedProgram extends Resource implements Program {
  readonly group: GroupState
  readonly label: string
  readonly schedule: Schedule
  readonly parameters: ReadonlyMap<string, RecordedParameter>
  readonly #builder: PlanBuilder
  readonly #scratch: readonly ScratchRequest[]
  #plan: Plan
  #preparing: Promise<Prepared> | undefined
  #prepared: Prepared | undefined

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

  prepared(): Promise<Prepared> {
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

  /** Of a prepared program: one call of the backend, unless the plan holds exchanges. */
  execute({ executables, segmented }: Prepared, options: ExecutionOptions): Promise<ExecutionResult> {
    const { runtime } = this.group
    if (segmented !== undefined) return runSegments(runtime, segmented, executables, options)
    return runtime.run(executables[0]!, options)
  }

  async #prepareOnce(): Promise<Prepared> {
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
    const segmented = this.#plan.commands.some(({ kind }) => kind === 'exchange')
      ? segmentPlan(this.#plan)
      : undefined
    const plans = segmented === undefined ? [this.#plan] : segmented.segments.map(({ plan }) => plan)
    const executables: Executable[] = []
    try {
      for (const plan of plans) executables.push(await group.guard(() => runtime.instantiate(plan)))
    } catch (error) {
      if (!group.runtimeEnded) for (const executable of executables) runtime.release(executable)
      throw error
    }
    this.#prepared = { executables, segmented }
    return this.#prepared
  }

  override leak(): Leak {
    return { kind: 'program', label: this.label }
  }

  protected override free(): void {
    if (!this.group.runtimeEnded)
      for (const executable of this.#prepared?.executables ?? []) this.group.runtime.release(executable)
    for (const resource of this.#builder.resources) resource.release()
    for (const { buffer } of this.#scratch) buffer.destroy()
  }
}
