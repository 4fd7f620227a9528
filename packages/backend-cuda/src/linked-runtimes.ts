import { GpuError, isGpuError } from '@tandem-gpu/core'
import type {
  LinkedProcesses,
  LinkedRuntime,
  PlanCommand,
  PlanPart,
  RepeatedOptions,
  RepeatedRun,
  SharingRuntime,
} from '@tandem-gpu/core/backend'
import type { RunForm } from './cuda-executable.ts'
import type { RecordedPlan } from './cuda-plan.ts'
import { CudaRuntime, type CudaRuntimeOptions, type RuntimeHandles } from './cuda-runtime.ts'
import { ConnectedExecutable, type LinkedExecutable, SharedExecutable } from './linked-executables.ts'
import type { Lowering } from './lowering.ts'
import type { NativeRunRequest } from './native-addon.ts'
import type { SharedMemory } from './shared-memory.ts'

/** Devices of one process that access those of other processes directly. */
abstract class CudaLinkedRuntime<E extends LinkedExecutable, C extends PlanPart>
  extends CudaRuntime<E, C>
  implements LinkedRuntime<RuntimeHandles<E>, C>
{
  async connect(executable: E, options: RunForm, parts?: readonly number[]): Promise<boolean> {
    this.beginRun()
    await this.guard(`Connecting program '${executable.label}'`, () => executable.connect(options, parts))
    return executable.gpus.length > 0
  }

  repeat(
    executable: E,
    { times, uniformBlock = executable.plan.uniformBlock }: RepeatedOptions,
  ): RepeatedRun | undefined {
    if (this.lostError !== undefined) return undefined
    const launcher = executable.runLauncher(times, uniformBlock)
    if (launcher === undefined) return undefined
    this.beginRun()
    const failed = (error: Error) =>
      this.failed(executable, this.translated(error, `Running program '${executable.label}'`))
    return { launcher, failed }
  }

  protected beginRun(): void {}

  protected override ranWell(executable: E, times: number, request: NativeRunRequest): void {
    executable.ranWell(times, request)
  }

  /**
   * A trap is found after all work is done, and kernels that were told to end leave all processes able to
   * continue. After any other failure, the processes may have launched a different number of times.
   */
  protected override failed(executable: E, error: unknown): unknown {
    super.failed(executable, error)
    if (isGpuError(error, 'validation') || isGpuError(error, 'timeout') || isGpuError(error, 'aborted'))
      return error
    return new GpuError('device-lost', error instanceof Error ? error.message : String(error), {
      cause: error,
    })
  }
}

/**
 * The runtime in which every process maps the memory of all: GPU 0 is the process's own, and higher numbers
 * are those of the others.
 */
export class SharedRuntime
  extends CudaLinkedRuntime<SharedExecutable, PlanCommand>
  implements SharingRuntime<RuntimeHandles<SharedExecutable>>
{
  readonly freedMemory: SharedMemory

  constructor(options: CudaRuntimeOptions, shared: SharedMemory) {
    super(options, shared)
    this.freedMemory = shared
  }

  interrupted(executable: SharedExecutable): void {
    executable.interrupted()
  }

  protected override create(plan: RecordedPlan): Promise<SharedExecutable> {
    return SharedExecutable.create(this.gpus, this.freedMemory, plan)
  }

  protected override beginRun(): void {
    this.freedMemory.beginRun()
  }
}

/** The runtime in which the one GPU of each process exchanges messages with those of the others. */
export class ConnectedRuntime extends CudaLinkedRuntime<ConnectedExecutable, PlanPart> {
  readonly #processes: LinkedProcesses

  constructor(options: CudaRuntimeOptions, processes: LinkedProcesses) {
    super(options)
    this.#processes = processes
  }

  protected override create(plan: RecordedPlan<PlanPart>, lowering: Lowering): Promise<ConnectedExecutable> {
    return ConnectedExecutable.create(this.gpus, this.#processes, lowering, plan)
  }
}
